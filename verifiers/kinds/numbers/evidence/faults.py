"""Known faults of noise that is added to numbers, as laws whose ratio to the claim is exact."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .....reference.numbers.families import Additive, Shares
from .....reference.numbers.floats import is_power_of_two
from ....findings.note import Fields, Note
from .derived_noise import CutNoise, Folded, Held
from .tails import missing_tails

LEAK = 1e-3
"""Share of the claimed law in every alternative, so that no single release rules one out."""

_SMALLER = (0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97)
_COMMON_FACTORS, _COMMON_OFFSET = (0.5, 0.9, 2.0), 0.1
_FACTORS = (*_SMALLER, 1.03, 1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0)
_OFFSETS = (0.03, 0.1, 0.3, 1.0, 3.0)  # in scales, to either side
_MISSING = (1.0, 0.2, 0.05, 0.01)
_GRIDS = (1.0, 0.5, 0.1, 0.01, 2.0**-10, 2.0**-20)
_SUMS_CUT = Note(
    "rounding-differs",
    "sums are cut to whole numbers, towards zero",
    {"step": 1.0, "rounding": "towards zero"},
)
_FITS = 3.0  # deviations by which a count may differ from what a known share gives
_LEAST_FACTOR = 2.0**-20  # of another divisor: narrower noise is within a float's own width
_STEPS = 2.0**52  # from 0: beyond, a float does not tell the multiples of 0.1 apart

Law = Callable[[Vector, Vector, Vector], Vector]
"""Released (n,), exact (n,) and half the width of what each stands for in; log-masses (n,) out."""

Hits = Callable[[Vector, Vector, Vector], NDArray[np.bool_]]
"""Released (n,), exact (n,) and half-widths (n,) in; which draws (n,) a fault hits out."""


class FaultKind(Enum):
    """What a fault changes."""

    SCALE, OFFSET, FAMILY, MISSING, ROUNDING, CUT, RANGE, DIVISOR, TAILS = range(9)


@dataclass(frozen=True)
class Fault:
    """A law by which a wrong deployment draws.

    cause: as a diagnosis calls it. common: whether it is one of the faults that are met most, which
    share half of a wager on all. in_bins: the family and offset of its noise, where bins of the
    noise tell it from the claim; else hits: the draws that tell it, all by default, and elsewhere:
    its log-ratio to the claimed law at any other draw.
    """

    cause: Note
    kind: FaultKind
    law: Law
    common: bool = False
    in_bins: tuple[Additive, float] | None = None
    hits: Hits | None = None
    elsewhere: float = 0.0

    @property
    def name(self) -> str:
        """Its cause in words."""
        return self.cause.message


def known_faults(noise: NumberNoise, divisor: float | None = None) -> tuple[Fault, ...]:
    """The faults that releases of this noise are tested for, all at once.

    divisor: the public number by which a release is divided; None where it is not divided.
    """
    faults = [_scaled(noise, factor) for factor in _FACTORS]
    faults += [_moved(noise, sign * offset) for offset in _OFFSETS for sign in (1, -1)]
    for rival in noise.family.rivals():
        other = rival.family
        name = f"{other.family}:{other.scale:.6g} noise, {rival.why}"
        name = f"{other} {rival.why}" if isinstance(other, Shares) else name
        cause = family_differs(other, name)
        faults.append(_of_family(noise, other, cause, FaultKind.FAMILY, rival.likely))
    faults += [_missing(noise, share) for share in _MISSING]
    faults += _rounded(noise)
    faults += _cut(noise)
    faults += [
        Fault(one.cause, FaultKind.TAILS, one.log_mass, one.often, None, one.hits, one.elsewhere)
        for one in missing_tails(noise)
    ]
    if math.isinf(noise.low) and math.isinf(noise.high):
        faults += _one_sided(noise)
    if math.isinf(noise.low):
        held, message = replace(noise, low=0.0), "clamped at 0 without being claimed"
        cause = Note("clamped-unclaimed", message, {"low": 0.0})
        faults.append(
            Fault(cause, FaultKind.RANGE, held.log_mass, hits=lambda y, _x, _half: y <= 0.0)
        )
    else:
        free = replace(noise, low=-math.inf, high=math.inf)
        cause = Note("not-clamped", "not clamped as claimed")
        faults.append(Fault(cause, FaultKind.RANGE, free.log_mass))
    if divisor is not None and not noise.grid and not noise.family.whole:
        faults += _divided(noise, divisor)
    return tuple(faults)


def log_ratios(
    faults: tuple[Fault, ...], noise: NumberNoise, y: Vector, x: Vector, half: Vector
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Log-ratios (n, faults) of the faults' laws to the claimed one, and which y (n,) it allows.

    The law of each fault has a share `LEAK` of the claimed law. A release that the claim forbids
    has ratio 1, since it is a proof by itself.
    """
    claimed = noise.log_mass(y, x, half)
    allowed = claimed > -np.inf
    base = np.where(allowed, claimed, 0.0)
    ratios = np.empty((y.size, len(faults)))
    for place, fault in enumerate(faults):
        found = fault.law(y, x, half) - base
        ratios[:, place] = np.where(allowed, with_leak(found), 0.0)
    return ratios, allowed


def with_leak(log_ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-ratios (...) of a law to the claimed one, once `LEAK` of it is the claimed law."""
    return np.asarray(np.logaddexp(math.log(LEAK), math.log1p(-LEAK) + log_ratios))


def log_weights(faults: tuple[Fault, ...]) -> Vector:
    """Logs of the weights (faults,): half is spread over all faults, half over common ones."""
    common = np.array([fault.common for fault in faults], dtype=np.float64)
    return np.asarray(np.log(0.5 / len(faults) + 0.5 * common / common.sum()))


def _of_family(
    noise: NumberNoise, family: Additive, cause: Note, kind: FaultKind, common: bool
) -> Fault:
    return Fault(cause, kind, replace(noise, family=family).log_mass, common, (family, 0.0))


def of_scale(factor: float, words: str) -> Note:
    """The cause that noise has `factor` of the claimed scale; words: how many times that is."""
    code = "scale-too-small" if factor < 1.0 else "scale-too-large"
    return Note(code, f"noise of {words} the claimed scale", {"factor": factor})


def family_differs(family: Additive, name: str) -> Note:
    """The cause that noise is of this family."""
    if isinstance(family, Shares):
        shares = {"present": family.present, "parties": family.parties}
        return Note("noise-shares-differ", name, shares)
    fields: Fields = {"family": family.family, "scale": family.scale}
    return Note("noise-family-differs", name, fields)


def _scaled(noise: NumberNoise, factor: float) -> Fault:
    words = {0.5: "half", 2.0: "twice"}.get(factor, f"{factor:g} times")
    cause, common = of_scale(factor, words), factor in _COMMON_FACTORS
    return _of_family(noise, noise.family.times(factor), cause, FaultKind.SCALE, common)


def _moved(noise: NumberNoise, offset: float) -> Fault:
    by = offset * noise.family.scale
    if noise.grid or noise.family.whole:
        step = noise.grid or 1.0
        by = math.copysign(max(step, round(abs(by) / step) * step), by)
    way = "above" if by > 0 else "below"
    name = f"releases lie {abs(by):g} {way} the exact value"
    common = abs(offset) == _COMMON_OFFSET
    return Fault(
        Note("releases-off-centre", name, {"offset": by}),
        FaultKind.OFFSET,
        lambda y, x, half: noise.log_mass(y, x, half, moved=by),
        common,
        (noise.family, by),
    )


def _missing(noise: NumberNoise, share: float) -> Fault:
    """Releases of the exact value, always or now and then."""

    def law(y: Vector, x: Vector, half: Vector) -> Vector:
        hit = np.where(noise.is_bare(y, x, half), math.log(share), -np.inf)
        if share == 1.0:
            return hit
        return np.asarray(np.logaddexp(hit, rest + noise.log_mass(y, x, half)))

    rest = -math.inf if share == 1.0 else math.log1p(-share)
    cause = Note("noise-missing", "no noise at all") if share == 1.0 else _bare(share)
    return Fault(cause, FaultKind.MISSING, law, share == 1.0, hits=noise.is_bare, elsewhere=rest)


def _bare(share: float) -> Note:
    message = f"no noise in {share:.0%} of the numbers"
    return Note("noise-missing-at-times", message, {"share": share})


def bare_at_times(noise: NumberNoise, share: float, bare: int, draws: int) -> Note:
    """That a share of the numbers has no noise: the known one, or where it does not fit, counted.

    bare: how many of these draws are exact, of which the claimed noise explains some.
    """
    none = np.zeros(1)
    by_noise = float(np.exp(noise.log_mass(none, none))[0])
    counted = (bare / max(draws, 1) - by_noise) / (1.0 - by_noise)
    rate = share + (1.0 - share) * by_noise
    if counted <= 0.0 or abs(bare - draws * rate) <= _FITS * math.sqrt(draws * rate * (1.0 - rate)):
        return _bare(share)
    return _bare(float(f"{counted:.2g}"))


def _divided(noise: NumberNoise, divisor: float) -> list[Fault]:
    """Sum and noise divided by another number: both are too large, or too small, alike."""
    wordings = {
        2.0: "all is twice as large as claimed, divided by half the number",
        0.5: "all is half as large as claimed, divided by twice the number",
        divisor: f"sum and noise are not divided by {divisor:g}",
        1.0 / divisor: f"sum and noise are divided by {divisor:g} twice",
    }

    def times(factor: float) -> Law:
        other = noise.times(factor)
        return lambda y, x, half: other.log_mass(y, factor * x, half)

    return [
        Fault(Note("divisor-differs", name, {"factor": factor}), FaultKind.DIVISOR, times(factor))
        for factor, name in wordings.items()
        if factor != 1.0 and _LEAST_FACTOR <= factor <= 1.0 / _LEAST_FACTOR
    ]


def _rounded(noise: NumberNoise) -> list[Fault]:
    """Rounding that the claim does not name."""
    if noise.grid or noise.family.whole:
        return []
    grids = [grid for grid in _GRIDS if grid <= 4.0 * noise.family.scale]
    cut = [_on_a_grid(replace(noise, grid=grid, cut=True)) for grid in grids if grid == 1.0]
    return cut + [_on_a_grid(replace(noise, grid=grid)) for grid in grids]


def _one_sided(noise: NumberNoise) -> list[Fault]:
    """Noise of one sign alone, or none on one side of the exact value."""
    names: dict[tuple[type[Folded | Held], bool], str] = {
        (Folded, True): "noise is only ever added",
        (Folded, False): "noise is only ever taken away",
        (Held, True): "releases are never below the exact value, but at it",
        (Held, False): "releases are never above the exact value, but at it",
    }
    made = []
    for (law, up), name in names.items():
        if law is Held and noise.cut:
            continue  # noise of 0 would have to be laid on one side of a whole number
        cause = Note("noise-one-sided", name, {"above": up, "held": law is Held})
        made.append(_of_family(noise, law(noise.family, up=up), cause, FaultKind.RANGE, False))
    return made


def _cut(noise: NumberNoise) -> list[Fault]:
    """Noise, or a sum, that is cut to a step otherwise than claimed, or rounded in its place."""
    step = noise.grid or float(noise.family.whole)
    if not step:
        return []
    nearest = replace(noise, cut=False)
    to = "whole numbers" if step == 1.0 else f"multiples of {step:g}"
    cuts = {
        False: Note("noise-cut", f"noise is cut to {to}, towards zero", {"step": step}),
        True: Note(
            "rounding-differs", f"sums are cut down to {to}", {"step": step, "rounding": "down"}
        ),
    }
    made = [
        _of_family(nearest, CutNoise(noise.family, step, down=down), cause, FaultKind.CUT, False)
        for down, cause in cuts.items()
    ]
    if noise.cut:
        name = "sums are rounded to the nearest whole number, not cut"
        cause = Note("rounding-differs", name, {"step": step, "rounding": "nearest"})
        made.append(Fault(cause, FaultKind.ROUNDING, nearest.log_mass, common=True))
    elif step == 1.0 and not noise.family.whole:
        made.insert(0, Fault(_SUMS_CUT, FaultKind.CUT, replace(noise, cut=True).log_mass))
    if noise.family.whole:
        rounded = CutNoise(noise.family, step, down=True, ahead=0.5)
        name = "continuous noise, rounded to whole numbers, in place of discrete noise"
        cause = Note("noise-not-discrete", name, {"step": step})
        made.append(_of_family(noise, rounded, cause, FaultKind.FAMILY, False))
    return made


def _on_a_grid(noise: NumberNoise) -> Fault:
    """Its releases stand for all that is rounded to them, so that it has a width of its own.

    Each multiple has the one float that stands for it: with the next ones, which a claim of the
    grid forgives, its mass would be paid several times.
    """

    def hits(y: Vector, _x: Vector, half: Vector) -> NDArray[np.bool_]:
        # of the floats around a multiple, the one that carries it: two would have its mass twice
        hit = np.abs(y - np.rint(y / noise.grid) * noise.grid) < half
        if not is_power_of_two(noise.grid):
            hit &= np.abs(y) < _STEPS * noise.grid
        return np.asarray(hit)

    def law(y: Vector, x: Vector, half: Vector) -> Vector:
        mass = noise.log_mass(y, x, np.maximum(half, 0.5 * noise.grid))
        return np.where(hits(y, x, half), mass, -np.inf)

    fields: Fields = {"step": noise.grid, "rounding": "nearest"}
    nearest = Note("rounding-differs", f"rounded to multiples of {noise.grid:g}", fields)
    cause = _SUMS_CUT if noise.cut else nearest
    return Fault(cause, FaultKind.ROUNDING, law, hits=hits, elsewhere=-math.inf)
