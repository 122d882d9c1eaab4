"""The likeliest size of a change of votes or of noisy counts, where no known fault fits as well."""

from collections.abc import Callable
from functools import cache, cached_property

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.noise import Rounded
from ....findings.note import Note
from ....run.cause import NEAR
from ..mechanism import LabelsMechanism
from ..planning.faults import short
from ..planning.laws import (
    LabelFault,
    Law,
    LogCdf,
    clipped,
    fault_laws,
    mechanism_law,
    raced,
    release,
)
from ..planning.plan import Plan
from .fitted import FITTING_COSTS, ROUNDING_COSTS, Fitted, gains_of

_EDGES = 601
_FAR = 40.0  # scales of the noise from which on no count comes near 0


CountLaw = tuple[Vector, Callable[[float], LabelFault]]
"""Faults of one form: the sizes (s,) that are tried first, and the fault of a size."""


def count_laws(claim: LabelsMechanism, most: int) -> list[CountLaw]:
    """The forms that are tried; most: the largest count of votes that was asked."""
    if claim.sampled is not None or isinstance(claim.noise, Rounded):
        return []
    noise, teachers = claim.noise, claim.teachers
    scale, right = noise.scale, mechanism_law(claim.mechanism().answering)

    def clamped(bound: float) -> LabelFault:
        words = f"{short(noise)} clamped at about {bound:.3g} times its scale, to either side"
        law = _raced(claim, clipped(noise, bound))
        return LabelFault(Note("noise-clipped", words, {"scales": bound}), law)

    def folded(_: float) -> LabelFault:
        def law_of(t: Matrix, votes: Matrix) -> Matrix:
            below = np.exp(noise.log_cdf((t - votes) / scale))
            below = below - np.exp(noise.log_cdf((-t - votes) / scale))
            with np.errstate(divide="ignore"):
                return np.where(t < 0.0, -np.inf, np.log(np.maximum(below, 0.0)))

        words = "noisy counts without their sign (abs), so that very negative ones win"
        return LabelFault(Note("counts-without-sign", words), _raced(claim, law_of))

    def capped(cap: float) -> LabelFault:
        words = f"votes of a class that are capped at about {cap:.3g} before noise is added"
        note = Note("votes-capped", words, {"cap": cap})
        return LabelFault(note, lambda votes: right(np.minimum(votes, cap)))

    def redrawn(lead: float, again: bool) -> LabelFault:
        def log_cdf(t: Matrix, votes: Matrix) -> Matrix:
            return np.asarray(noise.log_cdf((t - votes) / scale))

        def law(votes: Matrix) -> Matrix:
            clear = np.array([_wins(one, scale, log_cdf, lead) for one in votes])
            accepted = clear.sum(-1, keepdims=True)
            if again:
                return np.asarray(clear / np.maximum(accepted, 1e-300))
            return np.asarray(clear + (1.0 - accepted) * right(votes))

        how = "until they are not" if again else "once more"
        words = (
            f"noise that is drawn {how} where the two largest noisy counts are within about "
            f"{lead:.3g}"
        )
        return LabelFault(Note("redrawn-where-close", words, {"lead": lead}), release(claim, law))

    leads = scale * np.geomspace(0.1, 2.0, 8)
    caps = np.unique(np.geomspace(max(1.0, 0.02 * teachers), max(2.0, float(most)), 24).round())
    forms: list[CountLaw] = [
        (np.array([0.5, 0.75, 1.0, 1.5, 2.0, 3.0]), clamped),
        (np.zeros(1), folded),
        (leads, lambda lead: redrawn(lead, again=False)),
        (leads, lambda lead: redrawn(lead, again=True)),
    ]
    # behind a threshold the cap would change the screening too
    return [*forms, (caps, capped)] if not claim.refuses else forms


def _raced(claim: LabelsMechanism, log_cdf: LogCdf) -> Law:
    """The law of the largest of independent noisy counts."""

    def law(histograms: Matrix) -> Matrix:
        found = np.array([_wins(votes, claim.noise.scale, log_cdf, 0.0) for votes in histograms])
        return np.asarray(found / np.maximum(found.sum(-1, keepdims=True), 1e-300))

    return release(claim, law)


def _wins(histogram: Vector, scale: float, log_cdf: LogCdf, lead: float) -> Vector:
    """Probabilities (c,) that each class is ahead of all others by `lead`."""
    most = float(histogram.max())
    low = -10.0 if most < _FAR * scale else most / scale - 12.0
    edges = np.linspace(scale * min(low, most / scale - 10.0), most + 12.0 * scale, _EDGES)
    return raced(histogram, edges, log_cdf, lead)


_FEWEST = 14.0  # nats: what shows less is left to the plainer faults
_BETWEEN = 6  # sizes that are tried on either side of the likeliest


class FittedCounts:
    """The faults of each form with the likeliest size; laws are kept, as a run fits many times."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made = cache(self._make)

    @cached_property
    def _forms(self) -> list[CountLaw]:
        return count_laws(self._plan.claim.mechanism, int(self._plan.histograms.max()))

    def likeliest(self, counts: Matrix, ratios: Vector) -> list[Fitted]:
        """Those that explain more than all known faults, or nearly as much, the likeliest first.

        counts: of labels (streams, o), with rotations undone; ratios: log-likelihood ratios (a,)
        of the known faults.
        """
        if not ratios.size or ratios.max() < _FEWEST:
            return []
        nearest = int(np.argmax(ratios))
        found = [self._fit(counts, form, nearest) for form in range(len(self._forms))]
        near = [one for one in found if one.log_ratio > max(0.0, ratios.max() - NEAR)]
        return sorted(near, key=lambda one: -one.log_ratio)

    def _fit(self, counts: Matrix, form: int, stands_for: int) -> Fitted:
        sizes, _ = self._forms[form]

        def gain(size: float) -> float:
            return float(self._each(counts, form, size).sum())

        gained = {size: gain(size) for size in sizes.tolist()}
        best = max(gained, key=gained.__getitem__)
        place = int(np.flatnonzero(sizes == best)[0])
        for other in {max(0, place - 1), min(sizes.size - 1, place + 1)} - {place}:
            for size in np.linspace(best, sizes[other], _BETWEEN + 2)[1:-1]:
                near = float(f"{size:.2g}")
                gained[near] = gain(near)
        best = max(gained, key=gained.__getitem__)
        # in one digit where that is as likely
        one = float(f"{best:.1g}")
        if one != best and gain(one) >= gained[best] - ROUNDING_COSTS:
            best = one
        fault, each = self._made(form, best)[0], self._each(counts, form, best)
        return Fitted(fault, float(each.sum()) - FITTING_COSTS, each, stands_for)

    def _each(self, counts: Matrix, form: int, size: float) -> Vector:
        """Log-ratios (streams,) of a fault against the claim."""
        return gains_of(counts, self._made(form, size)[1])

    def _make(self, form: int, size: float) -> tuple[LabelFault, Matrix]:
        """A fault, and the log-ratios (streams, o) of its labels."""
        plan, fault = self._plan, self._forms[form][1](size)
        log_laws = fault_laws([fault], plan.log_q, plan.histograms.astype(np.float64))[:, 0]
        with np.errstate(invalid="ignore"):  # where both give a label no chance
            return fault, log_laws - plan.log_q
