"""The votes that make the answers likeliest: a concave problem, solved with a certificate.

log Q_k is concave in the votes for log-concave noise (Prékopa 1973; Wang et al. 2022, Theorem 1,
gives Q), so no descent on ||Q(H) - q||, which is not convex, is needed.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix
from .answers import Answers, Likelihood
from .interior_point import Optimum, Polytope, maximise

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class EqualVotes:
    """The groups of the classes (c,) of one query's answers.

    place: the group (c,) of each class; first: a class (m,) of each group; multiplicity: how many
    classes (m,) a group has. There are two groups at least, and a leader is in one of its own.
    Exchanging the votes of two classes that were seen equally often leaves the likelihood as it is,
    and the votes allowed are convex and know no order of the classes but for a leader. So the mean
    of the likeliest votes and all their exchanges is as likely, by concavity, and in it these have
    equal votes: a fit finds each number once.
    """

    place: Rows
    first: Rows
    multiplicity: Matrix

    @classmethod
    def among(cls, counts: Matrix, leader: int | None) -> "EqualVotes":
        """The groups of counts (batches, c)."""
        alone = np.zeros(counts.shape[1])
        if leader is not None or (counts == counts[:, :1]).all():
            alone[leader or 0] = 1.0
        _, first, place, many = np.unique(
            np.vstack([counts, alone]),
            axis=1,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        return cls(place.reshape(-1), first, many.astype(np.float64))

    def likelihood(self, classes: Likelihood) -> Likelihood:
        """The likelihood of the groups' votes (1, m), from that of the classes' votes (1, c)."""
        parts = []
        for answers in classes.answers:
            labels = answers.labels[:, self.first] * self.multiplicity
            refusals = answers.refusals[:, None] if answers.refuses else np.empty((1, 0))
            parts.append(Answers(np.concatenate([labels, refusals], -1), answers.mechanism))
        return Likelihood(parts, self.multiplicity)

    def polytope(self, classes: Polytope) -> Polytope:
        """Where the votes of the groups may lie, from where those of the classes may."""
        leader = None if classes.leader is None else int(self.place[classes.leader])
        return replace(
            classes, classes=self.first.size, leader=leader, multiplicity=self.multiplicity
        )


CERTIFIED = 1e-10
"""Nats a query by which better votes may at most exceed the likelihood of a converged fit."""

_TO_TIE = 0.1  # of the way, so that a fit starts inside its bounds
_GROUP_FROM = 64  # classes from which those seen equally often are worth finding


@dataclass(frozen=True)
class Fit:
    """Votes (b, c), log-likelihood (b,) less the multinomial coefficient, and its certificate.

    gap: nats (b,) by which no other votes can exceed the log-likelihood, where the number of
    teachers is known; by which a quadratic model says so, where it is not.
    converged: (b,) whether the gap is at most `CERTIFIED` nats per query.
    """

    votes: Matrix
    log_likelihood: Matrix
    gap: Matrix
    converged: NDArray[np.bool_]


def maximum_likelihood(likelihood: Likelihood, teachers: int | None) -> Fit:
    """The likeliest votes: not negative and with sum `teachers`, where that is known.

    Where it is not, votes are relative to the leader's, which has 0, and classes never seen have
    minus infinity; but refusals tell how the leader stands to the threshold, and with any the votes
    are not negative and no longer relative.
    """
    if likelihood.screened and teachers is None:
        best = _by_refusals(likelihood)
    elif likelihood.screened:
        best = _best_of_leaders(likelihood, teachers)
    elif teachers is not None:
        best = _fit(likelihood, Polytope(likelihood.shape[-1], teachers, None, True))
    else:
        best = _up_to_a_shift(likelihood)
    queries = likelihood.queries
    return Fit(best.votes, best.log_likelihood, best.gap, best.gap <= CERTIFIED * queries)


def _fit(likelihood: Likelihood, polytope: Polytope) -> Optimum:
    """The maximum, sought from a guess; many classes row by row, each with its `EqualVotes`."""
    guess = _guess(likelihood, polytope)
    if polytope.classes < _GROUP_FROM:
        return maximise(likelihood, polytope, polytope.inner_point(guess))
    best = Optimum(guess, np.zeros(len(guess)), np.zeros(len(guess)))
    for row in range(len(guess)):
        equal = EqualVotes.among(likelihood.counts[:, row], polytope.leader)
        part, groups = likelihood.rows(np.array([row])), equal.polytope(polytope)
        start = groups.inner_point(guess[row : row + 1, equal.first])
        found = maximise(equal.likelihood(part), groups, start)
        best.votes[row], best.gap[row] = found.votes[0, equal.place], found.gap[0]
        best.log_likelihood[row] = found.log_likelihood[0]
    return best


def _guess(likelihood: Likelihood, polytope: Polytope) -> Matrix:
    """Positive votes (b, c) from which few steps lead to the likeliest.

    A share of the labels e times another's is about a scale of the noise over the place of the
    largest of c, sqrt(2 log c). Those votes are moved to the nearest that are not negative and have
    the total, and a part of the way to a tie. Without a total: halfway between shares and a tie.
    """
    shares = likelihood.counts.sum(0) + 1.0
    shares /= shares.sum(-1, keepdims=True)
    classes = polytope.classes
    scale = max(answers.mechanism.noise.scale for answers in likelihood.answers)
    if polytope.teachers is None:
        return np.asarray(scale * (shares + 1.0 / classes))
    likely = scale * np.log(shares) / np.sqrt(2.0 * np.log(classes))
    ranked = -np.sort(-likely, -1)
    shift = (polytope.teachers - ranked.cumsum(-1)) / np.arange(1, classes + 1)
    last = (ranked + shift > 0).sum(-1, keepdims=True) - 1  # of those with votes
    votes = np.maximum(likely + np.take_along_axis(shift, last, -1), 0.0)
    return np.asarray((1.0 - _TO_TIE) * votes + _TO_TIE * polytope.teachers / classes)


def _by_refusals(likelihood: Likelihood) -> Optimum:
    """Without teachers: absolute where something was refused, else up to a shift.

    Where nothing was refused, a leader further above the threshold is always likelier.
    """
    refused = np.sum([answers.refusals for answers in likelihood.answers], axis=0) > 0
    rows, classes = refused.size, likelihood.shape[-1]
    best = Optimum(np.zeros((rows, classes)), np.zeros(rows), np.zeros(rows))
    for index in (np.flatnonzero(refused), np.flatnonzero(~refused)):
        if index.size == 0:
            continue
        part = likelihood.rows(index)
        found = _best_of_leaders(part, None) if refused[index[0]] else _up_to_a_shift(part.answered)
        best.votes[index], best.gap[index] = found.votes, found.gap
        best.log_likelihood[index] = found.log_likelihood
    return best


def _best_of_leaders(likelihood: Likelihood, teachers: int | None) -> Optimum:
    """One concave fit per class that may lead; the best of them, and what the rest leave open."""
    rows, classes = len(likelihood.queries), likelihood.shape[-1]
    best = Optimum(np.zeros((rows, classes)), np.full(rows, -np.inf), np.full(rows, np.inf))
    ceiling = np.full(rows, -np.inf)
    may_lead = _may_lead(likelihood.counts)
    for leader in range(classes):
        index = np.flatnonzero(may_lead[:, leader])
        if index.size == 0:
            continue
        found = _fit(likelihood.rows(index), Polytope(classes, teachers, leader, True))
        ceiling[index] = np.maximum(ceiling[index], found.log_likelihood + found.gap)
        better = found.log_likelihood > best.log_likelihood[index]
        best.votes[index[better]] = found.votes[better]
        best.log_likelihood[index[better]] = found.log_likelihood[better]
    best.gap = ceiling - best.log_likelihood
    return best


def _may_lead(counts: Matrix) -> NDArray[np.bool_]:
    """Classes (b, c) whose lead no exchange of votes can make likelier; counts (batches, b, c).

    If class a was seen no more often than b in every batch, exchanging their votes where a leads
    makes the answers no less likely: Q_a >= Q_b where H_a >= H_b, the rest of Q stays, and so does
    the largest count. Of equals the first is kept.
    """
    less = (counts[:, :, :, None] <= counts[:, :, None, :]).all(0)
    equal = (counts[:, :, :, None] == counts[:, :, None, :]).all(0)
    first = np.tri(counts.shape[-1], k=-1, dtype=bool)  # [a, b]: b comes before a
    return np.asarray(~(less & (~equal | first)).any(-1))


def _up_to_a_shift(likelihood: Likelihood) -> Optimum:
    """Fits without bounds, of the classes seen; the others fit best infinitely far behind."""
    counts = likelihood.counts.sum(0)
    rows, classes = counts.shape
    best = Optimum(np.full((rows, classes), -np.inf), np.zeros(rows), np.zeros(rows))
    patterns, place = np.unique(counts > 0, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        index, seen = np.flatnonzero(place == i), np.flatnonzero(pattern)
        if seen.size < 2:  # nothing to compare: with no label at all, no class is behind
            best.votes[np.ix_(index, seen if seen.size else np.arange(classes))] = 0.0
            continue
        part = likelihood.rows(index).classes(seen)
        found = _fit(part, Polytope(seen.size, None, None, False))
        relative = found.votes - found.votes.max(-1, keepdims=True)
        best.votes[np.ix_(index, seen)] = relative
        best.log_likelihood[index], best.gap[index] = found.log_likelihood, found.gap
    return best
