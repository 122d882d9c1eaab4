"""The farthest neighbours of a claim of numbers, for proofs of what they cost."""

import math
from typing import Any

import numpy as np

from .....reference.numbers import Move, NumberNoise
from .....reference.numbers.certified import CertifiedPair
from ..claim import NumbersClaim
from .bounds import Bounds
from .plan import as_values

_MORE = (1, 2)
"""How many more records, or counts, other inputs have than the one that is asked most."""

_FAR = 60.0  # scales of the noise, beyond which a clamp changes nothing


def farthest_move(claim: NumbersClaim) -> Move:
    """How far apart neighbours may lie, in the norm that the noise is made for."""
    aggregation = claim.mechanism.aggregation
    return aggregation.farthest(aggregation.noise.family.norm)


def certified_pair(claim: NumbersClaim) -> CertifiedPair:
    """The costliest neighbours of any input, with exact values as far from clamps as possible.

    Of sums that are cut, above 0 too. Where a record is replaced, one count moves up and another
    down. Both cost the same if the law of the noise is symmetric about either exact value; else one
    of the two is left out. Raises ValueError as `CertifiedPair` does.
    """
    noise, move = claim.mechanism.aggregation.noise, farthest_move(claim)
    start = _start(claim, move)
    counts = claim.mechanism.takes == "counts"
    if counts and move.times == 2 and not _is_symmetric(noise, start, move.by):
        move = Move(move.by)
    return CertifiedPair(noise, move, start)


def charged_pair(claim: NumbersClaim) -> tuple[Any, CertifiedPair] | None:
    """An input with a neighbour as far away as any, and what they cost.

    None where noise is clamped and the neighbour lies below, since proofs take it above. Raises
    ValueError as `CertifiedPair` does.
    """
    mechanism, found = claim.mechanism, certified_pair(claim)
    moved, replaces = mechanism.contributions, mechanism.replaces
    if mechanism.takes == "counts":
        counts = np.full(mechanism.width, int(found.start), dtype=np.int64)
        if replaces and mechanism.width > 1:
            counts[1] += moved
        return counts, found
    move, bounds = farthest_move(claim), Bounds.of(claim)
    if -bounds.lower > bounds.upper and not found.is_plain and not replaces:
        return None
    record = np.zeros(mechanism.width)
    if bounds.order is None:
        record += bounds.lower if replaces else bounds.nearest
    elif replaces:
        record[: move.times] = -0.5 * move.by * (mechanism.divide_by or 1.0) / moved
    values = as_values(claim, np.repeat(record[None], moved + 1, axis=0))
    start = float(mechanism.aggregation.exact(values)[0])
    return values, CertifiedPair(found.noise, found.move, start)


def inputs_alike(claim: NumbersClaim, values: Any, pair: CertifiedPair) -> list[Any]:
    """Other inputs with a neighbour as far away, which cost the same; none where a clamp decides.

    values, pair: of `charged_pair`. All counts are moved alike, or only one that no neighbour
    moves. Records of zeros are added or, where zeros are beyond the bounds, records like the first.
    """
    mechanism, noise = claim.mechanism, pair.noise
    clamped = noise.cut or math.isfinite(noise.low) or math.isfinite(noise.high)
    if mechanism.takes == "counts":
        step = int(noise.grid) if noise.grid > 1 else 1
        fits = not noise.grid or (step / noise.grid).is_integer()
        if not clamped and fits:
            return [values + step * more for more in _MORE]
        last = np.arange(values.size) == values.size - 1
        return [values + more * last for more in _MORE] if values.size > 2 else []
    tensors = values if isinstance(values, list) else [values]
    zeros = Bounds.of(claim).nearest == 0.0
    if not zeros and not pair.is_plain:
        return []
    others = [np.zeros_like(t[:1]) if zeros else t[:1] for t in tensors]
    both = list(zip(tensors, others, strict=True))
    made = [[np.concatenate([t, *[other] * more]) for t, other in both] for more in _MORE]
    return made if isinstance(values, list) else [tensors[0] for tensors in made]


def _is_symmetric(noise: NumberNoise, start: float, by: float) -> bool:
    """Whether a count that moves down has the mirrored law of one that moves up."""
    on_grid = not noise.grid or all((v / noise.grid).is_integer() for v in (start, by))
    reach = 0.5 * _FAR * noise.family.scale
    return on_grid and _lowest(noise) <= start - reach and start + by + reach <= noise.high


def _lowest(noise: NumberNoise) -> float:
    """From where on the law is the same about every exact value: a cut hides more about 0."""
    return max(noise.low, 0.0) if noise.cut else noise.low


def _start(claim: NumbersClaim, move: Move) -> float:
    """An exact value of some input, in the middle of the range of releases or far from its end."""
    noise, mechanism = claim.mechanism.aggregation.noise, claim.mechanism
    reach = _FAR * noise.family.scale
    start, low = 0.0, _lowest(noise)
    if math.isfinite(low) and math.isfinite(noise.high):
        start = 0.5 * (low + noise.high - move.by)
    elif math.isfinite(low):
        start = low + reach
    elif math.isfinite(noise.high):
        start = noise.high - reach - move.by
    if mechanism.takes == "counts":
        step = max(noise.grid, 1.0)
        return max(0.0, float(math.ceil(start / step) * step))
    bounds = Bounds.of(claim)
    start = max(start, 0.0) if bounds.lower >= 0 else start
    return min(start, 0.0) if bounds.upper <= 0 else start
