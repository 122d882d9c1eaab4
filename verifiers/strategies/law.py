"""A law of privacy that an accountant is held to, and guarantees and pairs of laws to try it on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from ...reference.arrays import Vector
from ..kinds.labels.strategies import histograms
from ..kinds.labels.strategies import neighbours as neighbouring

Function = Callable[..., Any]

EXAMPLES = 200
"""Examples within which every known wrong variant is found (docs/results/laws.md)."""

_ALL = list(HealthCheck)  # examples that are slow, or often alike, are no matter


class _BrokenError(Exception):
    """Ends a count."""


@dataclass(frozen=True)
class Law:
    """A property of a function, with what it is shown.

    A function may charge more than it must, and keeps the law all the same.

    Attributes:
        name: a word or two.
        signature: what the function takes and gives.
        source: who proved it.
        inputs: a strategy of examples.
        violation: (function, example) to what is wrong, in one line, or None.
    """

    name: str
    signature: str
    source: str
    inputs: st.SearchStrategy[Any]
    violation: Callable[[Function, Any], str | None]

    def check(self, function: Function, examples: int = EXAMPLES) -> None:
        """Raises AssertionError with the simplest example found that breaks the law.

        The same examples each time.
        """

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            print_blob=False,
            suppress_health_check=_ALL,
        )
        @given(self.inputs)
        def holds(example: Any) -> None:
            wrong = self.violation(function, example)
            if wrong is not None:
                raise AssertionError(f"{self.name}: {wrong} ({self.source})")

        holds()

    def first_broken(self, function: Function, seed: int, examples: int = EXAMPLES) -> int | None:
        """The number of the first example that breaks the law, from 1; None where none does."""
        shown: list[bool] = []

        @seeded(seed)
        @settings(
            max_examples=examples,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=_ALL,
        )
        @given(self.inputs)
        def count(example: Any) -> None:
            if True not in shown:
                shown.append(self.violation(function, example) is not None)
            if shown[-1]:
                raise _BrokenError

        try:
            count()
        except _BrokenError:
            return len(shown)
        return None


Guarantee = tuple[float, float]
"""(epsilon, delta)."""

Pair = tuple[Vector, Vector]
"""Probabilities (o,) of the same outcomes for two neighbours."""

_FARTHEST = 12  # of a count, beyond which all is one outcome


def epsilons(largest: float = 3.0) -> st.SearchStrategy[float]:
    """Epsilons from 0.01 on, in hundredths."""
    return st.integers(1, round(100 * largest)).map(lambda n: n / 100)


@st.composite
def guarantees(draw: st.DrawFn, least_delta: float = 0.0) -> Guarantee:
    """(epsilon, delta) with epsilon up to 3 and delta up to 0.1, often `least_delta`."""
    delta = draw(st.sampled_from([least_delta, least_delta, 1e-6, 1e-3, 0.02, 0.1]))
    return draw(epsilons()), max(delta, least_delta)


def worst_pair(epsilon: float, delta: float) -> Pair:
    """The laws that every (epsilon, delta) mechanism can be had from, by post-processing.

    Kairouz, Oh and Viswanath 2015 (arXiv 1311.0776), the mechanism of section 3.
    """
    kept = 1.0 - delta
    p = np.array([delta, kept / (1.0 + math.exp(-epsilon)), kept / (1.0 + math.exp(epsilon)), 0.0])
    return p, p[::-1].copy()


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Laws of a release for two neighbours: of labels, counts, kept keys, or the worst of any."""
    kind = draw(st.sampled_from(["worst", "worst", "labels", "count", "key"]))
    if kind == "worst":
        return worst_pair(*draw(guarantees()))
    if kind == "labels":
        return _labels(draw)
    scale = draw(st.sampled_from([0.5, 1.0, 3.0]))
    ratio = math.exp(-1.0 / scale)
    if kind == "count":
        return _geometric(ratio, 0), _geometric(ratio, 1)
    threshold = draw(st.integers(1, 6))
    kept = [float(_geometric(ratio, users)[_FARTHEST + threshold :].sum()) for users in (0, 1)]
    return np.array([kept[0], 1.0 - kept[0]]), np.array([kept[1], 1.0 - kept[1]])


def _labels(draw: st.DrawFn) -> Pair:
    """A noisy argmax of neighbouring votes."""
    from ...reference import parse_noise, probabilities

    noise = parse_noise(draw(st.sampled_from(["gaussian:3", "laplace:2", "gumbel:2"])))
    votes = histograms(classes=st.integers(2, 4), teachers=st.integers(1, 20))
    here, there = draw(neighbouring(votes))
    return np.asarray(probabilities(here, noise)), np.asarray(probabilities(there, noise))


def _geometric(ratio: float, count: int) -> Vector:
    """Two-sided geometric noise about a count, on -12 to 12, the tails at the ends."""
    outcomes = np.arange(-_FARTHEST, _FARTHEST + 1)
    law = (1.0 - ratio) / (1.0 + ratio) * ratio ** np.abs(outcomes - count)
    law[0] = ratio ** (count + _FARTHEST) / (1.0 + ratio)
    law[-1] = ratio ** (_FARTHEST - count) / (1.0 + ratio)
    return law


def delta_of(p: Vector, q: Vector, epsilon: float) -> float:
    """The least delta at which a pair is (epsilon, delta)-close, in both directions."""
    ahead = math.exp(min(epsilon, 700.0))
    return float(max(np.maximum(one - ahead * two, 0.0).sum() for one, two in ((p, q), (q, p))))


def composed_delta(parts: Sequence[tuple[Guarantee, int]], epsilon: float) -> float:
    """The exact delta at `epsilon` of guarantees, each so many times, of the worst mechanisms.

    Without the outcomes that give the input away, the log-ratio of each is plus or minus its
    epsilon: their sum is that of binomials (Kairouz, Oh and Viswanath 2015, Theorem 3.3).
    """
    from scipy.stats import binom

    ratios, logs, kept = np.zeros(1), np.zeros(1), 0.0
    for (one, delta), times in parts:
        ups = np.arange(times + 1)
        law = binom.logpmf(ups, times, 1.0 / (1.0 + math.exp(-one)))
        ratios = np.add.outer(ratios, one * (2.0 * ups - times)).ravel()
        logs = np.add.outer(logs, law).ravel()
        kept += times * math.log1p(-delta)
    beyond = ratios > epsilon
    part = float((np.exp(logs[beyond]) * -np.expm1(epsilon - ratios[beyond])).sum())
    return float(-math.expm1(kept) + math.exp(kept) * part)


def merge(pair: Pair, places: Sequence[int]) -> Pair:
    """The laws after outcomes (o,) were mapped to these places."""
    found = [np.bincount(places, law).astype(np.float64) for law in pair]
    return found[0], found[1]


def six_digits(values: Any) -> str:
    """Numbers for a message."""
    return ", ".join(f"{value:.6g}" for value in values)
