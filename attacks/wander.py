"""Many small steps under the surrogate: what makes one proposal for the exact likelihood.

The steps are drawn for many chains and many steps at once, as none but the exchange of two classes
depends on where a chain is; what a step adds to the surrogate's linear part is then one product of
matrices for all. No step changes how many classes contend, so that of the prior only what depends
on the votes is computed.

Votes are (s, b, c): s chains for each of b histograms of one total; a change has the shape of what
it is added to, or one more axis in front. A move from H to H' is as likely as its way back, so that
it needs no correction; where it leaves the histograms (a negative count) the chain declines it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..reference import Noise, log_derivatives, log_probabilities
from ..reference.arrays import Matrix
from .answers import Answers, Likelihood
from .prior import PriorOfVotes

Contends = NDArray[np.bool_]
Shape = tuple[int, ...]
Votes = NDArray[np.int64]
Taken = NDArray[np.bool_]
Rows = NDArray[np.intp]

_STEP = 0.25  # of the noise's scale, over which log Q is compared with its slope
_MOST = 50.0  # of a log Q that the surrogate gets wrong, so that its exponential stays finite


class Surrogate:
    """log Q of each class, linear in the votes, and curved in the class's distance to the leader.

    likelihood: of b histograms; centre: votes (b, c) around which it is good; anchor: (b,) the
    class that leads there. What it gets wrong costs acceptance, never correctness.
    """

    def __init__(self, likelihood: Likelihood, centre: Matrix, anchor: Rows) -> None:
        self.centre, self.anchor = centre, anchor
        self.each = np.arange(len(anchor))
        self.parts = [_Expansion(a, centre, anchor) for a in likelihood.answers]

    def distance(self, change: Matrix | Votes) -> Matrix:
        """Changes (..., b, c) of the classes less that of the leader."""
        return np.asarray(change - change[..., self.each, self.anchor][..., None])

    def tilts(self, change: Matrix | Votes) -> list[Matrix]:
        """What changes of votes (..., b, c) add to the linear part of each batch's log Q."""
        return [part.tilt(change) for part in self.parts]

    def value(self, votes: Votes) -> Matrix:
        """About the log-likelihood (s, b) of votes (s, b, c), up to a constant of each row."""
        away = votes - self.centre
        return self.valued(self.tilts(away), np.square(self.distance(away)), votes)

    def valued(self, tilts: list[Matrix], squares: Matrix, votes: Votes) -> Matrix:
        """`value`, given the linear parts and the squared distances of these votes."""
        parts = zip(self.parts, tilts, strict=True)
        return np.asarray(sum(part.value(tilt, squares, votes) for part, tilt in parts))


class _Expansion:
    """At the centre, of one batch: log Q (b, c), its slopes (b, c, c), half its curvatures."""

    def __init__(self, answers: Answers, centre: Matrix, anchor: Rows) -> None:
        self.answers = answers
        self.log_q, slopes = log_derivatives(centre, answers.mechanism.noise)
        self.slopes = np.swapaxes(slopes, 1, 2).copy()
        self.bends = _bends(centre, anchor, self.log_q, slopes, answers.mechanism.noise)
        self.labels, self.answered = answers.labels, answers.labels.sum(-1)

    def tilt(self, change: Matrix | Votes) -> Matrix:
        return np.asarray(np.moveaxis(np.moveaxis(change, -2, -3) @ self.slopes, -3, -2))

    def value(self, tilt: Matrix, squares: Matrix, votes: Votes) -> Matrix:
        logs = squares * self.bends
        logs += tilt
        logs += self.log_q
        total = (logs * self.labels).sum(-1)
        mass = np.exp(np.minimum(logs, _MOST, out=logs), out=logs).sum(-1)
        total -= self.answered * np.log(np.maximum(mass, 1e-300))
        if self.answers.refuses:
            total += self.answers.screening_value(votes.max(-1))
        return np.asarray(total)


def _bends(centre: Matrix, anchor: Rows, log_q: Matrix, slopes: Matrix, noise: Noise) -> Matrix:
    """Half the curvatures (b, c) of each class's log Q by its own votes; 0 for the anchor's."""
    rows, classes = centre.shape
    step, every = _STEP * noise.scale, np.arange(classes)
    moved = centre[:, None, :] + step * np.eye(classes)
    there = log_probabilities(moved, noise)[:, every, every]
    bends = (there - log_q - step * slopes[:, every, every]) / step**2
    bends[np.arange(rows), anchor] = 0.0
    return np.asarray(np.minimum(bends, 0.0))  # log Q is concave, but for rounding


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


PAIR, GROUP, SPREAD, SWAP = range(4)
_ELEMENTS = 1 << 19  # of the changes that are drawn at once


class Wander:
    """Chains at votes (s, b, c), roles (s, b, c) and concentrations (s,), and their values (s, b).

    start: the surrogate's value where the chains set out.
    """

    def __init__(
        self, surrogate: Surrogate, votes: Votes, contends: Taken, concentration: Matrix
    ) -> None:
        self.surrogate, self.votes, self.contends = surrogate, votes.copy(), contends.copy()
        away = votes - surrogate.centre
        self.tilts, self.distance = surrogate.tilts(away), surrogate.distance(away)
        self.prior = PriorOfVotes(votes, contends, concentration)
        self.value = surrogate.valued(self.tilts, np.square(self.distance), votes)
        self.log_prior = self.prior.value(votes, contends)
        self.start = self.value.copy()

    def run(self, steps: int, order: Rows, spread: Matrix, rng: np.random.Generator) -> None:
        """Takes `steps` steps, which order (b, c) and spread (b, c, c) shape as they do changes.

        Steps 4 k + 3 in number go through the kinds of moves in a palindrome, so that the way back
        is as likely as the way there.
        """
        shape, anchor = self.votes.shape, self.surrogate.anchor
        total = int(self.votes[0, 0].sum())
        coins = rng.random(steps) < 0.5  # group or spread: taking turns would break the palindrome
        kinds = np.where(np.arange(steps) % 4 == 1, np.where(coins, GROUP, SPREAD), PAIR)
        kinds[3::4] = SWAP
        log_u = np.log(rng.random((steps, *shape[:-1])))
        size = max(1, _ELEMENTS // self.votes.size)
        for first in range(0, steps, size):
            block = kinds[first : first + size]
            change = np.zeros((block.size, *shape), dtype=np.int64)
            for kind in (PAIR, GROUP, SPREAD):
                where = np.flatnonzero(block == kind)
                many = (where.size, *shape)
                if kind == PAIR:
                    change[where] = pair_change(many, total, anchor, rng)
                elif kind == GROUP:
                    change[where] = group_change(many, total, order, rng)
                else:
                    change[where] = spread_change(many, anchor, spread, rng)
            tilts, away = self.surrogate.tilts(change), self.surrogate.distance(change)
            for i, kind in enumerate(block):
                if kind == SWAP:
                    self._exchange(log_u[first + i], rng)
                else:
                    added = [tilt[i] for tilt in tilts]
                    self._try(change[i], added, away[i], None, log_u[first + i])

    def _exchange(self, log_u: Matrix, rng: np.random.Generator) -> None:
        votes, contends = swap(self.votes, self.contends, rng)
        change = votes - self.votes
        self._try(
            change, self.surrogate.tilts(change), self.surrogate.distance(change), contends, log_u
        )

    def _try(
        self,
        change: Votes,
        added: list[Matrix],
        away: Matrix,
        contends: Taken | None,
        log_u: Matrix,
    ) -> None:
        """Metropolis's rule for one step of every chain."""
        votes = self.votes + change
        tilts = [tilt + more for tilt, more in zip(self.tilts, added, strict=True)]
        distance = self.distance + away
        value = self.surrogate.valued(tilts, np.square(distance), votes)
        log_prior = self.prior.value(votes, self.contends if contends is None else contends)
        taken = log_u < (value - self.value) + (log_prior - self.log_prior)
        every = taken[..., None]
        np.copyto(self.votes, votes, where=every)
        np.copyto(self.distance, distance, where=every)
        for old, new in zip(self.tilts, tilts, strict=True):
            np.copyto(old, new, where=every)
        np.copyto(self.value, value, where=taken)
        np.copyto(self.log_prior, log_prior, where=taken)
        if contends is not None:
            np.copyto(self.contends, contends, where=every)
