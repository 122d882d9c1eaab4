"""Pairs of deployments, equal and different: what `same-as` is tried on, and how each is run.

A side is made of a generator, and answers `(data, size)`; noise follows from seeds.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any
from unittest.mock import patch

import numpy as np

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.same_as import session
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

Generator = np.random.Generator
Side = Callable[[Any, int], Any]
Maker = Callable[[Generator], Side]

VALUES = [{"n": 3, "votes": [80, 60, 40, 20, 10]}]
TWO = [*VALUES, {"n": 40, "votes": [60, 58, 40, 20, 10]}]


def each(one: Callable[[Generator, Any], Any]) -> Maker:
    """A side without memory, of what it releases once."""
    return lambda rng: lambda data, size: [one(rng, data) for _ in range(size)]


def laplace(scale: float, offset: float = 0.0) -> Maker:
    """A count with Laplace noise."""
    return each(lambda rng, data: data["n"] + offset + rng.laplace(0.0, scale))


def gaussian(scale: float, offset: float = 0.0) -> Maker:
    """A count with Gaussian noise."""
    return each(lambda rng, data: data["n"] + offset + rng.normal(0.0, scale))


def cells(scales: list[float]) -> Maker:
    """Ten cells, in a table with a name."""
    return each(lambda rng, data: {"cells": list(data["n"] + rng.normal(0.0, scales)), "of": "n"})


def label(scale: float) -> Maker:
    """The plurality of noisy votes."""
    return each(
        lambda rng, data: int(np.argmax(np.array(data["votes"]) + rng.normal(0.0, scale, 5)))
    )


def one_noise(rng: Generator) -> Side:
    """Ten cells that share their noise."""
    return lambda data, size: [
        {"cells": [data["n"] + rng.normal()] * 10, "of": "n"} for _ in range(size)
    ]


def reusing(share: float) -> Maker:
    """Gaussian noise, that of the call before in a share of the calls."""

    def made(rng: Generator) -> Side:
        noise = [rng.normal()]

        def side(data: Any, size: int) -> Any:
            noise[0] = noise[0] if rng.random() < share else rng.normal()
            return [data["n"] + noise[0]] * size

        return side

    return made


def keeping(scale: float) -> Maker:
    """Answers are kept."""

    def made(rng: Generator) -> Side:
        kept: dict[str, float] = {}

        def side(data: Any, size: int) -> Any:
            return [kept.setdefault(str(data), data["n"] + rng.laplace(0.0, scale))] * size

        return side

    return made


def above(once: bool) -> Maker:
    """Whether a noisy count is above a threshold, whose noise is drawn once or each call."""

    def made(rng: Generator) -> Side:
        threshold = [rng.laplace(0.0, 4.0)]

        def side(data: Any, size: int) -> Any:
            if not once:
                threshold[0] = rng.laplace(0.0, 4.0)
            return [bool(rng.laplace(0.0, 2.0) > threshold[0]) for _ in range(size)]

        return side

    return made


def budgeted(calls: int, inner: Maker) -> Maker:
    """A budget that ends after so many calls."""

    def made(rng: Generator) -> Side:
        left, side = count(), inner(rng)

        def asked(data: Any, size: int) -> Any:
            if next(left) >= calls:
                raise BudgetExhausted
            return side(data, size)

        return asked

    return made


def refusing(share: float) -> Maker:
    """A share of the calls is refused."""

    def made(rng: Generator) -> Side:
        inner = laplace(1.0)(rng)

        def side(data: Any, size: int) -> Any:
            if rng.random() < share:
                raise ValueError("not now")
            return inner(data, size)

        return side

    return made


def plurality(scale: float) -> Maker:
    """The plurality of noisy votes, of a histogram."""
    return each(lambda rng, votes: int(np.argmax(votes + rng.normal(0.0, scale, len(votes)))))


def counts(scale: float) -> Maker:
    """Counts with Laplace noise that is rounded."""
    return each(lambda rng, values: list(values + np.rint(rng.laplace(0.0, scale, len(values)))))


def box_muller(rng: Generator) -> Side:
    """Gaussian noise, made otherwise."""
    return lambda data, size: [
        data["n"] + np.sqrt(-2 * np.log(1 - rng.random())) * np.cos(2 * np.pi * rng.random())
        for _ in range(size)
    ]


def exponentials(rng: Generator) -> Side:
    """Laplace noise as the difference of two exponentials."""
    return lambda data, size: [
        data["n"] + rng.exponential() - rng.exponential() for _ in range(size)
    ]


def gumbel(temperature: float) -> Maker:
    """The exponential mechanism by Gumbel noise."""
    return each(
        lambda rng, data: int(np.argmax(np.array(data["votes"]) / temperature + rng.gumbel(size=5)))
    )


def softmax(temperature: float) -> Maker:
    """The same by its probabilities."""

    def one(rng: Generator, data: Any) -> int:
        odds = np.exp((np.array(data["votes"]) - max(data["votes"])) / temperature)
        return int(rng.choice(5, p=odds / odds.sum()))

    return each(one)


@dataclass(frozen=True)
class Pair:
    """A target and its reference; limit: units that the best test takes, None of equal ones."""

    target: Maker
    reference: Maker
    limit: float | None = None
    lives: int | None = None
    values: tuple[Any, ...] = tuple(VALUES)
    shared: bool = False
    inputs_of: str = ""
    """Keys of `[mechanism]`: those whose inputs are asked, in place of the values."""
    search: int = 0
    times: float = 3.0
    """The limit so often is enough; of some fifty inputs labels are learnt more slowly."""


ONES = [1.0] * 10
DIFFERENT = {
    "laplace-half": Pair(laplace(0.5), laplace(1.0), 135),
    "gaussian-half": Pair(gaussian(0.5), gaussian(1.0), 81),
    "gaussian-.9": Pair(gaussian(0.9), gaussian(1.0), 2521),
    "laplace-for-gaussian": Pair(laplace(2**-0.5), gaussian(1.0), 481),
    "offset-of-a-fifth": Pair(gaussian(1.0, 0.2), gaussian(1.0), 1395),
    "one-cell-halved": Pair(cells([0.5, *ONES[1:]]), cells(ONES), 81),
    "all-cells-halved": Pair(cells([0.5] * 10), cells(ONES), 21),
    "one-noise": Pair(one_noise, cells(ONES), 20),
    "one-in-ten-before": Pair(reusing(0.1), gaussian(1.0), 199),
    "labels-half": Pair(label(10.0), label(20.0), 180),
    "close-labels-half": Pair(label(10.0), label(20.0), 283, values=(TWO[1],)),
    "labels-.9": Pair(label(18.0), label(20.0), 5903),
    "laplace-half-of-two": Pair(laplace(0.5), laplace(1.0), 135, values=tuple(TWO)),
    "refusing": Pair(refusing(0.2), laplace(1.0), 100),
    "budget-ends": Pair(budgeted(100, laplace(1.0)), laplace(1.0), 120),
    "kept-for-drawn": Pair(keeping(1.0), laplace(1.0), 21),
    "kept-half": Pair(keeping(0.5), keeping(1.0), 135, lives=6),
    "threshold-anew": Pair(above(once=False), above(once=True), 32, lives=12),
    "temperature": Pair(gumbel(10.0), gumbel(20.0), 161),
}
OF_GNMAX = """
inputs_of = "gnmax"
teachers = 20
classes = 3
noise = "gaussian:4"
"""
OF_COUNTS = """
inputs_of = "noisy-histogram"
noise = "discrete-laplace:1"
adjacency = "add-remove"
cells = 3
"""
DIFFERENT["half-of-gnmax"] = Pair(
    plurality(2.0), plurality(4.0), 398, inputs_of=OF_GNMAX, times=6.0
)
EQUAL = {
    "laplace": Pair(exponentials, laplace(1.0)),
    "gaussian": Pair(box_muller, gaussian(1.0)),
    "labels": Pair(label(20.0), label(20.0)),
    "exponential-mechanism": Pair(gumbel(20.0), softmax(20.0)),
    "cells": Pair(cells(ONES), cells(ONES)),
    "two-inputs": Pair(exponentials, laplace(1.0), values=tuple(TWO)),
    "budgeted": Pair(budgeted(100, exponentials), budgeted(100, laplace(1.0))),
    "refusing": Pair(refusing(0.2), refusing(0.2)),
    "one-generator": Pair(laplace(1.0), laplace(1.0), shared=True),
    "kept": Pair(keeping(1.0), keeping(1.0), lives=6),
    "threshold": Pair(above(once=True), above(once=True), lives=6),
    "gnmax": Pair(plurality(4.0), plurality(4.0), inputs_of=OF_GNMAX),
    "counts": Pair(counts(1.0), counts(1.0), inputs_of=OF_COUNTS),
    "searched": Pair(cells(ONES), cells(ONES), search=5),
    "kept-single-calls": Pair(keeping(1.0), keeping(1.0)),
    "threshold-single-calls": Pair(above(once=True), above(once=True)),
}


def claim_of(pair: Pair, error: float = 1e-6, reference: str = "no.py:side") -> Any:
    """The claim of a pair."""
    table = tomllib.loads(
        f'[mechanism]\nname = "same-as"\nreference = "{reference}"\n{pair.inputs_of}'
        f"[gate]\nfalse_alarm = {error}\n"
    )
    if not pair.inputs_of:
        table["inputs"] = {"values": list(pair.values)}
    if pair.search:
        table["mechanism"]["search"] = pair.search
    if pair.lives is not None:
        table["mechanism"]["lives"] = pair.lives
    return parse_claim(table)


def run(
    pair: Pair,
    seed: int,
    queries: int | None = None,
    error: float = 1e-6,
    reference: str = "no.py:side",
) -> Report:
    """A whole run; each instance of a side has seeds of its own, unless they share a generator."""
    claim = claim_of(pair, error, reference)
    seeds, common = count(), np.random.default_rng([seed, 99])

    def opened(maker: Maker) -> InProcessTarget:
        def again() -> Any:
            drawn = np.random.default_rng([seed, next(seeds)])
            return maker(common if pair.shared else drawn)

        return InProcessTarget(again(), again=again, release=claim.release)

    def made(_: Any) -> InProcessTarget:
        return opened(pair.reference)

    with patch.object(session, "open_reference", made):
        return verify(opened(pair.target), claim, seed=seed, queries=queries)
