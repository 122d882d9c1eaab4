"""Sums that a faulty deployment may release in place of the exact ones, for diagnoses alone."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import Aggregation, Clipping, NoisyGradient, NoisySum
from ....findings.note import Fields, Note
from ..evidence.described import NOT_DESCRIBED, squares_beyond
from .plan import NumbersPlan

_DEVIATIONS = 4.0  # by which a mean may lie off what another norm gives
_LEAST = 1e-9  # of a variance: that of noise which is nearly always 0 is taken for more
_ROUNDED = 1e-4  # of a sum, that floats may carry it off
_OF_FLOATS = 1e-9  # of a sum of squares, that is lost where two are subtracted
_OF_SUMS = 1e-9  # of an exact number, by which a mean may lie off a multiple of it


def other_sums(law: Aggregation, values: Any) -> Iterator[tuple[Note, Vector]]:
    """Sums (d,) of an input under known mistakes, each with its cause.

    The records are clipped by another norm than claimed, or the first or last one is left out.
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


def likeliest(
    law: Aggregation, plan: NumbersPlan, seen: Mapping[str, tuple[int, Vector]]
) -> tuple[Note, float] | None:
    """The known mistake that explains the means of releases best; None where none does.

    Where these means refute it too, the cause is that the claim may not describe the mechanism; but
    if one offset of all describes them, which `location` tells, there is none.
    seen: by role of the input, how many releases there are, and how far their mean (k,) lies off
    the exact numbers. Returns the cause, and its log-odds to the claim as if noise were normal.
    """
    odds, causes = dict[str, float](), dict[str, Note]()
    variance = max(law.noise.family.standard_deviation**2, _LEAST)
    both, square = np.zeros((2, plan.coordinates.size))
    total, aside, draws = 0.0, 0.0, 0
    for asked in plan.inputs:
        releases, off = seen.get(asked.role, (0, np.zeros(plan.coordinates.size)))
        at = asked.exact[plan.coordinates]
        total += releases * float(off @ off) / variance
        aside, draws = aside + releases * float(off.sum()), draws + releases * off.size
        both, square = both + releases * off * at, square + releases * at * at
        for cause, exact in other_sums(law, asked.values) if releases else ():
            apart = (exact - asked.exact)[plan.coordinates]
            gain = releases * float(apart @ off - 0.5 * apart @ apart) / variance
            causes[cause.message] = cause
            odds[cause.message] = odds.get(cause.message, 0.0) + gain
    known = [(cause, odds[words]) for words, cause in causes.items()]
    if law.divide_by is None:  # else `noise-law` knows other divisors, noise and all
        known += _multiples(plan, both, square, variance)
    best = max(known, key=lambda each: each[1], default=None)
    if best is None or best[1] <= 0:
        return None
    left = total - 2.0 * best[1] - _OF_FLOATS * total  # the sum of squares that it leaves
    if "factor" in best[0].fields:  # of large numbers little is left of a difference of squares
        left = _left_by(best[0].fields, plan, seen, variance)
    beyond = squares_beyond(plan.coordinates.size * len(seen))
    if left <= beyond:
        return best
    moved_alike = total - aside * aside / (draws * variance)  # what one offset for all leaves
    return None if moved_alike <= beyond else (NOT_DESCRIBED, best[1])


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
