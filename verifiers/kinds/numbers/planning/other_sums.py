"""Sums that a faulty deployment may release in place of the exact ones, for diagnoses alone."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import Aggregation, Clipping, NoisyGradient, NoisySum, NumberNoise
from ....findings.note import Fields, Note
from ....run.cause import NEAR
from ..evidence.described import NOT_DESCRIBED, squares_beyond
from ..evidence.expected_draws import divergence
from .plan import NumbersPlan

_DEVIATIONS = 4.0  # by which a mean may lie off what another norm gives
_LEAST = 1e-9  # of a variance: that of noise which is nearly always 0 is taken for more
_ROUNDED = 1e-4  # of a sum, that floats may carry it off
_OF_FLOATS = 1e-9  # of a sum of squares, that is lost where two are subtracted
_ANY_COSTS = 7.0  # nats: sums of other inputs fit much that has a plainer cause
_FITTING_COSTS = 3.0  # nats: the factor of a multiple is fitted
_CERTAIN = 700.0  # nats: a shift that the noise never makes up for
_FARTHEST, _SHIFTS = 32.0, 16  # scales of a shift, and shifts, of which it is known what they tell
_OF_SUMS = 1e-9  # of an exact number, by which a mean may lie off a multiple of it


def other_sums(law: Aggregation, values: Any) -> Iterator[tuple[Note, Vector]]:
    """Sums (d,) of an input under known mistakes, each with its cause.

    The records are clipped by another norm than claimed, or not each for itself, or the first or
    last one is left out.
    """
    if not isinstance(law, NoisySum | NoisyGradient):
        return
    clipping = law.clipping
    bound, box = clipping.norm_bound, clipping.norm_bound is None
    if bound is None:
        bound = max(abs(clipping.lower or 0.0), abs(clipping.upper or 0.0))
    ways = {"each number for itself": None if box else Clipping(-bound, bound)}
    if box and clipping.lower != -bound:
        ways["the larger bound, to both signs"] = Clipping(-bound, bound)
    if law.dimensions > 1:
        norm = None if box else clipping.norm
        ways["the L1 norm"] = None if norm == 1 else Clipping(norm_bound=bound, norm=1)
        ways["the L2 norm"] = None if norm == 2 else Clipping(norm_bound=bound, norm=2)
    records = law.flat(list(values)) if isinstance(law, NoisyGradient) else values
    if not np.isfinite(records).all():
        return
    for way, bounding in ways.items():
        if bounding is not None:
            how = law.adjacency, law.contributions, law.divide_by
            other = NoisySum(law.noise, law.dimensions, bounding, *how)
            message = f"records are clipped by {way}, not as claimed"
            yield Note("clipped-otherwise", message, {"by": way}), other.exact(records)
    with np.errstate(over="ignore"):  # records of a check lie as far out as floats do
        total = records.sum(0)
    if len(records) and np.isfinite(total).all():
        together = law.clipping.clipped(total[None])[0] / (law.divide_by or 1.0)
        message = "the sum is clipped, not each record"
        yield Note("clipped-otherwise", message, {"by": "the sum"}), together
    exact = law.exact(values)
    if not (law.noise.family.whole or law.noise.grid):
        # as by integer division; where all are whole nothing is told
        to = {"down": "down to whole ones", "nearest": "to the nearest whole ones"}
        for way, whole in {"down": np.floor(exact), "nearest": np.rint(exact)}.items():
            words = f"exact numbers are rounded {to[way]} before noise is added"
            yield Note("rounding-differs", words, {"step": 1.0, "rounding": way}), whole
    if isinstance(law, NoisyGradient) and len(law.shapes) > 1 and len(records):
        ends = np.cumsum([math.prod(shape) for shape in law.shapes])[:-1]
        each = [clipping.clipped(part).sum(0) for part in np.split(records, ends, axis=1)]
        words = "each tensor of a record is clipped by itself, not all of a record together"
        alone = np.concatenate(each) / (law.divide_by or 1.0)
        yield Note("clipped-otherwise", words, {"by": "each tensor"}), alone
    tensors = isinstance(values, list)
    for way, rest in {"last": slice(0, -1), "first": slice(1, None)}.items():
        left = [tensor[rest] for tensor in values] if tensors else values[rest]
        cause = Note("record-left-out", f"the {way} record is left out", {"record": way})
        yield cause, law.exact(left)


def moved_as(law: Aggregation, values: Any, released: Matrix, places: Any) -> Note | None:
    """The known mistake that explains releases (n, k) of an input; None where none does.

    places (k,): the coordinates of these releases.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        mean = released.mean(0)
    spread = _DEVIATIONS * law.noise.family.standard_deviation
    spread /= np.sqrt(len(released))

    def fits(exact: Vector) -> bool:
        room = spread + _ROUNDED * np.abs(exact[places])
        return bool((np.abs(mean - exact[places]) <= room).all())

    return next((cause for cause, exact in other_sums(law, values) if fits(exact)), None)


@dataclass(frozen=True)
class CallMean:
    """A call by itself: the role of its input, its releases, and how far their mean (k,) is off."""

    role: str
    releases: int
    off: Vector


def of_another_input(
    law: Aggregation, plan: NumbersPlan, calls: Sequence[CallMean]
) -> tuple[Note, float, Note | None] | None:
    """That calls release the sum of another input, with the log-odds; None where they do not.

    Either all calls for an input do, or single ones. Half of the odds, of an input or of a call,
    are on its own sum, the rest on those of all other inputs of the plan.
    """
    variance = max(law.noise.family.standard_deviation**2, _LEAST)
    roles = [asked.role for asked in plan.inputs]
    exact = np.array([asked.exact[plan.coordinates] for asked in plan.inputs])
    if len(roles) < 2 or not calls:
        return None
    of = np.array([roles.index(call.role) for call in calls])
    told = _Shifts(law.noise, variance).told(exact - exact[:, None])
    gains = np.zeros((len(calls), len(roles)))
    for number, (call, at) in enumerate(zip(calls, of, strict=True)):
        apart = exact - exact[at]
        gain = call.releases * (apart @ call.off - 0.5 * np.square(apart).sum(1))
        gains[number] = gain / variance
    by_input = np.array([gains[of == place].sum(0) for place in range(len(roles))])
    always = _log_odds(by_input, np.arange(len(roles)), told)
    at_times = _log_odds(gains, of, told)
    odds = max(always, at_times) - _ANY_COSTS
    taken = gains.argmax(1) if at_times > always else by_input.argmax(1)[of]
    left = sum(
        call.releases * float(np.square(call.off - (exact[to] - exact[place])).sum()) / variance
        for call, place, to in zip(calls, of, taken, strict=True)
    )
    wrong = np.flatnonzero(taken != of)
    if odds <= 0.0 or not wrong.size or left > squares_beyond(plan.coordinates.size * len(calls)):
        return None
    place = wrong[int(np.argmax(gains[wrong, taken[wrong]]))]
    fields = {"input": str(roles[of[place]]), "of": str(roles[taken[place]])}
    message = (
        f"the sum of another input is released, as that of the input {fields['of']} for the input "
        f"{fields['input']}: it is kept under what the two have in common, such as their length"
    )
    return Note("sum-of-another-input", message, fields), odds, None


class _Shifts:
    """What the claimed noise tells of a shift, in nats of a draw, beside normal noise.

    Beyond some scales it tells less, where its tails are heavier. variance: of the noise.
    """

    def __init__(self, noise: NumberNoise, variance: float) -> None:
        self._scales = np.array([1e-3, *np.geomspace(0.25, _FARTHEST, _SHIFTS)])
        self._scales *= noise.family.scale
        free = replace(noise, low=-math.inf, high=math.inf)
        if noise.family.whole:  # whose law at fractions of one says nothing
            self._scales = np.unique(np.ceil(self._scales))
        found = [divergence(free, free, float(shift)) for shift in self._scales]
        self._nats = np.nan_to_num(found, nan=_CERTAIN, posinf=_CERTAIN)
        self._variance = variance

    def told(self, apart: Matrix) -> Vector:
        """The share (...) that shifts (..., k) tell of what normal noise would tell; 1 at most."""
        off = np.abs(apart)
        found = np.interp(off, self._scales, self._nats)
        found += np.maximum(0.0, off - self._scales[-1]) * (self._nats[-1] / self._scales[-1])
        normal = 0.5 * np.square(off).sum(-1) / self._variance
        shares = np.divide(found.sum(-1), normal, out=np.ones_like(normal), where=normal > 0)
        return np.asarray(np.minimum(shares, 1.0))


def _log_odds(gains: Matrix, own: NDArray[np.int64], told: Matrix) -> float:
    """The log-odds of mixtures over inputs (inputs,), by the gains (n, inputs) of n of them.

    own (n,): the place of the input itself, which has half of the odds; told (inputs, inputs): the
    share of the gains that the noise tells of a shift from one to another.
    """
    itself = np.arange(gains.shape[1]) == own[:, None]
    of_others = np.where(itself, -np.inf, gains)
    others = np.logaddexp.reduce(of_others, axis=1) - math.log(gains.shape[1] - 1.0)
    others *= np.where(others > 0.0, told[own, of_others.argmax(1)], 1.0)
    return float((np.logaddexp(0.0, others) - math.log(2.0)).sum())


def likeliest(
    law: Aggregation, plan: NumbersPlan, seen: Mapping[str, tuple[int, Vector]]
) -> tuple[Note, float, Note | None] | None:
    """The known mistake that explains the means of releases best; None where none does.

    Where these means refute it too, the cause is that the claim may not describe the mechanism; but
    if one offset of all describes them, which `location` tells, there is none.
    seen: by role of the input, how many releases there are, and how far their mean (k,) lies off
    the exact numbers. Returns the cause, its log-odds to the claim, about as if noise were normal,
    and another cause that explains them nearly as well.
    """
    gains, told = dict[str, float](), dict[str, float]()
    causes = dict[str, Note]()
    variance = max(law.noise.family.standard_deviation**2, _LEAST)
    both, square = np.zeros((2, plan.coordinates.size))
    shifts = _Shifts(law.noise, variance)
    total, aside, draws = 0.0, 0.0, 0
    for asked in plan.inputs:
        releases, off = seen.get(asked.role, (0, np.zeros(plan.coordinates.size)))
        at = asked.exact[plan.coordinates]
        total += releases * float(off @ off) / variance
        aside, draws = aside + releases * float(off.sum()), draws + releases * off.size
        both, square = both + releases * off * at, square + releases * at * at
        for cause, exact in other_sums(law, asked.values) if releases else ():
            apart, words = (exact - asked.exact)[plan.coordinates], cause.message
            gain = releases * float(apart @ off - 0.5 * apart @ apart) / variance
            causes[words] = cause
            gains[words] = gains.get(words, 0.0) + gain
            told[words] = told.get(words, 0.0) + gain * float(shifts.told(apart))
    known = [(cause, told[words], gains[words]) for words, cause in causes.items()]
    beyond = squares_beyond(plan.coordinates.size * len(seen))
    for cause, gain in _multiples(plan, both, square, variance):
        # `noise-law` knows other divisors, noise and all
        if law.divide_by is None or _left_by(cause.fields, plan, seen, variance) <= beyond:
            share = _told_by_multiple(cause.fields, plan, seen, shifts)
            known.append((cause, gain * share - _FITTING_COSTS, gain))
    known.sort(key=lambda each: -each[1])
    if not known or known[0][1] <= 0:
        return None

    def left(cause: Note, gain: float) -> float:
        """The sum of squares that it leaves: of large numbers a difference loses much."""
        if "factor" in cause.fields:
            return _left_by(cause.fields, plan, seen, variance)
        return total - 2.0 * gain - _OF_FLOATS * total

    fitting = [(cause, odds) for cause, odds, gain in known if left(cause, gain) <= beyond]
    if fitting and fitting[0][1] > 0:
        (best, odds), *others = fitting
        close = (cause for cause, less in others if less > max(0.0, odds - NEAR))
        return best, odds, next((cause for cause in close if cause.code != best.code), None)
    moved_alike = total - aside * aside / (draws * variance)  # what one offset for all leaves
    return None if moved_alike <= beyond else (NOT_DESCRIBED, known[0][1], None)


def _told_by_multiple(
    fields: Fields, plan: NumbersPlan, seen: Mapping[str, tuple[int, Vector]], shifts: _Shifts
) -> float:
    """The least share that a multiple of the exact numbers tells of some input that was asked."""
    places = plan.coordinates
    by = np.where(places == fields.get("coordinate", places), float(str(fields["factor"])) - 1.0, 0)
    asked = [one.exact[places] for one in plan.inputs if one.role in seen]
    return float(shifts.told(by * np.array(asked)).min()) if asked else 1.0


def _left_by(
    fields: Fields, plan: NumbersPlan, seen: Mapping[str, tuple[int, Vector]], variance: float
) -> float:
    """The sum of squares of means that a multiple of the exact numbers leaves, in variances."""
    left, factor = 0.0, float(str(fields["factor"])) - 1.0
    places = plan.coordinates
    by = np.where(places == fields.get("coordinate", places), factor, 0.0)
    for asked in plan.inputs:
        if asked.role in seen:
            releases, off = seen[asked.role]
            at = asked.exact[places]
            lost = (_OF_SUMS * at) ** 2
            left += float((releases * (off - by * at) ** 2 / (variance + releases * lost)).sum())
    return left


def _multiples(
    plan: NumbersPlan, both: Vector, square: Vector, variance: float
) -> list[tuple[Note, float]]:
    """Log-odds that all numbers, or the likeliest single one, are a multiple of the exact ones.

    both, square (k,): the exact numbers times how far means lie off, and times themselves, summed
    over releases.
    """
    one = np.divide(both, square, out=np.zeros(both.size), where=square > 0)
    place = int(np.argmax(both * one))
    found = list[tuple[Note, float]]()
    if square.sum() > 0:
        factor = float(both.sum() / square.sum())
        words = f"releases are {1.0 + factor:.3g} times the exact numbers"
        cause = Note("sums-multiplied", words, {"factor": 1.0 + factor})
        found.append((cause, 0.5 * factor * float(both.sum()) / variance))
    if both.size > 1:
        coordinate, factor = int(plan.coordinates[place]), 1.0 + float(one[place])
        words = f"coordinate {coordinate} is {factor:.3g} times the exact one"
        cause = Note("sums-multiplied", words, {"factor": factor, "coordinate": coordinate})
        # one of so many is chosen
        odds = 0.5 * float(both[place] * one[place]) / variance - math.log(both.size)
        found.append((cause, odds))
    return found
