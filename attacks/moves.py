"""Symmetric moves among histograms of one total: the steps that Markov chains try.

Votes are (s, b, c): s chains for each of b histograms; a change has the shape of what it is added
to, or one more axis in front for many steps drawn at once. A move from H to H' is as likely as its
way back, so that it needs no correction; it may leave the histograms (a negative count), which the
chain then declines.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix

Votes = NDArray[np.int64]
Rows = NDArray[np.intp]
Contends = NDArray[np.bool_]
Shape = tuple[int, ...]


def pair_change(shape: Shape, total: int, anchor: Rows, rng: np.random.Generator) -> Votes:
    """Votes (..., c) that pass between two classes, one of them `anchor` (b,) half the time.

    How many is log-uniform from one to half of all: whatever the posterior's width, a fair share
    of the moves suits it.
    """
    each, classes = shape[:-1], shape[-1]
    step = _signed_step(each, total, rng)
    to, source = rng.integers(classes, size=(2, *each))
    source = np.where(rng.random(each) < 0.5, anchor, source)
    change = np.zeros(shape, dtype=np.int64)
    flat, first = change.reshape(-1), np.arange(0, change.size, classes)
    flat[first + to.reshape(-1)] += step.reshape(-1)
    flat[first + source.reshape(-1)] -= step.reshape(-1)
    return change


def group_change(shape: Shape, total: int, order: Rows, rng: np.random.Generator) -> Votes:
    """Votes (..., c) that a group of classes gains or loses alike, and one other class evens out.

    Labels say little of what a group of classes has in common, however well they say how its
    members differ. The group is the first k of `order` (b, c), or any k classes; its step is as
    long as in `pair_change`.
    """
    each, classes = shape[:-1], shape[-1]
    ranked = rng.random(each) < 0.5
    drawn = np.argsort(rng.random(shape), -1)
    rank = np.where(ranked[..., None], np.argsort(order, -1), drawn)
    size = rng.integers(1, classes, size=each)
    other = size + np.floor(rng.random(each) * (classes - size)).astype(np.int64)
    step = _signed_step(each, total, rng)
    change = np.where(rank < size[..., None], step[..., None], 0)
    change -= np.where(rank == other[..., None], (size * step)[..., None], 0)
    return change


def spread_change(shape: Shape, anchor: Rows, spread: Matrix, rng: np.random.Generator) -> Votes:
    """Votes (..., c) of all classes, of covariance `spread` `spread`^T (b, c, c).

    `anchor` (b,) evens out.
    """
    drawn = np.moveaxis(rng.standard_normal(shape), -2, -3)  # each histogram has its own spread
    moved = np.moveaxis(drawn @ np.swapaxes(spread, -1, -2), -3, -2)
    change = np.rint(moved).astype(np.int64)
    change[..., np.arange(shape[-2]), anchor] -= change.sum(-1)
    return change


def swap(votes: Votes, contends: Contends, rng: np.random.Generator) -> tuple[Votes, Contends]:
    """Two classes exchange their votes and roles: between classes hardly seen, a short way."""
    each, classes = votes.shape[:-1], votes.shape[-1]
    one, other = rng.integers(classes, size=(2, math.prod(each)))
    first = np.arange(0, votes.size, classes)
    moved, followed = votes.copy(), contends.copy()
    for flat in (moved.reshape(-1), followed.reshape(-1)):
        flat[first + one], flat[first + other] = flat[first + other], flat[first + one]
    return moved, followed


def _signed_step(each: Shape, total: int, rng: np.random.Generator) -> Votes:
    """Votes (...), log-uniform from one to half of all, gained or lost."""
    step = np.floor(np.exp(rng.random(each) * math.log(total / 2 + 1.0)))
    return np.asarray(np.where(rng.random(each) < 0.5, step, -step).astype(np.int64))
