"""What releases may be centred on in place of the exact numbers, for a diagnosis alone."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import Clipping, NoisyGradient, NoisySum
from ..claim import NumbersClaim
from .plan import NumbersPlan

_DEVIATIONS = 4.0  # by which a mean may lie off what another norm gives
_LEAST = 1e-9  # of a variance: that of noise which is nearly always 0 is taken for more
_ROUNDED = 1e-4  # of a sum, that floats may carry it off


def other_sums(claim: NumbersClaim, values: Any) -> Iterator[tuple[str, Vector]]:
    """Exact releases (d,) of an input that is summed otherwise, and the words for it.

    Another norm bounds its records, by the claimed bound, or that of a box's farthest number; or
    its first or last record is left out.
    """
    mechanism = claim.mechanism
    if mechanism.takes not in ("records", "tensors"):
        return
    bound = mechanism.clip_norm or mechanism.clip_norm1
    box = bound is None
    if bound is None:
        bound = max(abs(mechanism.lower or 0.0), abs(mechanism.upper or 0.0))
    ways = {"each number for itself": None if box else Clipping(-bound, bound)}
    if box and mechanism.lower != -bound:
        ways["the larger bound, to both signs"] = Clipping(-bound, bound)
    if mechanism.width > 1:
        ways["the L1 norm"] = None if mechanism.clip_norm1 else Clipping(norm_bound=bound, norm=1)
        ways["the L2 norm"] = None if mechanism.clip_norm else Clipping(norm_bound=bound, norm=2)
    claimed = mechanism.aggregation
    records = claimed.flat(list(values)) if isinstance(claimed, NoisyGradient) else values
    if not np.isfinite(records).all():
        return
    for way, clipping in ways.items():
        if clipping is not None:
            how = claimed.adjacency, claimed.contributions, mechanism.divide_by or 1.0
            other = NoisySum(mechanism.noise, mechanism.width, clipping, *how)
            yield f"records are clipped by {way}, not as claimed", other.exact(records)
    tensors = isinstance(values, list)
    for way, rest in {"last": slice(0, -1), "first": slice(1, None)}.items():
        left = [tensor[rest] for tensor in values] if tensors else values[rest]
        yield f"the {way} record is left out", claimed.exact(left)


def moved_as(claim: NumbersClaim, values: Any, released: Matrix, places: Any) -> str | None:
    """What releases (n, k) of an input are the sums of, if of another norm; places (k,): looked at.

    None where they fit no norm.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        mean = released.mean(0)
    spread = _DEVIATIONS * claim.mechanism.aggregation.noise.family.standard_deviation
    spread /= np.sqrt(len(released))

    def fits(exact: Vector) -> bool:
        room = spread + _ROUNDED * np.abs(exact[places])
        return bool((np.abs(mean - exact[places]) <= room).all())

    return next((words for words, exact in other_sums(claim, values) if fits(exact)), None)


def likeliest(
    claim: NumbersClaim, plan: NumbersPlan, seen: Mapping[str, tuple[int, Vector]]
) -> tuple[str, float] | None:
    """What explains the means best, and its log-odds to the claim as if noise were normal.

    seen: by an input's role, how many releases, and how far their mean (k,) lies off the exact
    numbers that are looked at. None where nothing that is known explains them.
    """
    odds: dict[str, float] = {}
    variance = max(claim.mechanism.added.family.standard_deviation**2, _LEAST)
    both, square = np.zeros((2, plan.coordinates.size))
    for asked in plan.inputs:
        releases, off = seen.get(asked.role, (0, np.zeros(plan.coordinates.size)))
        at = asked.exact[plan.coordinates]
        both, square = both + releases * off * at, square + releases * at * at
        for words, exact in other_sums(claim, asked.values) if releases else ():
            apart = (exact - asked.exact)[plan.coordinates]
            gain = releases * float(apart @ off - 0.5 * apart @ apart) / variance
            odds[words] = odds.get(words, 0.0) + gain
    if claim.mechanism.divide_by is None:  # else `noise-law` knows other divisors, noise and all
        odds |= _multiples(plan, both, square, variance)
    best = max(odds, key=odds.__getitem__, default=None)
    return None if best is None or odds[best] <= 0 else (best, odds[best])


def _multiples(
    plan: NumbersPlan, both: Vector, square: Vector, variance: float
) -> dict[str, float]:
    """Numbers released as a multiple: all of them, or the one of which that explains most.

    both, square (k,): products of the exact numbers with how far means lie off, and with
    themselves, weighted by releases.
    """
    one = np.divide(both, square, out=np.zeros(both.size), where=square > 0)
    place = int(np.argmax(both * one))
    found = {}
    if square.sum() > 0:
        factor = float(both.sum() / square.sum())
        words = f"releases are {1.0 + factor:.3g} times the exact numbers"
        found[words] = 0.5 * factor * float(both.sum()) / variance
    if both.size > 1:
        words = (
            f"coordinate {plan.coordinates[place]} is {1.0 + one[place]:.3g} times the exact one"
        )
        # one of so many is chosen
        found[words] = 0.5 * float(both[place] * one[place]) / variance - np.log(both.size)
    return found
