"""A primal-dual interior-point method for many small concave problems at once.

Fisher scoring in place of Newton's method: the expected curvature comes with the gradient and is
never indefinite. Mehrotra's choice of the centring, a backtracking line search on the barrier
(Nocedal and Wright 2006, chapters 16.6 and 19.3). Rows that are done leave the batch.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Polytope:
    """Votes (c,) with A H >= 0, and with sum `teachers` where that is a number.

    leader: the class that must be ahead of all, or None; bounded_below: whether votes are known
    to be non-negative, which means nothing while they are known up to a shift only;
    multiplicity: how many classes (c,) each entry stands for, all with its votes; one each when
    None. A leader stands for itself.
    """

    classes: int
    teachers: float | None
    leader: int | None
    bounded_below: bool
    multiplicity: Matrix | None = None

    @cached_property
    def weights(self) -> Matrix:
        """How often each entry (c,) counts in the total."""
        return np.ones(self.classes) if self.multiplicity is None else self.multiplicity

    @cached_property
    def inequalities(self) -> Matrix:
        """A, shape (m, c)."""
        identity = np.eye(self.classes)
        parts = [identity] if self.bounded_below else []
        if self.leader is not None:
            behind = np.delete(identity, self.leader, axis=0)
            parts.append(identity[self.leader] - behind)
        return np.concatenate(parts) if parts else np.empty((0, self.classes))

    @property
    def total_matters(self) -> bool:
        """Whether the answers must show the total: it is unknown, and a threshold depends on it."""
        return self.teachers is None and self.leader is not None

    def inner_point(self, guess: Matrix) -> Matrix:
        """Strictly feasible votes (b, c) near positive guesses (b, c).

        The leader is raised a tenth above the largest, then all are scaled to the total.
        """
        votes = guess.copy()
        if self.leader is not None:
            votes[:, self.leader] = 1.1 * votes.max(-1)
        if self.teachers is None:
            return votes
        return np.asarray(votes * (self.teachers / (votes @ self.weights))[:, None])

    def room(self, gradient: Matrix, votes: Matrix) -> Matrix:
        """The most (b,) that a concave function with this gradient at `votes` can still gain.

        The linear bound f(x) <= f(votes) + gradient (x - votes), largest at a vertex: all votes
        shared equally among the leader and the best others (Frank-Wolfe's duality gap).
        Infinite where the total is unknown, as the polytope has no end then.
        """
        if self.teachers is None:
            return np.full(votes.shape[0], np.inf)
        each = gradient / self.weights
        if self.leader is None:
            best = each.max(-1)
        else:
            order = np.argsort(-np.where(np.arange(self.classes) == self.leader, np.inf, each), -1)
            ahead = np.take_along_axis(gradient, order, -1).cumsum(-1)
            best = (ahead / self.weights[order].cumsum(-1)).max(-1)
        gap = (votes * self.weights * (best[:, None] - each)).sum(-1)  # as the votes sum to N
        return np.asarray(np.maximum(gap, 0.0))  # rounding may end a hair below


TOLERANCE = 1e-12
"""Nats a query by which better votes may still exceed the likelihood when a fit ends."""

_MOST_STEPS = 100
_MOST_HALVINGS = 40
_STALLED = 8  # steps without half the gap, after which a row next to its optimum leaves
_CLOSE = 1e-6  # nats per query: how near that is
_TO_BOUNDARY = 0.995  # of the way to where a slack or a multiplier would vanish
_SUFFICIENT = 1e-4  # of the linear gain that a step must keep (Armijo)
_ROUNDING = 1e-14  # of a log-likelihood, a query and relative to it


class Concave(Protocol):
    """What is maximised: a concave function of each row's votes."""

    @property
    def queries(self) -> Matrix:
        """Scale (b,) of the values, for the tolerance."""

    def rows(self, index: Rows) -> Self:
        """The functions of some of the rows."""

    def derivatives(self, votes: Matrix, leader: Rows) -> tuple[Matrix, Matrix, Matrix]:
        """Values (b,), gradients (b, c) and expected curvatures (b, c, c), none indefinite."""


@dataclass
class Optimum:
    """Votes (b, c), their log-likelihood (b,), and the nats (b,) that no votes can beat it by."""

    votes: Matrix
    log_likelihood: Matrix
    gap: Matrix


@dataclass
class _Rows:
    """Where the rows stand: everything has the row as first axis.

    slack: A votes, carried along rather than computed anew, as a difference of large votes could
    come out as zero.
    """

    row: Rows
    votes: Matrix
    slack: Matrix
    multipliers: Matrix
    value: Matrix
    gradient: Matrix
    information: Matrix

    def at(self, index: Rows) -> "_Rows":
        return _Rows(*(getattr(self, field.name)[index] for field in fields(self)))

    def put(self, index: Rows, other: "_Rows") -> None:
        for field in fields(self):
            getattr(self, field.name)[index] = getattr(other, field.name)


@dataclass
class _Direction:
    """A step for votes and multipliers, the barrier's weight (b,) and its linear gain (b,)."""

    votes: Matrix
    multipliers: Matrix
    weight: Matrix
    gain: Matrix
    decrement: Matrix


def maximise(likelihood: Concave, polytope: Polytope, start: Matrix) -> Optimum:
    """The votes (b, c) of largest likelihood in the polytope, from strictly feasible ones."""
    return _InteriorPoint(likelihood, polytope).run(start)


class _InteriorPoint:
    def __init__(self, likelihood: Concave, polytope: Polytope) -> None:
        self.likelihood, self.polytope = likelihood, polytope
        self.a = polytope.inequalities
        self.tolerance = TOLERANCE * likelihood.queries
        self.mark = np.full(likelihood.queries.shape, np.inf)  # gaps when they halved last
        self.waited = np.zeros(likelihood.queries.shape, dtype=np.intp)  # steps since

    def run(self, start: Matrix) -> Optimum:
        rows = np.arange(len(start))
        best = Optimum(start.copy(), np.full(len(start), -np.inf), np.full(len(start), np.inf))
        slack = start @ self.a.T
        state = self._evaluate(rows, start, slack, np.zeros_like(slack))
        room = self.polytope.room(state.gradient, state.votes)
        room = np.where(np.isfinite(room), np.maximum(room, 1e-6), self.likelihood.queries + 1.0)
        state.multipliers = (room / max(len(self.a), 1))[:, None] / slack
        for _ in range(_MOST_STEPS):
            direction = self._direction(state)
            gap = self._gap(state, direction)
            better = gap < best.gap[state.row]
            rows = state.row[better]
            best.votes[rows], best.gap[rows] = state.votes[better], gap[better]
            best.log_likelihood[rows] = state.value[better]
            going = np.flatnonzero((gap > self.tolerance[state.row]) & ~self._stalled(state, gap))
            state = self._advance(state.at(going), _rows(direction, going))
            if state.row.size == 0:
                break
        return best

    def _stalled(self, state: _Rows, gap: Matrix) -> NDArray[np.bool_]:
        """Rows (b,) next to their optimum whose gap has not halved for some steps: it is rounding.

        A gradient is exact to 1e-12 of its terms, and its error counts times all votes in the gap,
        so that the tolerance is out of reach where votes are very many scales.
        """
        row = state.row
        halved = gap <= 0.5 * self.mark[row]
        self.mark[row[halved]] = gap[halved]
        self.waited[row] = np.where(halved, 0, self.waited[row] + 1)
        return (self.waited[row] >= _STALLED) & (gap <= _CLOSE * self.likelihood.queries[row])

    def _evaluate(self, rows: Rows, votes: Matrix, slack: Matrix, multipliers: Matrix) -> _Rows:
        leader = np.full(len(rows), -1 if self.polytope.leader is None else self.polytope.leader)
        part = self.likelihood.rows(rows)
        return _Rows(rows, votes, slack, multipliers, *part.derivatives(votes, leader))

    def _direction(self, state: _Rows) -> _Direction:
        """Mehrotra: how far the way to the optimum itself is open decides how much to centre."""
        slack = state.slack
        ratio = state.multipliers / slack
        bend = state.information + (self.a.T * ratio[:, None, :]) @ self.a
        push = (1.0 / slack) @ self.a
        sides = np.stack([state.gradient, push], -1)
        straight, centring = np.moveaxis(self._solve(bend, sides), -1, 0)
        complementarity = (slack * state.multipliers).sum(-1) / max(len(self.a), 1)
        ahead = straight @ self.a.T
        open_way = _open(slack, ahead, 1.0)
        weight = complementarity * np.maximum((1.0 - open_way) ** 3, 1e-8)
        step = straight + weight[:, None] * centring
        moved = step @ self.a.T
        multipliers = weight[:, None] / slack - state.multipliers - ratio * moved
        slope = state.gradient + weight[:, None] * push
        return _Direction(
            step,
            multipliers,
            weight,
            (slope * step).sum(-1),
            0.5 * (state.gradient * straight).sum(-1) + complementarity * len(self.a),
        )

    def _solve(self, bend: Matrix, sides: Matrix) -> Matrix:
        """Solutions (b, c, n), without change of the total where it is fixed or free to choose."""
        rows, classes, columns = sides.shape
        scale = np.trace(bend, axis1=1, axis2=2)[:, None, None] / classes + 1e-300
        if self.polytope.total_matters:
            return np.asarray(_solved(bend / scale, sides) / scale)
        system = np.zeros((rows, classes + 1, classes + 1))
        system[:, :classes, :classes] = bend / scale
        system[:, classes, :classes] = system[:, :classes, classes] = self.polytope.weights
        zeros = np.zeros((rows, 1, columns))
        return _solved(system, np.concatenate([sides / scale, zeros], 1))[:, :classes]

    def _gap(self, state: _Rows, direction: _Direction) -> Matrix:
        """A bound where the polytope has an end; where it has none, the quadratic model's."""
        room = self.polytope.room(state.gradient, state.votes)
        return np.where(np.isfinite(room), room, np.maximum(direction.decrement, 0.0))

    def _advance(self, state: _Rows, direction: _Direction) -> _Rows:
        """The rows after a step that raises the barrier enough; rows that cannot move leave."""
        ahead = direction.votes @ self.a.T
        length = _open(state.slack, ahead, _TO_BOUNDARY)
        dual = _open(state.multipliers, direction.multipliers, _TO_BOUNDARY)
        multipliers = state.multipliers + dual[:, None] * direction.multipliers
        merit = state.value + direction.weight * np.log(state.slack).sum(-1)
        allowed = _ROUNDING * (self.likelihood.queries[state.row] + np.abs(merit))
        arrived = state.at(np.arange(state.row.size))
        open_rows = np.arange(state.row.size)
        for _ in range(_MOST_HALVINGS):
            if open_rows.size == 0:
                break
            step = length[open_rows, None]
            votes = state.votes[open_rows] + step * direction.votes[open_rows]
            slack = state.slack[open_rows] + step * ahead[open_rows]
            trial = self._evaluate(state.row[open_rows], votes, slack, multipliers[open_rows])
            barrier = direction.weight[open_rows] * np.log(slack).sum(-1)
            needed = merit + _SUFFICIENT * length * direction.gain - allowed
            good = trial.value + barrier >= needed[open_rows]
            arrived.put(open_rows[good], trial.at(np.flatnonzero(good)))
            open_rows = open_rows[~good]
            length[open_rows] *= 0.5
        stuck = np.zeros(state.row.size, dtype=bool)
        stuck[open_rows] = True
        return arrived.at(np.flatnonzero(~stuck))


def _solved(systems: Matrix, sides: Matrix) -> Matrix:
    """Solutions (b, n, m) of symmetric systems (b, n, n); where one is singular, the shortest.

    Rounding makes them so when votes are so many scales apart that labels say nothing of them.
    """
    try:
        return np.asarray(np.linalg.solve(systems, sides))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(systems, hermitian=True) @ sides)


def _open(values: Matrix, change: Matrix, share: float) -> Matrix:
    """The step (b,), at most 1, that takes positive values `share` of the way to zero at most."""
    with np.errstate(divide="ignore"):
        steps = np.where(change < 0, -share * values / change, np.inf)
    return np.asarray(np.minimum(1.0, steps.min(-1, initial=np.inf)))


def _rows(direction: _Direction, index: Rows) -> _Direction:
    return _Direction(*(getattr(direction, field.name)[index] for field in fields(direction)))
