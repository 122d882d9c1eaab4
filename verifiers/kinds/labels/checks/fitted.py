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


class AskedLabels:
    """Labels of the streams that were asked: counts (n, o), claimed log-laws (n, o), votes (n, c).

    counts: of labels (streams, o), with rotations undone.
    """

    def __init__(self, plan: Plan, counts: Matrix) -> None:
        self._asked = counts.any(-1)
        self.counts = counts[self._asked]
        self.log_q, self.histograms = plan.log_q[self._asked], plan.histograms[self._asked]

    def log_ratio(self, fault: LabelFault) -> float:
        """The log-ratio of a fault to the claim, over all labels."""
        return float(log_ratios(fault, self.counts, self.log_q, self.histograms).sum())

    def fitted(self, fault: LabelFault, stands_for: int, price: float = FITTING_COSTS) -> Fitted:
        """The fault as one that was fitted to these labels."""
        each = np.zeros(self._asked.size)
        each[self._asked] = log_ratios(fault, self.counts, self.log_q, self.histograms)
        return Fitted(fault, float(each.sum()) - price, each, stands_for)


def log_ratios(fault: LabelFault, counts: Matrix, log_q: Matrix, histograms: Matrix) -> Vector:
    """Log-ratios (n,) of a fault against the claim, by counts of labels (n, o) of histograms.

    log_q: claimed log-laws (n, o); histograms: votes (n, c).
    """
    with np.errstate(invalid="ignore"):  # where both give a label no chance
        return gains_of(counts, fault_laws([fault], log_q, histograms)[:, 0] - log_q)


def gains_of(counts: Matrix, ratios: Matrix) -> Vector:
    """Log-ratios (n,) of counts of labels (n, o), by the log-ratio (n, o) of each."""
    return np.asarray((counts * np.where(counts > 0, ratios, 0.0)).sum(-1))


def fit_scale(plan: Plan, counts: NDArray[np.float64], ratios: Vector) -> Fitted | None:
    """The likeliest scale or threshold; None unless it explains clearly more than known faults.

    counts: of labels (streams, o), with rotations undone; ratios: log-likelihood ratios (a,) of
    the known faults.
    """
    if not counts.any():
        return None
    asked = AskedLabels(plan, counts)
    found = [_fit_noise(plan, asked, ratios, noise) for noise in ScaledNoise]
    mechanism = plan.claim.mechanism.mechanism()
    if isinstance(mechanism, ConfidentGNMax):
        known = _scaled(plan, ScaledNoise.THRESHOLD).values()
        nearest = max(known, key=lambda at: float(ratios[at]))
        others = [
            _fit_threshold(plan.claim.mechanism.total, mechanism, asked, nearest),
            _fit_tries(mechanism, asked, nearest),
        ]
        found += [one for one in others if one.log_ratio > max(0.0, float(ratios[nearest]))]
    return likelier(filter(None, found))


def _scaled(plan: Plan, noise: ScaledNoise) -> dict[float, int]:
    """The known faults of another scale of a noise: their indices, by the factor."""
    return {f.scaled[1]: i for i, f in enumerate(plan.faults) if f.scaled and f.scaled[0] is noise}


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


def _fit_noise(plan: Plan, asked: AskedLabels, ratios: Vector, noise: ScaledNoise) -> Fitted | None:
    known = _scaled(plan, noise)
    if not known:
        return None

    def fault_of(factor: float, wording: str = "") -> LabelFault:
        return scale_fault(plan.claim.mechanism, noise, factor, wording)

    @cache
    def gained(factor: float) -> float:
        return asked.log_ratio(fault_of(factor))

    explained = {1.0: 0.0} | {factor: float(ratios[at]) for factor, at in known.items()}
    factor = _likeliest(gained, explained)
    left = gained(factor) - FITTING_COSTS
    if left <= max(explained.values()):
        return None
    wording = f"{nearest_rounding(gained, factor, 1.0):g}"
    claimed = "claimed scale" if noise is ScaledNoise.VOTES else "claim"
    fault = fault_of(float(wording), f"about {wording} times the {claimed}")
    nearest = min(known, key=lambda other: abs(math.log(other / factor)))
    return replace(asked.fitted(fault, known[nearest]), log_ratio=left)


def _fit_threshold(
    total: int, mechanism: ConfidentGNMax, asked: AskedLabels, stands_for: int
) -> Fitted:
    """The fault of another threshold with the claimed noise; total: of all votes."""
    # chances of an answer and of a refusal: what is answered has the claimed law
    claimed = mechanism.log_screening(asked.histograms)
    seen = np.stack([asked.counts[:, :-1].sum(-1), asked.counts[:, -1]], -1)

    def screened(threshold: float) -> float:
        chances = replace(mechanism, threshold=threshold).log_screening(asked.histograms)
        return float(gains_of(seen, with_leak(chances, claimed) - claimed).sum())

    reach = _REACH * mechanism.threshold_noise.scale
    least = min(0.0, mechanism.threshold - reach)
    most = max(total, mechanism.threshold) + reach
    tried = np.sort([mechanism.threshold, *np.linspace(least, most, _TRIED)])
    place = int(np.argmax([screened(float(threshold)) for threshold in tried]))
    low, high = tried[max(place - 1, 0)], tried[min(place + 1, tried.size - 1)]
    best = highest(screened, low, high)
    # rounded to places, from that of its noise on: near 0 digits would say more than the labels
    first = -math.floor(math.log10(mechanism.threshold_noise.scale))
    rounded = [round(best, first + more) + 0.0 for more in range(_MOST_DIGITS)]
    threshold = _first_left(screened, best, rounded, mechanism.threshold)
    words = f"a threshold of about {threshold:g} in place of {mechanism.threshold:g}"
    code = "threshold-too-low" if threshold < mechanism.threshold else "threshold-too-high"
    note = Note(code, words, {"threshold": threshold, "claimed": mechanism.threshold})
    law = mechanism_law(replace(mechanism, threshold=threshold))
    return asked.fitted(LabelFault(note, law), stands_for)


def _fit_tries(mechanism: ConfidentGNMax, asked: AskedLabels, stands_for: int) -> Fitted:
    """The fault that a refused query is screened again."""
    right, found = mechanism_law(mechanism), list[Fitted]()
    for tries, words in _TRIES.items():

        def law(histograms: Matrix, tries: int = tries) -> Matrix:
            claimed = right(histograms)
            refused = claimed[:, -1:]
            answered = claimed[:, :-1] * sum(refused**times for times in range(tries))
            return np.concatenate([answered, refused**tries], axis=1)

        message = f"a query that is refused is screened again, and answered if one of {words} is"
        fault = LabelFault(Note("refusals-tried-again", message, {"tries": tries}), law)
        found.append(asked.fitted(fault, stands_for, math.log(len(_TRIES))))
    return max(found, key=lambda one: one.log_ratio)


def fit_kind(plan: Plan, counts: Matrix, ratios: Matrix) -> Fitted | None:
    """The likeliest known scale on histograms of one kind only; None where there is none.

    counts: of labels (streams, o); ratios: log-likelihood ratios (streams, a) of known faults. The
    choice among k kinds costs log k.
    """
    scaled = list(_scaled(plan, ScaledNoise.VOTES).values())
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
    best = max(explained, key=lambda factor: explained[factor])
    below = max((f for f in explained if f < best), default=best / _FURTHEST)
    above = min((f for f in explained if f > best), default=best * _FURTHEST)
    ends = math.log(below), math.log(above)
    return math.exp(highest(lambda at: gained(math.exp(at)), *ends, _CLOSE))


def highest(
    gained: Callable[[float], float], low: float, high: float, close: float = 1e-5
) -> float:
    """Where between two ends most is gained, to within `close`, by Brent's method."""
    from scipy.optimize import minimize_scalar

    def lost(at: float) -> float:
        return -gained(at)

    found = minimize_scalar(lost, bounds=(low, high), method="bounded", options={"xatol": close})
    return float(found.x)


def nearest_rounding(gained: Callable[[float], float], value: float, claimed: float) -> float:
    """A value in as few digits as its 95 % likelihood interval leaves, never the claimed one."""
    rounded = [float(f"{value:.{digits}g}") for digits in range(1, _MOST_DIGITS + 1)]
    return _first_left(gained, value, rounded, claimed)


def _first_left(
    gained: Callable[[float], float], value: float, rounded: list[float], claimed: float
) -> float:
    """The first of a value's roundings that labels leave open and is not the claimed value."""
    least = gained(value) - ROUNDING_COSTS
    close = (one for one in rounded if one != claimed and gained(one) >= least)
    return next(close, rounded[-1])
