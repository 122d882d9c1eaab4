"""Pairs of one law, each side written otherwise, beside those of the tests."""

from typing import Any

import numpy as np
import same_as_zoo as of_tests
from same_as_zoo import (
    ONES,
    TWO,
    Generator,
    Maker,
    Pair,
    Side,
    cells,
    each,
    gaussian,
    label,
    laplace,
)

from .different import (
    ANSWERS,
    BITS,
    EIGHT,
    NUMBERS,
    PEOPLE,
    SCORES,
    VOTES,
    exponential,
    first_above,
    flip,
    median,
    rappor,
    response,
    sampled,
    sums,
    ties,
    top_two,
    whole_noise,
)


def drawn_ahead(rng: Generator) -> Side:
    """Noise of a thousand calls is drawn at once."""
    left: list[Any] = []

    def side(data: Any, size: int) -> Any:
        if not left:
            left.extend(rng.normal(size=(1_000, 10)))
        return [{"cells": (data["n"] + left.pop()).tolist(), "of": "n"} for _ in range(size)]

    return side


def in_32_bits(rng: Generator, data: Any) -> Any:
    """In single precision, of which only the low bits tell."""
    return float(np.float32(data["n"]) + np.float32(rng.laplace()))


def inverse(rng: Generator, data: Any) -> Any:
    """Laplace noise by the inverse of its distribution function."""
    u = rng.random() - 0.5
    return data["n"] - np.sign(u) * np.log1p(-2.0 * abs(u))


def polar(rng: Generator, data: Any) -> Any:
    """Gaussian noise by Marsaglia's polar method."""
    while True:
        x, y = 2.0 * rng.random(2) - 1.0
        if 0.0 < (radius := x * x + y * y) < 1.0:
            return data["n"] + x * np.sqrt(-2.0 * np.log(radius) / radius)


def by_gumbel(rate: float, most: int = 1) -> Maker:
    """The exponential mechanism in logarithms; of several, all at once, in place of one by one."""

    def one(rng: Generator, data: Any) -> Any:
        noisy = rate * np.array(data["scores"]) + rng.gumbel(size=4)
        order = np.argsort(-noisy)
        return [int(place) for place in order[:most]] if most > 1 else int(order[0])

    return each(one)


def gumbel_median(rng: Generator, data: Any) -> Any:
    """The median by the exponential mechanism in logarithms."""
    far = np.abs(np.arange(20) - 9.5)
    return data["numbers"][int(np.argmax(rng.gumbel(size=20) - far))]


def with_exponentials(rng: Generator, data: Any) -> Any:
    """Permute-and-flip as the largest score with exponential noise."""
    return int(np.argmax(np.array(data["scores"]) + rng.exponential(2.0, 4)))


def or_uniform(rng: Generator, data: Any) -> Any:
    """Randomised response: the value, or any of all categories alike."""
    kept = (np.e - 1.0) / (np.e + 3.0)
    return data["value"] if rng.random() < kept else int(rng.integers(4))


def by_coins(rng: Generator, data: Any) -> Any:
    """A sample by a coin for each row."""
    return int((rng.random(1_000) < 0.1).sum()) + rng.laplace(0.0, 2.0)


def from_a_table(rng: Generator, data: Any) -> Any:
    """Whole noise by its distribution function."""
    values = np.arange(-200, 201)
    chances = np.exp(-0.5 * np.abs(values))
    return int(data["n"] + rng.choice(values, p=chances / chances.sum()))


def new_generators(rng: Generator) -> Side:
    """A generator of its own for every call."""

    def side(data: Any, size: int) -> Any:
        return laplace(1.0)(np.random.default_rng(rng.integers(1 << 62)))(data, size)

    return side


def noise_first(rng: Generator, data: Any) -> Any:
    """All noise of the sparse vector technique in one array."""
    noisy = np.array(data["answers"]) + rng.laplace(0.0, 4.0, 8)
    above = np.flatnonzero(noisy >= 3.0 + rng.laplace(0.0, 2.0))
    return int(above[0]) if len(above) else None


def by_tree(rng: Generator, data: Any) -> Any:
    """Running sums by the bits of their length."""
    exact, noisy = np.cumsum(data["numbers"]), dict[int, float]({0: 0.0})
    for end in range(1, 9):
        noisy[end] = noisy[end & (end - 1)] + rng.laplace(0.0, 4.0)
    return [float(exact[end - 1] + noisy[end]) for end in range(1, 9)]


def by_bits(rng: Generator, data: Any) -> Any:
    """Reports bit by bit."""
    found = []
    for bit in data["bits"]:
        kept = bit if rng.random() < 0.5 else rng.random() < 0.5
        found.append([int(rng.random() < (0.9 if kept else 0.1)) for _ in range(3)])
    return [list(report) for report in zip(*found, strict=True)]


def of_parties(rng: Generator, data: Any) -> Any:
    """The plurality of votes, whose noise is the sum of a hundred parties' shares."""
    noise = rng.normal(0.0, 2.0, (100, 5)).sum(0)
    return int(np.argmax(np.array(data["votes"]) + noise))


def sorted_ties(rng: Generator, data: Any) -> Any:
    """Ties of votes with whole noise are broken by a random order."""
    noise = rng.geometric(1 - np.exp(-0.5), 4) - rng.geometric(1 - np.exp(-0.5), 4)
    order = rng.permutation(4)
    return int(order[np.argmax((np.array(data["votes"]) + noise)[order])])


def kept_ahead(rng: Generator) -> Side:
    """Kept answers, of which each has its noise from the start."""
    noise = {one["n"]: rng.exponential() - rng.exponential() for one in TWO}
    return lambda data, size: [data["n"] + noise[data["n"]]] * size


MORE = {
    "cells-drawn-ahead": Pair(drawn_ahead, cells(ONES)),
    "in-32-bits": Pair(each(in_32_bits), laplace(1.0)),
    "inverse": Pair(each(inverse), laplace(1.0)),
    "polar": Pair(each(polar), gaussian(1.0), values=tuple(TWO)),
    "gumbel": Pair(by_gumbel(0.5), exponential, values=SCORES),
    "gumbel-top-two": Pair(by_gumbel(0.25, most=2), top_two, values=SCORES),
    "gumbel-median": Pair(each(gumbel_median), median, values=NUMBERS),
    "flip-by-exponentials": Pair(each(with_exponentials), flip, values=SCORES),
    "response-or-uniform": Pair(each(or_uniform), response, values=PEOPLE),
    "sample-by-coins": Pair(each(by_coins), sampled(0.1)),
    "whole-from-a-table": Pair(each(from_a_table), each(whole_noise)),
    "new-generators": Pair(new_generators, laplace(1.0)),
    "noise-first": Pair(each(noise_first), first_above, values=ANSWERS),
    "sums-by-bits": Pair(each(by_tree), sums(1.0), values=EIGHT),
    "rappor-by-bits": Pair(each(by_bits), each(rappor), values=BITS),
    "of-parties": Pair(each(of_parties), label(20.0)),
    "ties-by-order": Pair(each(sorted_ties), ties(at_random=True), values=VOTES),
    "kept-ahead": Pair(kept_ahead, of_tests.keeping(1.0), lives=12, values=tuple(TWO)),
}
EQUAL = of_tests.EQUAL | MORE
"""By name."""
