"""What averaging many noisy answers to one question reads: the simplest attack on numbers.

Noise that is fresh for each answer averages out: the error falls with the root of the number of
answers. A budget is what limits how many an attacker gets.
"""

import math

import numpy as np

from ..reference.arrays import Vector
from ..reference.numbers import NumberNoise

_NORMAL_FROM = 2_000  # answers, whose average is normal to less than a thousandth
_FINE = 64  # steps of a lattice in a scale, where the noise has a finer one or none
_BODY, _TAIL = 12.0, 40.0  # standard deviations of the sum, and of one answer, that are kept


def error_of_average(noise: NumberNoise, answers: int) -> float:
    """Standard deviation of the average of so many answers, rounded as claimed, not clamped."""
    values, masses = _law(noise, _TAIL * noise.family.standard_deviation)
    return float(math.sqrt(masses @ values**2 / answers))


def share_within(noise: NumberNoise, answers: int, distance: float) -> float:
    """Probability that the average of so many answers lies nearer than `distance` to the truth.

    The exact number is taken to lie on the grid, and clamps, if there are any, to be far away; at
    just that distance counts half. So is 0 where sums are cut: half a step, which a cut takes away
    in the mean, is given back. Normal noise in closed form; else the law of the sum by Fourier
    transform on a lattice, and from 2,000 answers on by the normal law. Raises ValueError for fewer
    answers than one.
    """
    if answers < 1:
        raise ValueError(f"answers {answers}: expected at least 1")
    plain_gaussian = noise.family.isotropic and not noise.grid
    if plain_gaussian or answers >= _NORMAL_FROM:
        error = error_of_average(noise, answers)
        if plain_gaussian:
            error = noise.family.scale / math.sqrt(answers)
        return math.erf(distance / error / math.sqrt(2.0))
    reach = (_BODY * math.sqrt(answers) + _TAIL) * noise.family.standard_deviation
    values, masses = _law(noise, reach)
    size = 1 << (values.size - 1).bit_length()
    wrapped = np.zeros(size)
    places = np.arange(values.size) - values.size // 2
    wrapped[places % size] = masses
    law = np.fft.irfft(np.fft.rfft(wrapped) ** answers, size)
    sums = np.abs(np.fft.fftfreq(size, 1.0 / size)) * _step(noise)
    limit, near = answers * distance, 1e-9 * _step(noise)
    inside = law[sums < limit - near].sum() + 0.5 * law[np.abs(sums - limit) <= near].sum()
    return float(np.clip(inside, 0.0, 1.0))


def _step(noise: NumberNoise) -> float:
    """The step of the lattice: that of the noise, or a coarser one if that is enough.

    Half a step where sums are cut: a release stands for what lies up to a step further out.
    """
    fine = noise.family.scale / _FINE
    if noise.family.whole:
        return max(1.0, float(math.floor(fine)))
    if noise.cut and fine <= noise.grid:
        return 0.5 * noise.grid
    return max(noise.grid, fine)


def _law(noise: NumberNoise, reach: float) -> tuple[Vector, Vector]:
    """Values (n,) of the lattice up to `reach` on either side of 0, and their probabilities."""
    step = _step(noise)
    most = max(1, math.ceil(reach / step))
    values = np.asarray(step * np.arange(-most, most + 1), dtype=np.float64)
    halves = noise.cut and step < noise.grid
    half = 2.0**-20 if noise.family.whole else step if halves else 0.5 * step
    masses = np.exp(noise.family.log_mass(values, half))
    if halves:  # middles of steps alone
        masses[np.arange(-most, most + 1) % 2 == 0] = 0.0
    return values, np.asarray(masses / masses.sum())
