"""Q(H) where noisy counts are rounded to whole numbers and the first of equal counts wins.

A class wins at the whole number m where its count is m, those before it have less, and those after
it no more: Q_k is the sum over m of P(R_k = m) prod_{i<k} P(R_i < m) prod_{i>k} P(R_i <= m), exact
but for the numbers m that are left out, where next to nothing lies.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .arrays import Matrix
from .clock import check_clock
from .noise import MOST_ROUNDED, Exponential, Gaussian, Gumbel, Laplace, Noise, Rounded, Rounding

_BLOCK = 1 << 19  # classes times whole numbers at a time
_FARTHEST = 100.0  # scales below the leader that are summed, and at least so many votes:
_FARTHEST_VOTES = 1 << 14
_ABOVE: dict[type[Noise], float] = {Gaussian: 14.0, Laplace: 48.0, Gumbel: 48.0, Exponential: 48.0}
"""Scales above the leader beyond which lies less than 1e-16 of any class's own part."""


def log_probabilities_rounded(votes: Matrix, noise: Rounded) -> Matrix:
    """Natural log of Q (b, c), relative error of Q below 1e-11 where Q is above e^-2000.

    votes: finite (b, c); where they are not whole, `round`, `floor` and `cut` are of the noisy
    count, and `cut-noise` cuts at the whole numbers of votes, not of noise. Beyond a scale of
    `MOST_ROUNDED`, only every so many whole numbers are summed.
    """
    found = np.empty_like(votes)
    base = np.floor(votes.max(-1))
    reach = _reaches(votes, noise)
    above = math.ceil(_ABOVE[noise.law] * noise.scale) + 3
    step = math.ceil(noise.scale / MOST_ROUNDED)
    for below in np.unique(reach):
        whole = np.arange(-float(below), above + step, step)  # from the leader's votes
        rows = np.flatnonzero(reach == below)
        for some in _parts(rows, votes.shape[1] * whole.size):
            check_clock()
            found[some] = _sums(votes[some] - base[some, None], base[some], whole, noise)
    return np.asarray(found + math.log(step))


def log_masses(whole: Matrix, noise: Rounded) -> Matrix:
    """Log-probabilities (n,) that a count without votes is rounded to the whole numbers (n,)."""
    mass = _table(np.zeros(1), np.zeros(1), whole, noise)[2]
    return np.asarray(mass[0])


def _reaches(votes: Matrix, noise: Rounded) -> NDArray[np.int64]:
    """How many votes (b,) below the leader the sum of each row begins, as quarter powers of 2.

    So a row has the same sum in any company. Gaussian: as `quadrature.gaussian_grid`; Laplace: the
    part of a class is flat from its votes to the leader's; the others have next to nothing below.
    """
    behind = (votes.max(-1) - votes.min(-1)) / noise.scale
    scales = np.full_like(behind, 7.0)
    if noise.law is Gaussian:
        scales = 0.5 * behind + 10.0
    elif noise.law is Laplace:
        scales = behind + 40.0
    most = max(_FARTHEST * noise.scale, _FARTHEST_VOTES)
    needed = np.minimum(scales * noise.scale, most) + 3.0
    return np.asarray(np.ceil(2.0 ** (np.ceil(4.0 * np.log2(needed)) / 4.0)), dtype=np.int64)


def _parts(rows: NDArray[np.intp], per_row: int) -> Iterator[NDArray[np.intp]]:
    size = max(1, _BLOCK // per_row)
    for start in range(0, rows.size, size):
        yield rows[start : start + size]


def _sums(offsets: Matrix, base: Matrix, whole: Matrix, noise: Rounded) -> Matrix:
    """Log-sums (b, c) over whole numbers (n,), which as the votes (b, c) are given from base (b,).

    Classes with the same offset share their cdf; where counts are cut, zero tells them apart too.
    """
    zero = np.maximum(-base, whole[0] - 2.0)[:, None] + 0.0 * offsets
    key = offsets + 1j * (zero if noise.rounding == "cut" else 0.0)
    distinct, place = np.unique(key, return_inverse=True)
    place = place.reshape(offsets.shape)
    log_below, log_upto, log_mass = _table(distinct.real, distinct.imag, whole, noise)
    less, upto = log_below[place], log_upto[place]
    terms = log_mass[place]
    terms[:, 1:] += np.cumsum(less[:, :-1], 1)
    terms[:, :-1] += np.cumsum(upto[:, :0:-1], 1)[:, ::-1]
    peak = np.maximum(terms.max(-1, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray((peak + np.log(np.exp(terms - peak).sum(-1, keepdims=True)))[..., 0])


def _table(
    votes: Matrix, zero: Matrix, whole: Matrix, noise: Rounded
) -> tuple[Matrix, Matrix, Matrix]:
    """Logs (d, n) of the probabilities that counts of votes (d,) are below, at most, and at m."""
    law, step = noise.law, whole[1] - whole[0]
    m = whole if step > 1.0 else np.append(whole[0] - 1.0, whole)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        edge = _edges(noise.rounding, m - zero[:, None], m - votes[:, None]) / noise.scale
        if step > 1.0:
            m = m - 1.0
            low = _edges(noise.rounding, m - zero[:, None], m - votes[:, None]) / noise.scale
            below, upto = law.log_cdf(low), law.log_cdf(edge)
            above, beyond = law.log_survival(low), law.log_survival(edge)
        else:  # what is at most m - 1 is below m
            logs, rest = law.log_cdf(edge), law.log_survival(edge)
            below, upto, above, beyond = logs[:, :-1], logs[:, 1:], rest[:, :-1], rest[:, 1:]
        lower: NDArray[np.bool_] = upto < beyond
        more = np.asarray(np.where(lower, upto, above))
        less = np.asarray(np.where(lower, below, beyond))
        mass = np.where(less < more, more + np.log(-np.expm1(less - more)), -np.inf)
    return below, upto, mass


def _edges(rounding: Rounding, count: Matrix, drawn: Matrix) -> Matrix:
    """The noise (...) up to which a count is rounded to `count` or less.

    count: whole numbers m (...), in votes from 0; drawn: m less the votes, whose rounding is that
    of the noise alone. Cut towards zero, what ends at m or less lies below m + 1 where m is not
    negative, and up to m where it is.
    """
    if rounding == "round":
        return np.asarray(drawn + 0.5)
    if rounding == "floor":
        return np.asarray(drawn + 1.0)
    return np.asarray(drawn + ((drawn if rounding == "cut-noise" else count) >= 0.0))
