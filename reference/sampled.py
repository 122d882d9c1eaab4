"""Class probabilities of noisy argmax over sampled teachers, exactly, for Gaussian noise.

The law is the mean of Q(H') over sampled histograms H'. Where classes are sampled apart (Poisson),
that is Theorem 1 of Wang et al. 2022 (arXiv 2209.10732) with F_i(x) = sum_m P(m) F(x - m) in place
of F(x - H_i). Where the number drawn is fixed, F_i is a polynomial in z, with z^m beside P(m), and
the law is the coefficient of z^k over the probability that k are drawn in all: a discrete Fourier
transform. The trapezoidal rule keeps its bound, which is relative for each H', so for their mean.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from . import quadrature
from .arrays import Matrix, Vector
from .clock import check_clock
from .noise import Gaussian
from .sampling import Sampling

ACCURACY = 1e-13
"""Where the number drawn is fixed, the law is as accurate, and no probability is given as less."""

_ALIASED = math.log(1e-17)  # share of the totals that a transform takes for the one drawn
_TINY = 1e-300
_ENTRIES = 4e6  # of the tables for the histograms taken at a time


def sampled_log_probabilities(histograms: Matrix, noise: Gaussian, sampling: Sampling) -> Matrix:
    """Log-probabilities (b, c) of the labels of histograms (b, c) of whole votes.

    For Poisson sampling with a relative error below 1e-12; else see `ACCURACY`. Raises ValueError
    for counts that are not whole, and for too few votes.
    """
    votes = np.asarray(histograms, dtype=np.float64)
    if votes.ndim != 2 or votes.shape[1] < 2 or (votes < 0).any() or (votes % 1 != 0).any():
        raise ValueError("histograms of sampled teachers: expected whole votes of two classes")
    totals = votes.sum(-1)
    found = np.empty_like(votes)
    for total in np.unique(totals):
        sampling.check_total(int(total))
        rows = np.flatnonzero(totals == total)
        block = max(1, int(_ENTRIES / _entries(votes.shape[1], int(total), noise, sampling)))
        for start in range(0, rows.size, block):
            at = rows[start : start + block]
            found[at] = _Tables(votes[at], int(total), noise, sampling).law()
    return np.log(found)


def _entries(classes: int, total: int, noise: Gaussian, sampling: Sampling) -> float:
    """About how many entries one histogram brings to each table, if its counts are its own."""
    most = min(sampling.drawn or total, total) / noise.scale
    nodes = (most + 2.0 * quadrature.gaussian_reach(classes)) / quadrature.gaussian_step(classes)
    return classes * nodes * _frequencies(sampling, total)[0].size


_Values = NDArray[np.float64] | NDArray[np.complex128]


class _Tables:
    """The transforms of cdfs and densities of the noisy sampled counts, for one total of votes.

    counts: the different votes of a class (u,); cdf, density: (u, t, x) at t frequencies and at x
    nodes in votes; weights: of the frequencies (t,), with all that the law is divided by.
    """

    def __init__(self, votes: Matrix, total: int, noise: Gaussian, sampling: Sampling) -> None:
        self.counts, self.place = np.unique(votes, return_inverse=True)
        self.place = self.place.reshape(votes.shape)
        self.floor = _TINY if sampling.drawn is None else ACCURACY
        turns, self.weights = _frequencies(sampling, total)
        shares = np.exp(sampling.log_weights(self.counts, total))
        drawn = np.arange(shares.shape[1])
        cdf, density = _on_nodes(noise, shares.shape[1], votes.shape[1])
        self.cdf: _Values = shares[:, None] @ cdf
        self.density: _Values = shares[:, None] @ density
        if turns.size > 1:
            turned = shares[:, None] * turns[:, None] ** drawn
            self.cdf, self.density = _product(turned, cdf), _product(turned, density)

    def law(self) -> Matrix:
        """Probabilities (b, c)."""
        rows = []
        for place in self.place:
            check_clock()
            kinds, alike, times = np.unique(place, return_inverse=True, return_counts=True)
            rows.append(self._of_kinds(kinds, times)[alike])
        found = np.maximum(np.array(rows), self.floor)
        return np.asarray(found / found.sum(-1, keepdims=True))

    def _of_kinds(self, kinds: NDArray[np.intp], times: NDArray[np.intp]) -> Vector:
        """The probability (k,) that a class with each of these counts wins.

        kinds: places (k,) among `counts`; times: how many classes have each. Products before and
        after each kind, as cdfs are too small to be divided by.
        """
        powers = [_power(self.cdf[kind], n - 1) for kind, n in zip(kinds, times, strict=True)]
        whole = [power * self.cdf[kind] for kind, power in zip(kinds, powers, strict=True)]
        after = [np.ones_like(self.cdf[0])]
        for one in whole[:0:-1]:
            after.append(after[-1] * one)
        before, found = np.ones_like(self.cdf[0]), []
        for kind, power, rest, one in zip(kinds, powers, after[::-1], whole, strict=True):
            wins = (self.density[kind] * power * before * rest).sum(-1)
            found.append(float((wins * self.weights).sum().real))
            before = before * one
        return np.array(found)


def _product(turned: NDArray[np.complex128], values: Matrix) -> NDArray[np.complex128]:
    """The matrix product, which takes half the time in two parts."""
    return np.asarray(turned.real @ values + 1j * (turned.imag @ values))


def _power(values: _Values, exponent: int) -> _Values:
    """Whole powers by repeated squaring, which numpy leaves to logarithms where complex."""
    found = np.ones_like(values)
    while exponent:
        if exponent & 1:
            found = found * values
        exponent >>= 1
        values = values * values if exponent else values
    return found


@lru_cache(maxsize=16)
def _on_nodes(noise: Gaussian, most: int, classes: int) -> tuple[Matrix, Matrix]:
    """Cdf and weighted density (m, x) of noise about m = 0, 1, ... votes, on common nodes."""
    from scipy.special import ndtr

    reach = quadrature.gaussian_reach(classes)
    step = quadrature.gaussian_step(classes)
    last = (most - 1) / noise.scale + reach + quadrature.gaussian_crest(classes)
    nodes = np.arange(-reach, last + step, step)
    behind = nodes - np.arange(most)[:, None] / noise.scale
    density = np.exp(-0.5 * behind**2) * (step / math.sqrt(2.0 * math.pi))
    return ndtr(behind), density


@lru_cache(maxsize=64)
def _frequencies(sampling: Sampling, total: int) -> tuple[NDArray[np.complex128], Vector]:
    """Points z (t,) on the half circle, and their weights (t,) in the coefficient of z^k.

    Other totals that differ from k by a multiple of the transform's size count too: it is so large
    that hardly any does. One point, 1, where classes are sampled apart.
    """
    drawn = sampling.drawn
    if drawn is None:
        return np.ones(1, dtype=np.complex128), np.ones(1)
    here = float(sampling.log_of_total(np.array([float(drawn)]), total)[0])
    size = 2
    while _aliases(sampling, total, drawn, size) - here > _ALIASED:
        size += max(1, size // 8)
    turns = np.exp(2j * np.pi * np.arange(size // 2 + 1) / size)
    twice = np.full(turns.size, 2.0)
    twice[0] = 1.0
    if size % 2 == 0:
        twice[-1] = 1.0
    return turns, twice * turns**-drawn / (size * math.exp(here))


def _aliases(sampling: Sampling, total: int, drawn: int, size: int) -> float:
    """Log-probability of the likeliest total that a transform of this size takes for `drawn`."""
    others = np.array([float(drawn - size), float(drawn + size)])
    return float(sampling.log_of_total(others, total).max())
