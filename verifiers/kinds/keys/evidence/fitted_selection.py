"""Which law of selection fits how often keys were released, where the claim does not.

The list of known faults has a few thresholds, so that the nearest of them is the likeliest under
many other laws. Before it is named, noise at any threshold and of any scale is fitted, and the
truncated geometric selection at any epsilon and delta.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import ThresholdedHistogram
from .....reference.numbers.additive import Additive
from ....findings.note import Note
from .key_faults import Law, claimed_law, geometric_law

UNFITTING = Note(
    "law-unexplained",
    "no known law of selection fits: neither noise at a threshold nor truncated geometric",
)

_SURE = 3.0  # nats by which one law is likelier to be named alone
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
    from scipy.stats import chi2

    some = counts > 0  # an empty key is released by none of these laws
    counts, seen = counts[some], seen[some]
    total = seen.sum(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = float(np.where(seen > 0, seen * np.log(seen / total), 0.0).sum())
    # twice the log-ratio to the best rates is about chi-squared where a law is true
    fits = best - 0.5 * float(chi2.isf(_CHANCE, len(counts)))
    noisy = max(_at_thresholds(claimed, counts, seen))
    epsilon, delta, geometric = _most_geometric(claimed, counts, seen)
    if max(noisy, geometric) < fits:
        return UNFITTING
    law = f"a truncated geometric law of epsilon {epsilon:.3g} and delta {delta:.2g} a count"
    if geometric > noisy + _SURE:
        message = f"keys are selected by {law}, not by noise at a threshold"
        return Note("selection-geometric", message, {"epsilon": epsilon, "delta": delta})
    if geometric < noisy - _SURE:
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
