"""Histograms drawn from their posterior: whole votes, by Markov chains whose law is exact.

Delayed acceptance (Christen and Fox 2005, Algorithm 1): many cheap steps under the surrogate make
one proposal, which the exact likelihood accepts or not. The prior is that of `prior`.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..reference.arrays import Flags, Integers, Matrix
from .answers import Likelihood
from .maximum_likelihood import maximum_likelihood
from .prior import CONCENTRATIONS, draw_concentration, draw_contends, draw_share, log_prior
from .wander import Surrogate, Wander, group_change, pair_change, spread_change

Votes = Integers
Taken = Flags

_CHAINS, _CHAINS_OF_FEW = 16, 32
_FEW = 32  # rows times classes, up to which steps take their time however many chains make them
_STAGES = (10, 10, 20)  # proposals after each of which the surrogate and the moves are fitted anew
_DRAWS = 1280  # kept, of all chains, before asking whether they agree
_LONGEST = 400  # proposals of a chain, while they do not: agreement depends on how long each is
_ENOUGH = 0.95  # of the histograms; the others are marked
_ROUNDS = 1.5  # of four cheap steps, a class and proposal
_EXACT_STEPS = 2  # under the exact likelihood, after each proposal
_SPREAD = 0.5  # of the posterior's spread, for moves of all classes together
_MIXED = 1.1  # potential scale reduction up to which chains count as one


@dataclass(frozen=True)
class PosteriorDraws:
    """Histograms (s, b, c) from the posterior.

    mixed: (b,) whether the chains agree (potential scale reduction below 1.1 in every class;
    Gelman and Rubin 1992); accepted: (b,) share of the last proposals that the exact likelihood
    accepted.
    """

    votes: Votes
    mixed: Flags
    accepted: Matrix


def sample_posterior(
    likelihood: Likelihood, teachers: int, rng: np.random.Generator, brief: bool = False
) -> PosteriorDraws:
    """Draws from the law of the votes (b, c) behind the answers, `teachers` in each histogram.

    brief: a quarter as many, once, whether the chains agree or not: for figures of many histograms
    together.
    """
    chains = _Chains(likelihood, maximum_likelihood(likelihood, teachers).votes, teachers, rng)
    for proposals in _STAGES:
        kept, _ = chains.run(proposals)
        chains.fit(kept[proposals // 2 :])
    each = (_DRAWS // 4 if brief else _DRAWS) // chains.votes.shape[0]
    kept, accepted = chains.run(each)
    longest = 0 if brief else _LONGEST
    while len(kept) + each <= longest and _mixed(kept).mean() < _ENOUGH:
        more, accepted = chains.run(each)
        kept = np.concatenate([kept, more])
    return PosteriorDraws(kept.reshape(-1, *kept.shape[2:]), _mixed(kept), accepted)


class _Chains:
    def __init__(
        self, likelihood: Likelihood, start: Matrix, teachers: int, rng: np.random.Generator
    ) -> None:
        self.likelihood, self.teachers, self.rng = likelihood, teachers, rng
        self.order = np.argsort(-start, -1, kind="stable")
        self.anchor = self.order[:, 0]
        self.surrogate = Surrogate(likelihood, start, self.anchor)
        deviations = _normal_spread(likelihood, start, teachers)
        self.spread = _SPREAD * deviations
        many = _CHAINS_OF_FEW if start.size <= _FEW else _CHAINS
        drawn = np.einsum("bij,sbj->sbi", deviations, rng.standard_normal((many, *start.shape)))
        scattered = np.maximum(start + drawn, 0.0)
        scattered *= teachers / np.maximum(scattered.sum(-1, keepdims=True), 1e-300)
        self.votes = _whole(scattered, teachers)
        self.exact = likelihood.value(self.votes.astype(np.float64))
        self.contends = np.repeat((start >= 0.5 * start.max(-1, keepdims=True))[None], many, 0)
        self.concentration = rng.choice(CONCENTRATIONS, many)
        self._draw_beliefs()

    def fit(self, kept: Votes) -> None:
        """Centres the surrogate and shapes the moves by votes (n, s, b, c) seen so far."""
        draws = kept.reshape(-1, *kept.shape[2:])
        centre = draws.mean(0)
        covariance = np.einsum("sbi,sbj->bij", draws - centre, draws - centre) / len(draws)
        variances, axes = np.linalg.eigh(covariance)
        self.spread = _SPREAD * axes * np.sqrt(np.maximum(variances, 0.0))[:, None, :]
        self.surrogate = Surrogate(self.likelihood, centre, self.anchor)

    def run(self, proposals: int) -> tuple[Votes, Matrix]:
        """Votes (proposals, s, b, c) along the chains, and the rate (b,) of acceptance."""
        kept = np.empty((proposals, *self.votes.shape), dtype=np.int64)
        accepted = np.zeros(self.votes.shape[1])
        for i in range(proposals):
            accepted += self._propose() / proposals
            for step in range(_EXACT_STEPS):
                self._step_exactly(step)
            self._draw_beliefs()
            kept[i] = self.votes
        return kept, accepted

    def _draw_beliefs(self) -> None:
        """Gibbs's steps for what the prior leaves open."""
        share = draw_share(self.contends, self.rng)
        self.contends = draw_contends(
            self.votes, self.contends, self.concentration, share, self.rng
        )
        self.concentration = draw_concentration(self.votes, self.contends, self.rng)

    def _propose(self) -> Matrix:
        """One proposal for every chain; returns the share (b,) of chains that took it."""
        way = Wander(self.surrogate, self.votes, self.contends, self.concentration)
        steps = 4 * math.ceil(_ROUNDS * self.votes.shape[-1]) + 3
        way.run(steps, self.order, self.spread, self.rng)
        new_exact = self.likelihood.value(way.votes.astype(np.float64))
        taken = self._takes((new_exact - self.exact) - (way.value - way.start))
        self._accept(taken, way.votes, way.contends, new_exact)
        return np.asarray(taken.mean(0))

    def _step_exactly(self, step: int) -> None:
        """One step under the exact likelihood: the way out of where the surrogate is too low."""
        moved = self.votes + self._change(step)
        possible = (moved >= 0).all(-1)
        moved = np.where(np.expand_dims(possible, -1), moved, self.votes)
        a = self.concentration[:, None]
        ratio = log_prior(moved, self.contends, a) - log_prior(self.votes, self.contends, a)
        exact = self.likelihood.value(moved.astype(np.float64))
        taken = self._takes(np.where(possible, exact - self.exact + ratio, -np.inf))
        self._accept(taken, moved, self.contends, exact)

    def _accept(self, taken: Taken, votes: Votes, contends: Taken, exact: Matrix) -> None:
        """Goes on from the new votes and roles in the chains and rows that take them, (s, b)."""
        every = np.expand_dims(taken, -1)
        self.votes = np.where(every, votes, self.votes)
        self.contends = np.where(every, contends, self.contends)
        self.exact = np.where(taken, exact, self.exact)

    def _change(self, step: int) -> Votes:
        shape = self.votes.shape
        if step % 2 == 0:
            return pair_change(shape, self.teachers, self.anchor, self.rng)
        if self.rng.random() < 0.5:
            return group_change(shape, self.teachers, self.order, self.rng)
        return spread_change(shape, self.anchor, self.spread, self.rng)

    def _takes(self, log_ratio: Matrix) -> Taken:
        """Metropolis's rule."""
        return np.asarray(np.log(self.rng.random(log_ratio.shape)) < log_ratio)


def _normal_spread(likelihood: Likelihood, votes: Matrix, teachers: int) -> Matrix:
    """A root (b, c, c) of the covariance that the Fisher information alone would give.

    From it the chains start apart, and agree only once they have found the same law. What the
    information leaves open reaches a quarter of the votes.
    """
    information = likelihood.derivatives(votes, votes.argmax(-1))[2]
    classes = votes.shape[1]
    centred = np.eye(classes) - 1.0 / classes
    values, axes = np.linalg.eigh(centred @ information @ centred)
    deviations = np.minimum(1.0 / np.sqrt(np.maximum(values, 1e-300)), teachers / 4.0)
    return np.asarray(centred @ (axes * deviations[:, None, :]))


def _whole(votes: Matrix, teachers: int) -> Votes:
    """Whole votes (..., c) with sum `teachers` near real ones: the largest remainders round up."""
    whole = np.floor(votes).astype(np.int64)
    missing = teachers - whole.sum(-1)
    rank = np.argsort(np.argsort(whole - votes, -1), -1)
    return np.asarray(whole + (rank < missing[..., None]))


def _mixed(kept: Votes) -> Taken:
    draws = kept.shape[0]
    within = kept.var(0, ddof=1).mean(0)
    between = kept.mean(0).var(0, ddof=1)
    reduction = (draws - 1) / draws + between / np.maximum(within, 1e-2)
    return np.asarray((np.sqrt(reduction) < _MIXED).all(-1))
