"""The stated prior over histograms: a few classes contend, the others share what is left.

Each class contends with probability w. The votes of the rest, R of them, are uniform from 0 to N;
contenders share N - R as a flat Dirichlet-multinomial, the rest share R as a Dirichlet-multinomial
of concentration a for each class. (With no contender, or nobody else, all votes are shared one
way.) w is uniform below one half, a is uniform over a log grid, and both belong to all histograms
that are attacked together: many of them fit both (hierarchical Bayes), one is averaged over them.
One concentration for all classes would take a clear winner as a sign that the others are uneven.
"""

from functools import lru_cache

import numpy as np
from scipy.special import betainc, betaincinv, gammaln

from ..reference.arrays import Flags, Integers, Matrix

Votes = Integers
Contends = Flags

CONCENTRATIONS = np.geomspace(0.01, 30.0, 25)
"""Concentrations per class: at 0.01 one class takes nearly all of the rest, at 30 they are even."""

_TABULATED = 20_000  # teachers up to whom a table of factors is worth its making

MOST_CONTEND = 0.5
"""The largest w: beyond it, contenders and the rest would only trade names."""


def log_prior(votes: Votes, contends: Contends, concentration: Matrix) -> Matrix:
    """Log-probability (...) of votes (..., c) given who contends (..., c) and a (...)."""
    classes = votes.shape[-1]
    a = concentration[..., None]
    factor = _log_factor(votes, a)
    rest = np.where(contends, 0, votes).sum(-1)
    shares = classes - contends.sum(-1)
    return np.asarray(
        np.where(contends, 0.0, factor).sum(-1)
        + _rest(rest, shares, concentration)
        + _frame(votes.sum(-1), rest, contends.sum(-1), classes)
    )


def _log_factor(votes: Votes | Matrix, a: Matrix) -> Matrix:
    """Log Gamma(v + a) / (Gamma(a) v!) of votes v."""
    return np.asarray(gammaln(votes + a) - gammaln(a) - gammaln(votes + 1.0))


def _rest(rest: Votes, shares: Votes, concentration: Matrix) -> Matrix:
    """Log R! Gamma(n a) / Gamma(R + n a), the normaliser of a Dirichlet-multinomial."""
    total = np.maximum(shares, 1) * concentration
    whole = gammaln(rest + 1.0) + gammaln(total) - gammaln(rest + total)
    return np.asarray(np.where(shares > 0, whole, 0.0))


def _frame(total: Votes, rest: Votes, contenders: Votes, classes: int) -> Matrix:
    """The law of R, and of the contenders' votes given it: one over the number of ways."""
    many = np.maximum(contenders, 1)
    ways = gammaln(total - rest + many) - gammaln(many) - gammaln(total - rest + 1.0)
    impossible = (contenders == 0) & (rest < total)
    split = (contenders > 0) & (contenders < classes)
    log_p = np.where(contenders > 0, -ways, 0.0) - np.where(split, np.log(total + 1.0), 0.0)
    return np.asarray(np.where(impossible, -np.inf, log_p))


@lru_cache(maxsize=4)
def _factors(total: int) -> Matrix:
    """`_log_factor` of votes to `total`, for each concentration."""
    return _log_factor(np.arange(total + 1.0), CONCENTRATIONS[:, None])


class PriorOfVotes:
    """`log_prior` up to a constant, while concentrations and how many contend stay as they are.

    votes (s, b, c), of which the total matters, contends (s, b, c), concentration (s,).
    """

    def __init__(self, votes: Votes, contends: Contends, concentration: Matrix) -> None:
        self.total = int(votes[0, 0].sum())
        self.a = concentration[:, None]
        contenders = contends.sum(-1)
        self.shared = np.maximum(votes.shape[-1] - contenders, 1) * self.a
        self.any, self.others = contenders > 0, np.maximum(contenders, 1)
        if self.total <= _TABULATED:
            self.table = _factors(self.total).reshape(-1)
            rows = np.abs(CONCENTRATIONS - self.a).argmin(-1) * (self.total + 1)
            self.rows = rows[:, None, None]

    def value(self, votes: Votes, contends: Contends) -> Matrix:
        """Log-prior (s, b) of votes (s, b, c); minus infinity where one is negative."""
        possible = votes.min(-1) >= 0
        inside = np.where(contends | (votes < 0), 0, votes)  # which has a factor of 1
        factor = self._factor(np.minimum(inside, self.total)).sum(-1)
        rest = np.minimum(inside.sum(-1), self.total)
        lead = self.total - rest
        ways = gammaln(lead + self.others) - gammaln(lead + 1.0)
        value = factor + gammaln(rest + 1.0) - gammaln(rest + self.shared) - self.any * ways
        return np.asarray(np.where(possible, value, -np.inf))

    def _factor(self, votes: Votes) -> Matrix:
        if self.total <= _TABULATED:
            return np.asarray(self.table[self.rows + votes])
        return _log_factor(votes, self.a[..., None])


def draw_contends(
    votes: Votes, contends: Contends, concentration: Matrix, share: Matrix, rng: np.random.Generator
) -> Contends:
    """Who contends (s, b, c), redrawn class by class; concentration and share w are (s,)."""
    a, w = concentration[:, None], share[:, None]
    classes, total = votes.shape[-1], votes.sum(-1)
    contends = contends.copy()
    factors = _log_factor(votes, a[..., None])
    rest, contenders = np.where(contends, 0, votes).sum(-1), contends.sum(-1)
    frames = _rest(rest, classes - contenders, a) + _frame(total, rest, contenders, classes)
    for label in range(classes):
        sign = np.where(contends[..., label], -1, 1)  # who does not contend yet would
        new_rest, new = rest - sign * votes[..., label], contenders + sign
        there = _rest(new_rest, classes - new, a) + _frame(total, new_rest, new, classes)
        odds = sign * (np.log(w / (1.0 - w)) - factors[..., label])
        moves = rng.logistic(size=rest.shape) < there - frames + odds
        contends[..., label] ^= moves
        rest, contenders = np.where(moves, new_rest, rest), np.where(moves, new, contenders)
        frames = np.where(moves, there, frames)
    return contends


def draw_concentration(votes: Votes, contends: Contends, rng: np.random.Generator) -> Matrix:
    """Concentrations (s,) given histograms (s, b, c) and who contends, exactly on the grid."""
    a = CONCENTRATIONS
    factor = gammaln(votes[..., None] + a) - gammaln(a)
    rest = np.where(contends, 0, votes).sum(-1)[..., None]
    shares = votes.shape[-1] - contends.sum(-1)[..., None]
    log_p = np.where(contends[..., None], 0.0, factor).sum(2) + _rest(rest, shares, a)
    gumbel = rng.gumbel(size=(len(votes), a.size))  # the largest of log p plus Gumbel is a draw
    return np.asarray(a[(log_p.sum(1) + gumbel).argmax(-1)])


def draw_share(contends: Contends, rng: np.random.Generator) -> Matrix:
    """Shares w (s,) of classes that contend, given who does (s, b, c): a Beta law, cut at 1/2."""
    found = contends.sum((1, 2))
    law = 1.0 + found, 1.0 + contends[0].size - found
    drawn = betaincinv(*law, rng.random(found.shape) * betainc(*law, MOST_CONTEND))
    return np.asarray(np.clip(np.nan_to_num(drawn, nan=MOST_CONTEND), 1e-12, MOST_CONTEND))
