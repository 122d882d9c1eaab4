"""Integrates batches of histograms with numpy, by `kernel`.

Gaussian noise has nodes that rows of similar range share (`shared_nodes.py`); elsewhere rows of
similar range are integrated together, in chunks that fit the cache; classes that are far behind get
integration windows of their own.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import quadrature
from .arrays import Array, Matrix
from .clock import check_clock
from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise
from .quadrature import Moments, kernel, softmax_moments
from .shared_nodes import REACHES, reaches, shared_moments

Rows = NDArray[np.intp]

_CHUNK = 1 << 17  # kernel elements at a time: what fits into a core's cache
_GROUP_FROM = 32  # classes from which equal votes are worth finding


@dataclass(frozen=True)
class _Batch:
    """Standardised histograms, equal votes taken together.

    z: distinct values (b, m), padded with 0; multiplicity: classes that have each (b, m), 0 for
    padding, None where every class stands for itself; classes: c.
    """

    z: Matrix
    multiplicity: Matrix | None
    classes: int

    def rows(self, index: Rows) -> "_Batch":
        """The batch of some of the rows."""
        many = None if self.multiplicity is None else self.multiplicity[index]
        return _Batch(self.z[index], many, self.classes)


def moments(z: Matrix, noise: Noise, hazards: bool, multiplicity: Matrix | None = None) -> Moments:
    """`Moments` of histograms (b, c), given as votes less the largest in units of the scale.

    multiplicity: how many classes each entry (c,) stands for, one each when None.
    """
    if isinstance(noise, Gumbel):
        return softmax_moments(z, multiplicity)
    if multiplicity is not None:
        many = np.broadcast_to(multiplicity, z.shape)
        return _integrate(_Batch(z, many, round(multiplicity.sum())), noise, hazards)
    if z.shape[1] < _GROUP_FROM:
        return _integrate(_Batch(z, None, z.shape[1]), noise, hazards)
    batch, place = _grouped(z)
    log_q, means = _integrate(batch, noise, hazards)
    log_q = np.take_along_axis(log_q, place, -1)
    if means is not None:
        means = np.take_along_axis(means, place[:, :, None], 1)
        means = np.take_along_axis(means, place[:, None, :], 2)
    return log_q, means


def _grouped(z: Matrix) -> tuple[_Batch, Rows]:
    """The batch of distinct values, and the place (b, c) of each class among them."""
    rows, classes = z.shape
    order = np.argsort(z, -1)
    ranked = np.take_along_axis(z, order, -1)
    new = np.diff(ranked, axis=-1, prepend=ranked[:, :1]) > 0
    group = np.cumsum(new, -1, dtype=np.intp)
    place = np.empty_like(group)
    np.put_along_axis(place, order, group, -1)
    size = int(group.max()) + 1
    distinct, multiplicity = np.zeros((rows, size)), np.zeros((rows, size))
    np.put_along_axis(distinct, group, ranked, -1)
    np.add.at(multiplicity, (np.arange(rows)[:, None], group), 1.0)
    return _Batch(distinct, multiplicity, classes), place


def _integrate(batch: _Batch, noise: Noise, hazards: bool) -> Moments:
    if not isinstance(noise, Gaussian):
        return _integrate_each(batch, noise, hazards)
    rows, size = batch.z.shape
    log_q = np.empty((rows, size))
    means = np.empty((rows, size, size)) if hazards else None
    grid = reaches(batch.z)
    for at in np.unique(grid):
        index = np.flatnonzero(grid == at)
        part = batch.rows(index)
        log_q[index], mean = (
            shared_moments(part.z, part.classes, REACHES[at], hazards, part.multiplicity)
            if at < len(REACHES)
            else _integrate_each(part, noise, hazards)
        )
        if means is not None:
            means[index] = mean
    return log_q, means


def _integrate_each(batch: _Batch, noise: Noise, hazards: bool) -> Moments:
    """Moments with nodes for each row, where no few offsets serve many rows."""
    rows, size = batch.z.shape
    log_q = np.empty((rows, size))
    means = np.empty((rows, size, size)) if hazards else None
    for index, x, log_weight in _panels(batch, noise):
        check_clock()
        part = batch.rows(index)
        log_q[index], mean = kernel(
            noise, part.z, x, log_weight, hazards=hazards, multiplicity=part.multiplicity
        )
        if means is not None:
            means[index] = mean
    if isinstance(noise, Gaussian):
        for index, own, x, log_weight in _far_panels(batch):
            check_clock()
            part, each = batch.rows(index), np.arange(index.size)
            entries, mean = kernel(
                noise, part.z, x, log_weight, hazards=hazards, multiplicity=part.multiplicity
            )
            log_q[index, own] = entries[each, own]
            if means is not None and mean is not None:
                means[index, own] = mean[each, own]
    return log_q, means


def _panels(batch: _Batch, noise: Noise) -> Iterator[tuple[Rows, Matrix, Array]]:
    """Rows, the nodes that serve all their (near) classes, and the log-weights."""
    z, classes = batch.z, batch.classes
    lowest = np.maximum(z.min(-1), -quadrature.NEAR)
    order = np.argsort(-lowest)  # rows of like range share a chunk, and so a node count
    if isinstance(noise, Gaussian):
        most = quadrature.gaussian_count(float(lowest.min()), classes)
        for index in _chunks(order, z.shape[1] * most):
            count = quadrature.gaussian_count(float(lowest[index].min()), classes)
            yield index, *quadrature.gaussian_grid(lowest[index], classes, count)
    elif isinstance(noise, Exponential):
        x, log_weight = quadrature.exponential_rule(classes)
        for index in _chunks(order, z.shape[1] * x.size):
            shape = (index.size, x.size)
            yield index, np.broadcast_to(x, shape), np.broadcast_to(log_weight, shape)
    elif isinstance(noise, Laplace):
        per_row = z.shape[1] * (quadrature.PIECE_NODES * 16 + classes)
        for index in _chunks(order, per_row):
            yield index, *_laplace_panel(batch.rows(index))
    else:
        raise ValueError(f"noise {noise}: no rule for this family")


def _chunks(order: Rows, per_row: int) -> Iterator[Rows]:
    size = max(1, _CHUNK // per_row)
    for start in range(0, order.size, size):
        yield order[start : start + size]


def _laplace_panel(batch: _Batch) -> tuple[Array, Array]:
    potential = quadrature.LaplacePotential(batch.z, batch.multiplicity)
    ends = [np.zeros(batch.z.shape[0])]
    while len(ends) < 2 or (ends[-1] < ends[-2]).any():
        ends.append(quadrature.laplace_step(potential, ends[-1]))
    bounds = np.stack(ends, -1)
    return quadrature.laplace_nodes(bounds[:, :-1], bounds[:, 1:], batch.classes)


def _far_panels(batch: _Batch) -> Iterator[tuple[Rows, Rows, Matrix, float]]:
    """Rows and classes further than `NEAR` behind the leader, each with a window of its own."""
    classes = batch.classes
    all_rows, all_own = np.nonzero(batch.z < -quadrature.NEAR)
    for pairs in _chunks(np.arange(all_rows.size), batch.z.shape[1] * 32):
        rows, own = all_rows[pairs], all_own[pairs]
        part, each = batch.rows(rows), np.arange(rows.size)
        rivals = np.ones_like(part.z) if part.multiplicity is None else part.multiplicity.copy()
        rivals[each, own] -= 1.0
        mean = part.z[each, own]
        low, high = mean.copy(), np.full(rows.size, quadrature.gaussian_crest(classes))
        for _ in range(math.frexp((high - low).max())[1] + 1):
            x = 0.5 * (low + high)
            rising = (rivals * Gaussian.hazard(x[:, None] - part.z)).sum(-1) > x - mean
            low, high = np.where(rising, x, low), np.where(rising, high, x)
        yield rows, own, *quadrature.gaussian_window(0.5 * (low + high), classes)
