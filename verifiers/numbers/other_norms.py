"""Records clipped by another norm than the claimed one: which sums that gives, for a diagnosis."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...reference.arrays import Matrix, Vector
from ...reference.numbers import Clipping, NoisyGradient, NoisySum
from .claim import NumbersClaim
from .plan import NumbersPlan

_DEVIATIONS = 4.0  # by which a mean may lie off what another norm gives
_ROUNDED = 1e-4  # of a sum, that floats may carry it off


def other_sums(claim: NumbersClaim, values: Any) -> Iterator[tuple[str, Vector]]:
    """Exact releases (d,) of an input where another norm bounds its records, and the words for it.

    The bound is the claimed one; of a box, the norm of its farthest number.
    """
    mechanism = claim.mechanism
    if mechanism.takes not in ("records", "tensors"):
        return
    bound = mechanism.clip_norm or mechanism.clip_norm1
    box = bound is None
    if bound is None:
        bound = max(abs(mechanism.lower or 0.0), abs(mechanism.upper or 0.0))
    ways = {
        "each number for itself": None if box else Clipping(-bound, bound),
        "the L1 norm": None if mechanism.clip_norm1 else Clipping(norm_bound=bound, norm=1),
        "the L2 norm": None if mechanism.clip_norm else Clipping(norm_bound=bound, norm=2),
    }
    claimed = mechanism.aggregation
    records = claimed.flat(list(values)) if isinstance(claimed, NoisyGradient) else values
    if not np.isfinite(records).all():
        return
    for way, clipping in ways.items():
        if clipping is not None:
            how = claimed.adjacency, claimed.contributions, mechanism.divide_by or 1.0
            other = NoisySum(mechanism.noise, mechanism.width, clipping, *how)
            yield f"records are clipped by {way}, not as claimed", other.exact(records)


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
    """The norm that explains the means best, and its log-odds to the claim as if noise were normal.

    seen: by an input's role, how many releases, and how far their mean (k,) lies off the exact
    numbers that are looked at. None where no norm explains them.
    """
    odds: dict[str, float] = {}
    variance = claim.mechanism.aggregation.noise.family.standard_deviation**2
    for asked in plan.inputs:
        releases, off = seen.get(asked.role, (0, np.zeros(plan.coordinates.size)))
        for words, exact in other_sums(claim, asked.values):
            apart = (exact - asked.exact)[plan.coordinates]
            gain = releases * float(apart @ off - 0.5 * apart @ apart) / variance
            odds[words] = odds.get(words, 0.0) + gain
    best = max(odds, key=odds.__getitem__, default=None)
    return None if best is None or odds[best] <= 0 else (best, odds[best])
