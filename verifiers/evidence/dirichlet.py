"""E-values against departures from a known law: any, by Dirichlet mixtures, or one of known faults.

How many labels the mixture on two levels needs is here too; `power` asks for it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ...reference.arrays import Matrix, Vector
from .mixture import log_mixture_of
from .outcomes import half

DIFFUSE_WEIGHT = 0.25
"""Weight of the Jeffreys prior, which is best against gross deviations of any kind."""

_CONTENDS = 2.0  # an outcome is frequent from this probability on, in units of the effect
_MANY = 20  # rare outcomes from which the law is split into two levels


def prior_concentrations(log_q: Vector, effect: float) -> tuple[tuple[float, float], ...]:
    """Concentrations of Dirichlet priors centred at the null, with their weights.

    At concentration k0 the typical total variation between a law drawn from the prior and Q is
    `effect`. k0 and 5 k0 are near the best for detecting such a deviation with probability 0.99
    (measured; flat within 10 %). log_q: log-probabilities (o,); effect: total variation.
    """
    q = np.minimum(np.exp(log_q), 1.0)  # a sum of probabilities may round to a hair above
    k0 = max(1.0, float(0.4 * np.sqrt(q * (1.0 - q)).sum() / effect) ** 2)
    return ((k0, 0.25), (5.0 * k0, 0.5))


def dirichlet_log_e_value(counts: Vector, log_q: Vector, effect: float) -> float:
    """Log of DirichletMultinomial(counts) / Multinomial(counts; Q), mixed over priors.

    A martingale under the null, as a ratio of predictive probabilities. Where few outcomes are
    frequent and many are rare, it is the mean of two: the e-value with all rare outcomes merged
    into one, and its product with that of the rare ones among themselves. counts: labels seen per
    outcome (o,); log_q: the null's log-probabilities (o,); effect: total variation that matters.
    """
    split = split_levels(log_q, effect)
    if split is None:
        return _log_mixture(counts, log_q, effect)
    among_few, among_rest = level_log_e_values(counts, split)
    return float(among_few + np.logaddexp(0.0, among_rest) - np.log(2.0))


class Levels(NamedTuple):
    """A law split into two: over frequent outcomes and the merged rest, and within the rest.

    rest: whether each outcome (o,) is rare; few: log-probabilities of the frequent ones and, last,
    of the rest; among: of rare outcomes given that one comes; effect: to be seen, over both.
    """

    rest: NDArray[np.bool_]
    few: Vector
    among: Vector
    effect: float

    @property
    def rare(self) -> float:
        """Probability of the rest, at least the smallest float."""
        return max(float(np.exp(self.few[-1])), float(np.finfo(np.float64).tiny))

    @property
    def among_effect(self) -> float:
        """Total variation within the rest if half the effect lies there."""
        return min(0.5, 0.5 * self.effect / self.rare)


def split_levels(log_q: Vector, effect: float) -> Levels | None:
    """The law (o,) as two levels; None where none is frequent, or only few are rare."""
    rest = log_q < np.log(_CONTENDS * effect)
    if rest.all() or np.count_nonzero(rest & (log_q > -np.inf)) < _MANY:
        return None
    total = float(np.logaddexp.reduce(log_q[rest]))
    return Levels(rest, np.append(log_q[~rest], total), log_q[rest] - total, effect)


def rare_share(log_q: Vector, effect: float) -> float:
    """Probability of the rare outcomes of a law (o,); 0 where it is not split into two levels."""
    levels = split_levels(log_q, effect)
    return 0.0 if levels is None else levels.rare


def level_log_e_values(counts: Vector, levels: Levels) -> tuple[float, float]:
    """Log e-values of counts (o,): of frequent outcomes and the rest, and within the rest."""
    coarse = np.append(counts[~levels.rest], counts[levels.rest].sum())
    return (
        _log_mixture(coarse, levels.few, levels.effect),
        _log_mixture(counts[levels.rest], levels.among, levels.among_effect),
    )


def _log_mixture(counts: Vector, log_q: Vector, effect: float) -> float:
    """Log of the mixture over priors, on all outcomes at once."""
    seen = counts > 0
    n = counts[seen]
    if n.size == 0:
        return 0.0
    null = float((n * log_q[seen]).sum())
    if null == -np.inf:
        return np.inf
    diffuse = _log_marginal(n, np.full(n.size, np.log(0.5)), 0.5 * counts.size)
    parts = [np.log(DIFFUSE_WEIGHT) + diffuse - null]
    for concentration, weight in prior_concentrations(log_q, effect):
        log_prior = np.log(concentration) + log_q[seen]
        parts.append(np.log(weight) + _log_marginal(n, log_prior, concentration) - null)
    return float(np.logaddexp.reduce(parts))  # faster than scipy's logsumexp


def _log_marginal(n: Vector, log_prior: Vector, concentration: float) -> float:
    """Log-probability of a label sequence with counts n > 0 under Dirichlet(exp(log_prior)).

    Gamma(n + a)/Gamma(a) is written as a Gamma(n + a)/Gamma(1 + a): a may underflow, but not log a.
    """
    prior = np.exp(log_prior)
    rising = log_prior + gammaln(n + prior) - gammaln(1.0 + prior)
    total = float(gammaln(concentration) - gammaln(n.sum() + concentration))
    return total + float(rising.sum())


_WITHIN = (0.15, 0.3, 0.5, 0.75, 1.0)
"""Shares of the effect among rare outcomes that are tried; the rest is among the frequent ones."""


def levels_show(n: int, levels: Levels, log_wanted: float, quantile: float) -> bool:
    """Whether n labels show a deviation of `levels.effect`, however much is among rare outcomes.

    log_wanted: evidence needed; quantile: of the standard normal law, for the probability of a
    miss. On each level mass moves between two halves, the least detectable way. Pearson's statistic
    has mean noncentrality + degrees and variance 2 degrees + 4 noncentrality; the e-value is taken
    at that quantile below the mean. The tests simulate it.
    """
    return all(_log_e_value(n, levels, *laws, quantile) >= log_wanted for laws in _laws(levels))


def _laws(levels: Levels) -> Iterator[tuple[Vector, Vector]]:
    """Pairs of laws, of the frequent and within the rest, at the effect in total variation."""
    effect = levels.effect
    q, within = np.exp(levels.few), np.exp(levels.among)
    for share in _WITHIN:
        # mass relative to the rest, whose own law sums to 1
        inside = _move_mass(within, share * effect / levels.rare)
        for sign in (1.0, -1.0):
            outside = _move_mass(q, sign * (1.0 - share) * effect)
            if inside is not None and outside is not None:
                yield outside, inside


def _move_mass(q: Vector, mass: float) -> Vector | None:
    """A law (o,) with `mass` moved from one half to the other; None if a half has too little."""
    chosen = half(q)
    inside = float(q[chosen].sum())
    if not 0.0 < inside + mass < 1.0 or inside >= 1.0:
        return None
    return np.asarray(
        np.where(chosen, q * (1.0 + mass / inside), q * (1.0 - mass / (1.0 - inside)))
    )


def _log_e_value(n: int, levels: Levels, few: Vector, among: Vector, quantile: float) -> float:
    """The log e-value that n labels of these laws exceed, but for the probability of a miss."""
    rest = n * float(few[-1])
    laws = ((float(n), np.exp(levels.few), few), (rest, np.exp(levels.among), among))
    variances = [_variance(*law) for law in laws]
    apart = [_short(*law, quantile * np.sqrt(v)) for law, v in zip(laws, variances, strict=True)]
    total = float(np.sqrt(sum(variances)))
    together = [_short(*law, quantile * v / total) for law, v in zip(laws, variances, strict=True)]
    first, _ = level_log_e_values(_join(levels, apart), levels)
    both = sum(level_log_e_values(_join(levels, together), levels))
    return float(np.logaddexp(first, both) - np.log(2.0))


def _variance(n: float, q: Vector, p: Vector) -> float:
    """Variance of Pearson's statistic of n labels of p against q."""
    return 2.0 * _degrees(n, q) + 4.0 * _noncentrality(n, q, p)


def _degrees(n: float, q: Vector) -> float:
    """Effective degrees of freedom: outcomes likely enough to add noise, less one."""
    return max(0.0, float(np.minimum(1.0, n * q).sum()) - 1.0)


def _noncentrality(n: float, q: Vector, p: Vector) -> float:
    return float(n * (np.square(p - q)[q > 0.0] / q[q > 0.0]).sum())


def _short(n: float, q: Vector, p: Vector, by: float) -> Vector:
    """Counts between q and p, whose Pearson statistic is its mean under p less `by`."""
    noncentrality = _noncentrality(n, q, p)
    if noncentrality < 1e-9:
        return n * q
    left = max(0.0, noncentrality + _degrees(n, q) - by)
    return np.asarray(n * np.maximum(0.0, q + (p - q) * np.sqrt(left / noncentrality)))


def _join(levels: Levels, counts: list[Vector]) -> Vector:
    """Counts (o,) of all outcomes from those of the two levels."""
    few, among = counts
    found = np.empty(levels.rest.size)
    found[~levels.rest] = few[:-1]
    found[levels.rest] = among * (few[-1] / max(float(among.sum()), 1e-300))
    return found


LEAK = 1e-3
"""Share of the claimed law in each alternative, so that no single label rules one out."""

FROM_THE_START = 0.5
"""Share of each wager on a fault that is present from the first label on."""
_HAZARD = 1.0 / 64  # prior probability that a fault sets in with the next batch, if not before
_ONSET_BATCH = 8.0  # smallest batch with an onset, or calls for one label would use up the prior


def with_leak(log_laws: Matrix, log_q: Matrix) -> Matrix:
    """Log-laws of faults, mixed with a share `LEAK` of the claimed one."""
    return np.asarray(np.logaddexp(np.log1p(-LEAK) + log_laws, np.log(LEAK) + log_q))


class PointedEvidence:
    """Mixture of likelihood ratios, one per alternative law and time of its onset.

    weights: prior weights (a,) of the alternatives, summing to at most 1. Half of each is wagered
    on a fault present from the first batch of labels, half on one that sets in with a later batch,
    with a geometric prior, so that a late fault is not masked by sound labels before it.
    log_ratios: of each, over all labels; late: log-wealth (a,) of the wagers on faults that set in
    later. Raises ValueError for weights that sum to more.
    """

    def __init__(self, weights: Vector) -> None:
        if weights.sum() > 1.0 + 1e-12:
            raise ValueError(f"weights sum to {weights.sum()}: expected at most 1")
        self.log_weights = np.log(weights)
        self.log_ratios = np.zeros(weights.size)
        self.recent = np.zeros(weights.size)
        self.onsets = np.zeros(weights.size)
        self.labels = 0.0
        self._waiting = float(np.log1p(-FROM_THE_START))
        self.late: Vector = np.full(weights.size, -np.inf)

    def observe(self, counts: Vector, log_ratios: Vector) -> None:
        """Adds a batch: counts (o,), and the alternatives' log-ratios per label (a, o)."""
        seen = counts > 0
        fresh = log_ratios[:, seen] @ counts[seen]
        if self.labels and counts.sum() >= _ONSET_BATCH:
            setting_in = self._waiting + np.log(_HAZARD) + self.log_weights
            self.late = np.logaddexp(self.late, setting_in)
            self._waiting += float(np.log1p(-_HAZARD))
        self.late = self.late + fresh
        self.log_ratios += fresh
        self.onsets = np.where(self.recent <= 0.0, self.labels, self.onsets)
        self.recent = np.maximum(self.recent, 0.0) + fresh
        self.labels += float(counts.sum())

    @property
    def capital(self) -> Vector:
        """Log-wealth (a,) of the wagers on each alternative."""
        start = self.log_weights + np.log(FROM_THE_START) + self.log_ratios
        return np.asarray(np.logaddexp(start, self.late))

    @property
    def log_late(self) -> float:
        """Log e-value of the wagers on faults that set in later, with half of the weights."""
        not_yet = self._waiting + np.logaddexp.reduce(self.log_weights)
        return float(np.logaddexp(np.logaddexp.reduce(self.late), not_yet))

    @property
    def log_e_value(self) -> float:
        """Log of the mixture: at most 1 in expectation under the null."""
        start = log_mixture_of(self.log_ratios, self.log_weights) + np.log(FROM_THE_START)
        return float(np.logaddexp(start, self.log_late))
