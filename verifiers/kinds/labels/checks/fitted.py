"""The noise scale or threshold that fits labels best, where no known fault does.

If no scale fits all labels, `fit_kind` finds a known one confined to one kind of histogram.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax
from .....reference.arrays import Matrix, Vector
from ....evidence.dirichlet import with_leak
from ....findings.note import Note
from ....run.cause import NEAR
from ..planning.faults import scale_fault
from ..planning.features import kinds_of_histograms
from ..planning.laws import LabelFault, ScaledNoise, fault_laws, mechanism_law
from ..planning.plan import Plan

FITTING_COSTS = 5.0
"""Nats that a fitted fault must explain beyond known ones. A true known fault falls short by more
with probability 0.002: half a chi-square of one degree of freedom."""

_FURTHEST = 100.0  # largest factor beyond those of known faults, in either direction
_REACH = 3.0  # scales of its noise that a threshold may lie beyond 0 and beyond all votes
_TRIED = 61  # thresholds, among which the likeliest is looked for
_TRIES = {2: "two", 3: "three"}
_SCREENING = ScaledNoise.THRESHOLD
_CLOSE = 1e-3  # precision of the log of a factor
ROUNDING_COSTS = 1.92  # most nats lost by rounding: what a 95 % likelihood interval leaves
_MOST_DIGITS = 5


@dataclass(frozen=True)
class Fitted:
    """A fault fitted to labels; log_ratio: against the claim, less the price of the choice.

    each: log-ratios (streams,) by stream; stands_for: index of the known fault most like it, in
    whose place it stands; near: another cause that explains labels nearly as well, if one does.
    """

    fault: LabelFault
    log_ratio: float
    each: Vector
    stands_for: int
    near: Note | None = None


def log_ratios(fault: LabelFault, counts: Matrix, log_q: Matrix, histograms: Matrix) -> Vector:
    """Log-ratios (n,) of a fault against the claim, by counts of labels (n, o) of histograms.

    log_q: claimed log-laws (n, o); histograms: votes (n, c).
    """
    with np.errstate(invalid="ignore"):  # where both give a label no chance
        ratios = fault_laws([fault], log_q, histograms)[:, 0] - log_q
    return np.asarray((counts * np.where(counts > 0, ratios, 0.0)).sum(-1))


def fit_scale(plan: Plan, counts: NDArray[np.float64], ratios: Vector) -> Fitted | None:
    """The likeliest scale or threshold; None unless it explains clearly more than known faults.

    counts: of labels (streams, o), with rotations undone; ratios: log-likelihood ratios (a,) of
    the known faults.
    """
    found = [_fit_noise(plan, counts, ratios, noise) for noise in ScaledNoise]
    found += [_fit_threshold(plan, counts, ratios), _fit_tries(plan, counts, ratios)]
    return likelier(filter(None, found))


def likelier(found: Iterable[Fitted]) -> Fitted | None:
    """The likeliest, with the next one where that is nearly as likely and another cause."""
    ordered = sorted(found, key=lambda one: -one.log_ratio)
    if not ordered:
        return None
    best, *others = ordered
    causes = (
        other.fault.note
        for other in others
        if other.log_ratio > best.log_ratio - NEAR and other.fault.note.code != best.fault.note.code
    )
    return replace(best, near=next(causes, best.near))


def _fit_noise(
    plan: Plan, counts: NDArray[np.float64], ratios: Vector, noise: ScaledNoise
) -> Fitted | None:
    known = {f.scaled[1]: i for i, f in enumerate(plan.faults) if f.scaled and f.scaled[0] is noise}
    asked = counts.any(-1)
    if not known or not asked.any():
        return None
    claim = plan.claim.mechanism

    def of(factor: float, wording: str = "") -> tuple[LabelFault, Vector]:
        fault = scale_fault(claim, noise, factor, wording)
        seen = counts[asked], plan.log_q[asked], plan.histograms[asked]
        return fault, log_ratios(fault, *seen)

    @cache
    def gained(factor: float) -> float:
        return float(of(factor)[1].sum())

    explained = {1.0: 0.0} | {factor: float(ratios[at]) for factor, at in known.items()}
    factor = _likeliest(gained, explained)
    left = gained(factor) - FITTING_COSTS
    if left <= max(explained.values()):
        return None
    wording = _round_factor(gained, factor)
    claimed = "claimed scale" if noise is ScaledNoise.VOTES else "claim"
    fault, found = of(float(wording), f"about {wording} times the {claimed}")
    nearest = min(known, key=lambda other: abs(math.log(other / factor)))
    return Fitted(fault, left, by_stream(found, counts), known[nearest])


def _fit_threshold(plan: Plan, counts: NDArray[np.float64], ratios: Vector) -> Fitted | None:
    """The fault of another threshold with the claimed noise, if it explains more."""
    from scipy.optimize import minimize_scalar

    mechanism = plan.claim.mechanism.mechanism()
    asked = counts.any(-1)
    if not isinstance(mechanism, ConfidentGNMax) or not asked.any():
        return None
    seen = counts[asked], plan.log_q[asked], plan.histograms[asked]

    def of(threshold: float) -> tuple[LabelFault, Vector]:
        law = mechanism_law(replace(mechanism, threshold=threshold))
        words = f"a threshold of about {threshold:g} in place of {mechanism.threshold:g}"
        code = "threshold-too-low" if threshold < mechanism.threshold else "threshold-too-high"
        fields = {"threshold": threshold, "claimed": mechanism.threshold}
        fault = LabelFault(Note(code, words, fields), law)
        return fault, log_ratios(fault, *seen)

    gain = _screening_gain(mechanism, counts[asked], plan.histograms[asked])

    def screened(threshold: float) -> float:
        return gain(replace(mechanism, threshold=threshold).log_screening(plan.histograms[asked]))

    reach = _REACH * mechanism.threshold_noise.scale
    least = min(0.0, mechanism.threshold - reach)
    most = max(plan.claim.mechanism.total, mechanism.threshold) + reach
    tried = np.sort([mechanism.threshold, *np.linspace(least, most, _TRIED)])
    place = int(np.argmax([screened(float(threshold)) for threshold in tried]))
    found = minimize_scalar(
        lambda threshold: -screened(threshold),
        bounds=(tried[max(place - 1, 0)], tried[min(place + 1, tried.size - 1)]),
        method="bounded",
    )
    # rounded to places, from that of its noise on: near 0 digits would say more than the labels
    place = -math.floor(math.log10(mechanism.threshold_noise.scale))
    rounded = (round(float(found.x), place + more) + 0.0 for more in range(_MOST_DIGITS))
    fault, gained = of(_nearest(screened, float(found.x), list(rounded), mechanism.threshold))
    left = float(gained.sum()) - FITTING_COSTS
    known = [
        i for i, f in enumerate(plan.faults) if f.scaled and f.scaled[0] is ScaledNoise.THRESHOLD
    ]
    nearest = max(known, key=lambda at: float(ratios[at]))
    if left <= max(0.0, float(ratios[nearest])):
        return None
    return Fitted(fault, left, by_stream(gained, counts), nearest)


def _screening_gain(
    mechanism: ConfidentGNMax, counts: Matrix, histograms: Matrix
) -> Callable[[Matrix], float]:
    """The log-ratio of another screening to the claimed one, by its log-chances (n, 2).

    counts: of labels (n, o), refusals last; histograms (n, c). The chances are those of an answer
    and of a refusal: what is answered has the claimed law.
    """
    claimed = mechanism.log_screening(histograms)
    seen = np.stack([counts[:, :-1].sum(-1), counts[:, -1]], -1)

    def gained(chances: Matrix) -> float:
        ratios = with_leak(chances, claimed) - claimed
        return float((seen * np.where(seen > 0, ratios, 0.0)).sum())

    return gained


def _fit_tries(plan: Plan, counts: NDArray[np.float64], ratios: Vector) -> Fitted | None:
    """The fault that a refused query is screened again, if it explains more than known ones."""
    mechanism = plan.claim.mechanism.mechanism()
    asked = counts.any(-1)
    if not isinstance(mechanism, ConfidentGNMax) or not asked.any():
        return None
    right, seen = mechanism_law(mechanism), (counts[asked], plan.log_q[asked])
    known = [i for i, f in enumerate(plan.faults) if f.scaled and f.scaled[0] is _SCREENING]
    nearest = max(known, key=lambda at: float(ratios[at]))
    found = list[Fitted]()
    for tries, words in _TRIES.items():

        def law(histograms: Matrix, tries: int = tries) -> Matrix:
            claimed = right(histograms)
            refused = claimed[:, -1:]
            answered = claimed[:, :-1] * sum(refused**times for times in range(tries))
            return np.concatenate([answered, refused**tries], axis=1)

        message = f"a query that is refused is screened again, and answered if one of {words} is"
        fault = LabelFault(Note("refusals-tried-again", message, {"tries": tries}), law)
        gained = log_ratios(fault, *seen, plan.histograms[asked])
        left = float(gained.sum()) - math.log(len(_TRIES))
        found.append(Fitted(fault, left, by_stream(gained, counts), nearest))
    best = max(found, key=lambda one: one.log_ratio)
    return best if best.log_ratio > max(0.0, float(ratios[nearest])) else None


def by_stream(found: Vector, counts: Matrix) -> Vector:
    """Values of the streams that were asked, with 0 for the others; counts: labels (streams, o)."""
    each = np.zeros(len(counts))
    each[counts.any(-1)] = found
    return each


def fit_kind(plan: Plan, counts: Matrix, ratios: Matrix) -> Fitted | None:
    """The likeliest known scale on histograms of one kind only; None where there is none.

    counts: of labels (streams, o); ratios: log-likelihood ratios (streams, a) of known faults. The
    choice among k kinds costs log k.
    """
    scaled = [i for i, f in enumerate(plan.faults) if f.scaled and f.scaled[0] is ScaledNoise.VOTES]
    asked = counts.any(-1)
    votes = np.array([stream.histogram for stream in plan.streams], dtype=np.int64)
    kinds = [
        (words, fields, holds & asked)
        for words, fields, holds in kinds_of_histograms(votes, plan.claim.mechanism.total)
        if (holds & asked).any() and (asked & ~holds).any()
    ]
    if not kinds or not scaled:
        return None
    gained = np.array([ratios[holds][:, scaled].sum(0) for _, _, holds in kinds])
    kind, scale = np.unravel_index(int(np.argmax(gained)), gained.shape)
    words, fields, holds = kinds[kind]
    at = scaled[scale]
    fault = plan.faults[at]
    costs = FITTING_COSTS + float(np.log(len(kinds)))
    return Fitted(
        replace(
            fault,
            note=Note(
                fault.note.code, f"{fault.wording}, {words}", {**fault.note.fields, **fields}
            ),
        ),
        float(gained[kind, scale]) - costs,
        np.where(holds, ratios[:, at], 0.0),
        at,
    )


def _likeliest(gained: Callable[[float], float], explained: Mapping[float, float]) -> float:
    """The factor that explains most, between the neighbours of the best known factor."""
    from scipy.optimize import minimize_scalar

    best = max(explained, key=lambda factor: explained[factor])
    below = max((f for f in explained if f < best), default=best / _FURTHEST)
    above = min((f for f in explained if f > best), default=best * _FURTHEST)
    found = minimize_scalar(
        lambda at: -gained(math.exp(at)),
        bounds=(math.log(below), math.log(above)),
        method="bounded",
        options={"xatol": _CLOSE},
    )
    return math.exp(float(found.x))


def _round_factor(gained: Callable[[float], float], factor: float) -> str:
    """A factor in as few digits as its 95 % likelihood interval leaves, and never 1."""
    rounded = [float(f"{factor:.{digits}g}") for digits in range(1, _MOST_DIGITS + 1)]
    return f"{_nearest(gained, factor, rounded, 1.0):g}"


def _nearest(
    gained: Callable[[float], float], value: float, rounded: list[float], claimed: float
) -> float:
    """The first of a value's roundings that labels leave open and is not the claimed value."""
    least = gained(value) - ROUNDING_COSTS
    close = (one for one in rounded if one != claimed and gained(one) >= least)
    return next(close, rounded[-1])
