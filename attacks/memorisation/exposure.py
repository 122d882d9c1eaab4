"""Exposure: how far down the ranks a model's training has moved a canary (Carlini et al. 2019).

arXiv 1802.08232. A canary is a string of a template, drawn uniformly from the |R| strings that the
template spans. Its rank is its place among them by the model's log-perplexity, and its exposure
log2 |R| - log2 rank, in bits: 0 to log2 |R|, and uniform in rank for a model that never saw it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from ...reference.arrays import Array, Vector
from ...reference.parallel.kept import shown
from ..auditing.proportions import clopper_pearson
from .skew_normal import LOWEST, Extrapolation
from .template import Symbols, Template

Scorer = Callable[[list[str]], Array]
"""n strings to their log-perplexities (n,): the lower, the likelier. Any unit does."""

_CALL = 1_000  # strings a call
_TAIL = 0.025  # of a 95 % interval, at either end
_ENDS = (_TAIL, 1.0 - _TAIL)
_MOST_DRAWN = 1e12  # a mean from which the spread of a Poisson law is nothing


class How(Enum):
    """How an exposure was found."""

    EXACT = "exact"
    """Every string of the space was scored."""
    SAMPLED = "sampled"
    """By the share of a random sample that scores as low; its interval assumes nothing."""
    EXTRAPOLATED = "extrapolated"
    """By a skew-normal fitted to the sample, which hardly reaches down to the canary.

    Within the interval that the sample alone gives.
    """


@dataclass(frozen=True)
class Exposure:
    """A canary's exposure in bits, of `bits` at most, with a 95 % interval.

    score: the canary's log-perplexity; at_least: a lower bound that assumes nothing (of 97.5 %);
    distance, p_value: Kolmogorov-Smirnov distance of the sample from the fitted skew-normal, and
    its p-value; None where there is no fit.
    """

    canary: str
    bits: float
    score: float
    how: How
    value: float
    low: float
    high: float
    at_least: float
    distance: float | None = None
    p_value: float | None = None


def scores_of(scorer: Scorer, strings: list[str]) -> Vector:
    """What the scorer gives for n strings, (n,). Raises ValueError for what is no score."""
    found = np.asarray(scorer(strings))
    if found.shape != (len(strings),) or found.dtype.kind not in "iuf":
        raise ValueError(
            f"{found.dtype} of shape {found.shape} for {len(strings)} strings: expected "
            f"({len(strings)},) log-perplexities"
        )
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        value, string = found[wrong[0]], strings[wrong[0]]
        raise ValueError(f"score {value} of {string[:60]!r}: expected a finite number")
    return found.astype(np.float64)


def exposures(
    scorer: Scorer,
    template: Template,
    canaries: Sequence[str],
    strings: int = 10_000,
    seed: int = 0,
) -> list[Exposure]:
    """The exposure of each canary.

    strings: at most so many are scored beside the canaries. A space of no more is enumerated; of
    a larger one so many are drawn, where at least 1,000 are needed. Raises ValueError for strings
    that are none of the template, and for what is no score.
    """
    own = [template.symbols_of(canary) for canary in canaries]
    low = scores_of(scorer, list(canaries))
    if template.size <= strings:
        rows = template.slice(0, template.size)
        everything = _all_scores(scorer, template, rows)
        return [
            _exact(template, canary, score, everything[(rows != symbols).any(1)])
            for canary, symbols, score in zip(canaries, own, low, strict=True)
        ]
    sample = _Sample.drawn(scorer, template, strings, seed)
    return [
        sample.exposure(canary, symbols, float(score))
        for canary, symbols, score in zip(canaries, own, low, strict=True)
    ]


def _all_scores(scorer: Scorer, template: Template, rows: Symbols) -> Vector:
    parts = range(0, len(rows), _CALL)
    each = (scores_of(scorer, template.strings(rows[at : at + _CALL])) for at in parts)
    return np.concatenate(list(shown(each, len(parts), "strings scored")))


def _exact(template: Template, canary: str, score: float, others: Vector) -> Exposure:
    value = template.bits - math.log2(1 + int((others <= score).sum()))
    found = (value, value, value, value)
    return Exposure(canary, template.bits, float(score), How.EXACT, *found)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Scores (n,) of rows (n, m) that were drawn from the template's space, and their fit."""

    template: Template
    rows: Symbols
    scores: Vector
    fit: Extrapolation
    random: np.random.Generator

    @classmethod
    def drawn(cls, scorer: Scorer, template: Template, count: int, seed: int) -> Self:
        """A sample of so many strings."""
        random = np.random.default_rng(seed)
        rows = template.drawn(count, random)
        scores = _all_scores(scorer, template, rows)
        return cls(template, rows, scores, Extrapolation.fitted(scores, random), random)

    def exposure(self, canary: str, symbols: Symbols, score: float) -> Exposure:
        """The exposure of a canary by the share of other strings that score as low."""
        others = self.scores[(self.rows != symbols).any(1)]
        below = int((others <= score).sum())
        with np.errstate(divide="ignore"):
            least, most = np.log(clopper_pearson(below, len(others), _TAIL))
        ends = float(self._bits(most)), float(self._bits(least))
        if below >= LOWEST:
            how, found = How.SAMPLED, (float(self._bits(math.log(below / len(others)))), *ends)
        else:
            how, found = How.EXTRAPOLATED, self._extrapolated(score)
        value, low, high = np.clip(found, *ends).tolist()
        judged = (float(ends[0]), self.fit.distance, self.fit.p_value)
        return Exposure(canary, self.template.bits, score, how, value, low, high, *judged)

    def _extrapolated(self, score: float) -> tuple[float, float, float]:
        """The exposure by the fit, and the outer ends of both kinds of `log_shares`' intervals."""
        ends = [
            np.quantile(self._bits(_spread(shares, self.template, self.random)), _ENDS)
            for shares in self.fit.log_shares(score, len(self.scores))
        ]
        value = self._bits(self.fit.log_share(score))
        return float(value), float(np.min(ends)), float(np.max(ends))

    def _bits(self, log_share: Array) -> Vector:
        """The exposure where so large a share (its natural log) of the others scores as low."""
        bits = self.template.bits
        found = bits - np.logaddexp2(0.0, np.asarray(log_share) / math.log(2.0) + bits)
        return np.maximum(found, 0.0)


def _spread(log_shares: Vector, template: Template, random: np.random.Generator) -> Vector:
    """Shares of a finite space whose scores are draws of a law with these shares, in logs."""
    means = np.exp(np.minimum(log_shares + math.log(template.size), 700.0))
    drawn = np.where(means < _MOST_DRAWN, random.poisson(np.minimum(means, _MOST_DRAWN)), means)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(drawn) - math.log(template.size))
