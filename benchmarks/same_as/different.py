"""Pairs of which the target follows another law than its reference, beside those of the tests.

Where a law is one of `dpassay.reference.plain`, that is the reference.
"""

from itertools import count
from typing import Any

import numpy as np
import same_as_zoo as of_tests
from same_as_zoo import TWO, Generator, Maker, Pair, Side, budgeted, each, gaussian, laplace

from dpassay.reference import plain

VOTES = ({"votes": [20, 20, 20, 18]},)
SCORES = ({"scores": [4.0, 3.0, 2.0, 0.0]},)
ANSWERS = ({"answers": [0.0] * 8},)
NUMBERS = ({"numbers": [float(k) for k in range(20)]},)
EIGHT = ({"numbers": [1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 3.0, 1.0]},)
PEOPLE, BITS = ({"value": 1},), ({"bits": [True, False, True, False]},)
RECORDS = ({"records": [3.0, 5.0, 8.0, 13.0]},)
ONES = ({"numbers": [1.0] * 20},)


def rounded(steps: int) -> Maker:
    """A count with Gaussian noise, rounded to so many steps of a whole."""
    return each(lambda rng, data: round(steps * (data["n"] + rng.normal(0.0, 3.0))) / steps)


def clamped(rng: Generator, data: Any) -> Any:
    """No noise is beyond two standard deviations."""
    return data["n"] + float(np.clip(rng.normal(), -2.0, 2.0))


def drawn_again(rng: Generator, data: Any) -> Any:
    """Noise beyond three scales is drawn again."""
    noise = rng.laplace()
    while abs(noise) > 3.0:
        noise = rng.laplace()
    return data["n"] + noise


def bare(share: float) -> Maker:
    """So many answers have no noise."""
    return each(lambda rng, data: float(data["n"]) + (rng.random() >= share) * rng.normal())


def ten_counts(share: float = 0.0, most: float = np.inf) -> Maker:
    """Ten counts with Laplace noise of 2, which so many lack, and which is this far at most."""

    def one(rng: Generator, data: Any) -> Any:
        noise = np.clip(rng.laplace(0.0, 2.0, 10), -most, most) * (rng.random(10) >= share)
        return {"cells": (data["n"] + noise).tolist(), "of": "n"}

    return each(one)


def correlated(rng: Generator, data: Any) -> Any:
    """Ten cells, any two correlated at .3."""
    shared = 0.3**0.5 * rng.normal()
    return {"cells": list(data["n"] + 0.7**0.5 * rng.normal(size=10) + shared), "of": "n"}


def before_every_second(rng: Generator) -> Side:
    """Every second call has the noise of the call before, whatever its input."""
    noise, turn = [0.0], count()

    def side(data: Any, size: int) -> Any:
        noise[0] = noise[0] if next(turn) % 2 else rng.normal()
        return [data["n"] + noise[0]] * size

    return side


def reseeded(rng: Generator) -> Side:
    """The same seed is set every twenty calls."""
    turn, seed, inner = count(), int(rng.integers(1 << 30)), [laplace(1.0)(rng)]

    def side(data: Any, size: int) -> Any:
        if next(turn) % 20 == 0:
            inner[0] = laplace(1.0)(np.random.default_rng(seed))
        return inner[0](data, size)

    return side


def seeded_at_its_start(_: Generator) -> Side:
    """A seed in the code."""
    return laplace(1.0)(np.random.default_rng(7))


def seeded_by_input(_: Generator) -> Side:
    """A seed that the input makes."""
    return lambda data, size: laplace(1.0)(np.random.default_rng(data["n"]))(data, size)


def one_noise_of_a_life(rng: Generator) -> Side:
    """One noise for all inputs, drawn at the start."""
    noise = rng.laplace()
    return lambda data, size: [data["n"] + noise] * size


def clipped_sum(bound: float) -> Maker:
    """Records clipped to a bound, with noise for it at epsilon 2."""
    return each(
        lambda rng, data: (
            sum(min(one, bound) for one in data["records"]) + rng.laplace(0, bound / 2)
        )
    )


def sampled(share: float) -> Maker:
    """How many of 1,000 rows are in a sample, each by its own coin, with noise."""
    return each(lambda rng, data: int(rng.binomial(1_000, share)) + rng.laplace(0.0, 2.0))


def above(answers: float | None = None, *, anew: bool = False) -> Maker:
    """The first answer above the threshold, epsilon 1, in one reply.

    answers: another scale of their noise; anew: the threshold's is drawn for each answer.
    """

    def one(rng: Generator, data: Any) -> Any:
        noise = rng.laplace(0.0, 2.0)
        for place, answer in enumerate(data["answers"]):
            noise = rng.laplace(0.0, 2.0) if anew else noise
            if answer + rng.laplace(0.0, answers or 4.0) >= 3.0 + noise:
                return place
        return None

    return each(one)


def ties(*, at_random: bool) -> Maker:
    """The largest of votes with whole noise, the first where several are."""

    def one(rng: Generator, data: Any) -> Any:
        noise = rng.geometric(1 - np.exp(-0.5), 4) - rng.geometric(1 - np.exp(-0.5), 4)
        noisy = np.array(data["votes"]) + noise
        best = np.flatnonzero(noisy == noisy.max())
        return int(rng.choice(best) if at_random else best[0])

    return each(one)


def whole_noise(rng: Generator, data: Any) -> Any:
    """The difference of two geometric numbers, of scale 2."""
    return int(data["n"] + rng.geometric(1 - np.exp(-0.5)) - rng.geometric(1 - np.exp(-0.5)))


def other_response(rng: Generator, data: Any) -> Any:
    """The odds of the true category are reckoned with one category too many."""
    if rng.random() < np.e / (np.e + 4.0):
        return data["value"]
    return int(rng.choice([other for other in range(4) if other != data["value"]]))


def rappor_anew(rng: Generator, data: Any) -> Any:
    """What should be drawn for good is drawn for each report."""
    drawn = [plain.rappor(data["bits"], 0.5, (0.1, 0.9), 1, rng)[0].tolist() for _ in range(3)]
    return [[int(bit) for bit in report] for report in drawn]


def rappor(rng: Generator, data: Any) -> Any:
    """Three reports of a person."""
    return plain.rappor(data["bits"], 0.5, (0.1, 0.9), 3, rng).astype(int).tolist()


def nodes_anew(rng: Generator, data: Any) -> Any:
    """Every sum of the first numbers draws the noise of its nodes anew."""
    sums = np.cumsum(data["numbers"])
    return [float(sums[k] + rng.laplace(0.0, 4.0, (k + 1).bit_count()).sum()) for k in range(8)]


def quantile_of_1(rng: Generator, data: Any) -> Any:
    """The median's scores are taken to move by 1, where a record moves them by a half."""
    numbers = data["numbers"]
    scores = [-abs(0.5 * k - 0.5 * (19 - k)) for k in range(20)]
    return numbers[plain.exponential_mechanism(scores, 1.0, 1.0, rng)]


exponential = each(lambda rng, data: plain.exponential_mechanism(data["scores"], 1.0, 1.0, rng))
flip = each(lambda rng, data: plain.permute_and_flip(data["scores"], 1.0, 1.0, rng))
top_two = each(lambda rng, data: plain.top_k(data["scores"], 2, 1.0, 1.0, rng))
first_above = each(lambda rng, data: plain.above_threshold(data["answers"], 3.0, 1.0, rng))
response = each(lambda rng, data: plain.randomised_response(data["value"], 4, 1.0, rng))
median = each(lambda rng, data: plain.quantile(data["numbers"], data["numbers"], 0.5, 1.0, rng))


def sums(epsilon: float) -> Maker:
    """Running sums."""
    return each(lambda rng, data: plain.running_sums(data["numbers"], epsilon, rng).tolist())


def ratio(epsilon: float) -> Maker:
    """A sum over another one."""

    def one(rng: Generator, data: Any) -> Any:
        numbers = data["numbers"]
        return plain.ratio_of_sums(numbers, numbers, (1.0, 1.0), epsilon, rng)

    return each(one)


MORE = {
    "laplace-.9": Pair(laplace(0.9), laplace(1.0)),
    "one-party-of-ten-absent": Pair(gaussian(0.9**0.5), gaussian(1.0)),
    "rounded": Pair(rounded(1), gaussian(3.0)),
    "rounded-to-halves": Pair(rounded(2), rounded(10)),
    "tails-clamped": Pair(each(clamped), gaussian(1.0)),
    "tails-drawn-again": Pair(each(drawn_again), laplace(1.0)),
    "negative-to-zero": Pair(
        each(lambda rng, data: max(0.0, data["n"] + rng.laplace(0.0, 2.0))), laplace(2.0)
    ),
    "whole-for-rounded": Pair(
        each(whole_noise), each(lambda rng, data: round(data["n"] + rng.laplace(0.0, 2.0)))
    ),
    "bare-one-in-ten": Pair(bare(0.1), gaussian(1.0)),
    "bare-one-in-a-hundred": Pair(bare(0.01), gaussian(1.0)),
    "one-cell-in-fifty-bare": Pair(ten_counts(share=0.02), ten_counts()),
    "cells-clamped": Pair(ten_counts(most=6.0), ten_counts()),
    "cells-correlated": Pair(each(correlated), of_tests.cells([1.0] * 10)),
    "every-second-before": Pair(before_every_second, gaussian(1.0), values=tuple(TWO)),
    "reseeded": Pair(reseeded, laplace(1.0)),
    "seeded-at-its-start": Pair(seeded_at_its_start, laplace(1.0), lives=3),
    "seeded-by-input": Pair(seeded_by_input, laplace(1.0), values=tuple(TWO)),
    "one-noise-of-a-life": Pair(
        one_noise_of_a_life, of_tests.keeping(1.0), lives=6, values=tuple(TWO)
    ),
    "budget-half": Pair(budgeted(50, laplace(1.0)), budgeted(100, laplace(1.0))),
    "clipping-bound": Pair(clipped_sum(8.0), clipped_sum(10.0), values=RECORDS),
    "sampling-rate": Pair(sampled(0.12), sampled(0.1)),
    "sample-of-fixed-size": Pair(each(lambda rng, data: 100 + rng.laplace(0.0, 2.0)), sampled(0.1)),
    "ties-to-the-first": Pair(ties(at_random=False), ties(at_random=True), values=VOTES),
    "threshold-for-each-answer": Pair(above(anew=True), first_above, values=ANSWERS),
    "threshold-answers-half": Pair(above(2.0), first_above, values=ANSWERS),
    "flip-for-exponential": Pair(flip, exponential, values=SCORES),
    "exponential-without-2": Pair(
        each(lambda rng, data: plain.exponential_mechanism(data["scores"], 2.0, 1.0, rng)),
        exponential,
        values=SCORES,
    ),
    "top-two-at-whole-epsilon": Pair(
        each(lambda rng, data: plain.top_k(data["scores"], 2, 2.0, 1.0, rng)),
        top_two,
        values=SCORES,
    ),
    "a-category-too-many": Pair(each(other_response), response, values=PEOPLE),
    "rappor-anew": Pair(each(rappor_anew), each(rappor), values=BITS),
    "sums-a-level-less": Pair(sums(4.0 / 3.0), sums(1.0), values=EIGHT),
    "sums-nodes-anew": Pair(each(nodes_anew), sums(1.0), values=EIGHT),
    "ratio-at-whole-epsilon": Pair(ratio(2.0), ratio(1.0), values=ONES),
    "quantile-moves-by-1": Pair(each(quantile_of_1), median, values=NUMBERS),
}
DIFFERENT = of_tests.DIFFERENT | MORE
"""By name; what the best test takes of each is in `limits`."""
