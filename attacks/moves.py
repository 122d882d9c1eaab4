"""Symmetric moves among histograms of one total: the steps that Markov chains try.

Votes are (s, b, c): s chains for each of b histograms. A move from H to H' is as likely as its
way back, so that it needs no correction; it may leave the histograms (a negative count), which
the chain then declines.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix

Votes = NDArray[np.int64]
Rows = NDArray[np.intp]
Contends = NDArray[np.bool_]


def move_pair(votes: Votes, anchor: Rows, rng: np.random.Generator) -> Votes:
    """Votes pass between two classes, one of them `anchor` (b,) half the time.

    How many is log-uniform from one to half of all: whatever the posterior's width, a fair share
    of the moves suits it.
    """
    shape, classes = votes.shape[:-1], votes.shape[-1]
    step = _signed_step(votes, rng)
    to, source = rng.integers(classes, size=(2, *shape))
    source = np.where(rng.random(shape) < 0.5, anchor, source)
    chain, row = np.ogrid[: shape[0], : shape[1]]
    moved = votes.copy()
    moved[chain, row, to] += step
    moved[chain, row, source] -= step
    return moved


def move_group(votes: Votes, order: Rows, rng: np.random.Generator) -> Votes:
    """A group of classes gains or loses alike, and one other class evens out.

    Labels say little of what a group of classes has in common, however well they say how its
    members differ. The group is the first k of `order` (b, c), or any k classes; its step is as
    long as in `move_pair`.
    """
    shape, classes = votes.shape[:-1], votes.shape[-1]
    ranked = rng.random(shape) < 0.5
    drawn = np.argsort(rng.random(votes.shape), -1)
    rank = np.where(ranked[..., None], np.argsort(order, -1), drawn)
    size = rng.integers(1, classes, size=shape)
    other = size + np.floor(rng.random(shape) * (classes - size)).astype(np.int64)
    step = _signed_step(votes, rng)
    group = rank < size[..., None]
    change = np.where(group, step[..., None], 0)
    change -= np.where(rank == other[..., None], (size * step)[..., None], 0)
    return votes + change


def move_all(votes: Votes, anchor: Rows, spread: Matrix, rng: np.random.Generator) -> Votes:
    """All classes change, with covariance `spread` `spread`^T (b, c, c); `anchor` evens out."""
    drawn = rng.standard_normal(votes.shape)
    step = np.rint(np.einsum("bij,sbj->sbi", spread, drawn)).astype(np.int64)
    step[:, np.arange(votes.shape[1]), anchor] -= step.sum(-1)
    return np.asarray(votes + step)


def swap(votes: Votes, contends: Contends, rng: np.random.Generator) -> tuple[Votes, Contends]:
    """Two classes exchange their votes and roles: between classes hardly seen, a short way."""
    classes = np.broadcast_to(np.arange(votes.shape[-1]), votes.shape)
    one, other = rng.integers(votes.shape[-1], size=(2, *votes.shape[:-1], 1))
    order = np.where(classes == one, other, np.where(classes == other, one, classes))
    return np.take_along_axis(votes, order, -1), np.take_along_axis(contends, order, -1)


def _signed_step(votes: Votes, rng: np.random.Generator) -> Votes:
    """Votes (s, b), log-uniform from one to half of all, gained or lost."""
    shape = votes.shape[:-1]
    step = np.floor(np.exp(rng.random(shape) * math.log(votes[0, 0].sum() / 2 + 1.0)))
    return np.asarray(np.where(rng.random(shape) < 0.5, step, -step).astype(np.int64))
