"""Known faults of how often keys are released, as laws whose ratio to the claim is exact.

Which law of selection fits how often keys were released, where the claim does not.

The list of known faults has a few thresholds, so that the nearest of them is the likeliest under
many other laws. Before it is named, noise at any threshold and of any scale is fitted, and the
truncated geometric selection at any epsilon and delta.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtri

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import ThresholdedHistogram
from .....reference.numbers.additive import Additive
from .....reference.tables import TruncatedGeometric
from ....findings.note import Note
from ...numbers.evidence.faults import family_differs, of_scale

_SCALES = (0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0)
_MOVES = (0.1, 0.25, 0.5, 1.0, 2.0)
_RATES = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0, 1e4, 1e6)
_ODDS = (1.04, 1.08, 1.25, 2.0, 10.0, 100.0)
_MARGINS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)  # above the threshold, in scales
_SURE = math.log(1e-6)  # log-probability that a key is withheld, which some are all the same
_SHARES = (0.02, 0.2, 0.7)  # of keys that are left out
_GEOMETRIC = Note(
    "selection-geometric",
    "keys are selected by a truncated geometric law, not by noise at a threshold",
)
_LEFT_OUT = Note(
    "keys-left-out",
    "keys are left out however large their counts are, as by a limit on their number",
)
BOTH_RATES = (*_RATES, *(1.0 / rate for rate in _RATES[:7]), 0.0)
BOTH_ODDS = (*_ODDS, *(1.0 / odds for odds in _ODDS))

Law = Callable[[Vector], tuple[Vector, Vector]]
"""Counts (k,) in; log-probabilities (k,) that a key is released, and that it is not, out."""


@dataclass(frozen=True)
class KeyFault:
    """A law by which a wrong deployment releases keys; cause: for a diagnosis.

    selects: whether it is a law of selection, of which others of its kind may fit better.
    """

    cause: Note
    law: Law
    selects: bool = False


def claimed_law(claimed: ThresholdedHistogram) -> Law:
    """The law of the claim itself, for counts of any length."""

    def law(counts: Vector) -> tuple[Vector, Vector]:
        of = replace(claimed, cells=counts.size)
        return of.log_released(counts), of.log_withheld(counts)

    return law


def key_faults(claimed: ThresholdedHistogram) -> tuple[KeyFault, ...]:
    """The faults that releases of keys are tested for, all at once."""
    noise, faults = claimed.noise, list[KeyFault]()

    def as_if(cause: Note, **changed: Any) -> None:
        faults.append(KeyFault(cause, claimed_law(replace(claimed, **changed)), selects=True))

    for factor in _SCALES:
        as_if(of_scale(factor, f"{factor:g} times"), noise=noise.times(factor))
    for move in sorted(_moves(claimed)):
        threshold = claimed.threshold + move
        code = "threshold-too-low" if move < 0 else "threshold-too-high"
        words = f"keys are released from a noisy count of {threshold:g}"
        fields = {"threshold": threshold, "claimed": claimed.threshold}
        as_if(Note(code, words, fields), threshold=threshold)
    for rival in noise.family.rivals():
        cause = family_differs(rival.family, f"{rival.family} noise, {rival.why}")
        as_if(cause, noise=replace(noise, family=rival.family))
    bare = Note("noise-missing", "counts are compared without noise")
    faults.append(KeyFault(bare, _bare(claimed)))
    for count in bare_from(claimed):
        words = f"keys of {count:g} and more are released without noise"
        bare = Note("noise-missing", words, {"from": count})
        faults.append(KeyFault(bare, _bare_above(claimed, count)))
    delta = float(np.exp(claimed_law(claimed)(np.ones(1))[0][0]))
    likeliest = geometric_law(1.0 / noise.family.scale, delta)
    faults.append(KeyFault(_GEOMETRIC, likeliest, selects=True))
    for share in _SHARES:
        left_out = replace(_LEFT_OUT, fields={"share": share})
        faults.append(KeyFault(left_out, _left_out(claimed, share)))
    law, most = claimed_law(claimed), claimed.contributions
    for rate in BOTH_RATES:
        name = f"keys of one {'record' if most == 1 else 'user'} at {rate:g} times the exact rate"
        cause = Note(_often(rate), name, {"rate": rate})
        faults.append(KeyFault(cause, _at_rate(law, rate, most)))
    for odds in BOTH_ODDS:
        way = "more" if odds > 1 else "less"
        name = f"keys are released {way} often than claimed, at {odds:.3g} times the odds"
        cause = Note(_often(odds), name, {"odds": odds})
        faults.append(KeyFault(cause, _at_odds(law, odds)))
    return tuple(faults)


def _often(times: float) -> str:
    """The code of keys that are released so many times as often as claimed."""
    return "released-too-often" if times > 1 else "released-too-seldom"


def _moves(claimed: ThresholdedHistogram) -> set[float]:
    """How far a wrong threshold lies off: parts of the scale, or 1, as of a strict comparison."""
    step = 1.0 if claimed.noise.family.whole else 0.0
    parts = {m * claimed.noise.family.scale for m in _MOVES} | {1.0}
    near = {max(step, round(part) if step else part) for part in parts}
    return near | {-part for part in near}


def _bare(claimed: ThresholdedHistogram) -> Law:
    def law(counts: Vector) -> tuple[Vector, Vector]:
        there = (counts >= claimed.threshold) & (counts > 0)
        return np.where(there, 0.0, -np.inf), np.where(there, -np.inf, 0.0)

    return law


def bare_from(claimed: ThresholdedHistogram) -> list[float]:
    """Counts from which on keys may be released without noise, as if it never held them back."""
    scale = claimed.noise.family.scale
    counts = (math.ceil(claimed.threshold + margin * scale) for margin in _MARGINS)
    return [float(count) for count in dict.fromkeys(counts) if count > claimed.threshold]


def _bare_above(claimed: ThresholdedHistogram, count: float) -> Law:
    def law(counts: Vector) -> tuple[Vector, Vector]:
        released, withheld = claimed_law(claimed)(counts)
        bare = counts >= count
        return np.where(bare, 0.0, released), np.where(bare, -np.inf, withheld)

    return law


def _at_rate(claimed: Law, rate: float, most: int) -> Law:
    """Keys with no more records than one unit has, released so many times as often."""

    def law(counts: Vector) -> tuple[Vector, Vector]:
        released, withheld = claimed(counts)
        alone = (counts >= 1) & (counts <= most)
        with np.errstate(divide="ignore"):
            changed = np.minimum(released + np.log(rate), np.log1p(-1e-6))
            left = np.log(-np.expm1(changed))
        return np.where(alone, changed, released), np.where(alone, left, withheld)

    return law


def _left_out(claimed: ThresholdedHistogram, share: float) -> Law:
    """A share withheld of the keys that would be released for certain, or nearly so."""

    def law(counts: Vector) -> tuple[Vector, Vector]:
        released, withheld = claimed_law(claimed)(counts)
        sure = withheld < _SURE
        left = np.where(sure, math.log1p(-share), released)
        return left, np.where(sure, math.log(share), withheld)

    return law


def geometric_law(epsilon: float, delta: float) -> Law:
    """The likeliest release of all that keep to epsilon and delta, where a record is one count.

    Desfontaines, Voss, Gipson, Mandayam 2022, Theorem 1.
    """
    if not delta > 0.0:
        return lambda counts: (np.full(counts.shape, -np.inf), np.zeros(counts.shape))
    of = TruncatedGeometric(epsilon, min(delta, 1.0))  # a fit may try what is none
    return lambda counts: (of.log_kept(counts), of.log_dropped(counts))


def _at_odds(claimed: Law, odds: float) -> Law:
    def law(counts: Vector) -> tuple[Vector, Vector]:
        released, withheld = claimed(counts)
        total = np.logaddexp(released + math.log(odds), withheld)
        return released + math.log(odds) - total, withheld - total

    return law


UNFITTING = Note(
    "law-unexplained",
    "no known law of selection fits: neither noise at a threshold nor truncated geometric",
)

_NAMED = 3.0  # nats by which one law is likelier to be named alone
_CHANCE = 1e-6  # that rates of a law fit it no better than this allows
_REACH, _TRIED = 6.0, 49  # scales from the claimed threshold, and thresholds tried among them
_MOST_WHOLE = 12.0  # whole numbers from it
_LOG_FACTORS = (-2.5, 2.5)  # of the claimed scale
_EPSILONS = np.geomspace(0.05, 5.0, 9)  # times 1 / scale
_DELTAS = np.geomspace(1e-12, 0.1, 9)


def named_selection(
    claimed: ThresholdedHistogram, cause: Note, counts: Vector, seen: Matrix
) -> Note:
    """The law of selection that rates fit: that of `cause`, where noise at a threshold does best.

    cause: of the likeliest known fault; counts: exact (k,), each once; seen: how often keys of each
    were released, and were not (k, 2).
    """
    some = counts > 0  # an empty key is released by none of these laws
    counts, seen = counts[some], seen[some]
    total = seen.sum(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = float(np.where(seen > 0, seen * np.log(seen / total), 0.0).sum())
    # twice the log-ratio to the best rates is about chi-squared where a law is true
    fits = best - 0.5 * float(chdtri(len(counts), _CHANCE))
    noisy = max(_at_thresholds(claimed, counts, seen))
    epsilon, delta, geometric = _most_geometric(claimed, counts, seen)
    if max(noisy, geometric) < fits:
        return UNFITTING
    law = f"a truncated geometric law of epsilon {epsilon:.3g} and delta {delta:.2g} a count"
    if geometric > noisy + _NAMED:
        message = f"keys are selected by {law}, not by noise at a threshold"
        return Note("selection-geometric", message, {"epsilon": epsilon, "delta": delta})
    if geometric < noisy - _NAMED:
        return cause
    return replace(cause, message=f"{cause} ({law} gives the same rates)")


def _at_thresholds(claimed: ThresholdedHistogram, counts: Vector, seen: Matrix) -> Iterator[float]:
    """The largest log-likelihood of noise of each family, over its scale and the threshold."""
    family = claimed.noise.family
    for one in (family, *(rival.family for rival in family.rivals())):
        yield _at_threshold(claimed, one, counts, seen)


def _at_threshold(
    claimed: ThresholdedHistogram, family: Additive, counts: Vector, seen: Matrix
) -> float:
    """Whole noise has whole thresholds alone, each with its best scale."""
    from scipy.optimize import minimize, minimize_scalar

    def lack(moved: float, log_factor: float) -> float:
        noise = replace(claimed.noise, family=family.times(math.exp(log_factor)))
        law = claimed_law(replace(claimed, noise=noise, threshold=claimed.threshold + moved))
        return -_log_likelihood(law, counts, seen)

    def best_scale(moved: float) -> float:
        found = minimize_scalar(
            lambda x: lack(moved, float(x)), bounds=_LOG_FACTORS, method="bounded"
        )
        return float(found.fun)

    reach = _REACH * family.scale
    if family.whole:
        whole = range(-math.ceil(min(reach, _MOST_WHOLE)), math.ceil(min(reach, _MOST_WHOLE)) + 1)
        return -min(best_scale(float(moved)) for moved in whole)
    tried = np.linspace(-reach, reach, _TRIED).tolist()
    start = min(tried, key=lambda moved: lack(moved, 0.0))
    simplex = np.array([[start, 0.0], [start + 0.2 * family.scale, 0.0], [start, 0.2]])

    def of(at: Vector) -> float:
        return lack(float(at[0]), float(np.clip(at[1], *_LOG_FACTORS)))

    options = {"maxiter": 150, "initial_simplex": simplex}
    found = minimize(of, simplex[0], method="Nelder-Mead", options=options)  # type: ignore[call-overload]
    return -float(found.fun)


def _most_geometric(
    claimed: ThresholdedHistogram, counts: Vector, seen: Matrix
) -> tuple[float, float, float]:
    """The epsilon and delta of the likeliest truncated geometric selection, and its likelihood."""
    from scipy.optimize import minimize

    def lack(at: Vector) -> float:
        epsilon, delta = float(np.exp(at[0])), float(np.exp(min(at[1], -1e-9)))
        return -_log_likelihood(geometric_law(epsilon, delta), counts, seen)

    tried = [
        np.log([ratio / claimed.noise.family.scale, delta])
        for ratio in _EPSILONS
        for delta in _DELTAS
    ]
    start = min(tried, key=lack)
    found = minimize(lack, start, method="Nelder-Mead", options={"maxiter": 150})
    return math.exp(found.x[0]), math.exp(found.x[1]), -float(found.fun)


def _log_likelihood(law: Law, counts: Vector, seen: Matrix) -> float:
    logs = np.maximum(np.stack(law(counts), axis=1), -700.0)
    return float((seen * logs).sum())
