"""Candidate histograms, and the choice of the most informative among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.arrays import Matrix
from ....evidence.dirichlet import rare_share
from ..mechanism import LabelsMechanism
from .faults import Fault, divergences, fault_laws

_STEP = 1e-3
_PROBES, _PROBED = 8, 50
_WINS = 0.9
_RARE = 0.1
_MOVES = 10_000  # moves of votes between two classes that are tried, divided by the classes
_LEADERS = (1.0, 0.95, 0.85, 0.75, 0.65, 0.55, 0.5, 0.45, 0.4, 0.34, 0.25, 0.15)
_RUNNERS = (0.0, 0.2, 0.5, 0.8, 1.0)


@dataclass(frozen=True)
class Pool:
    """Histograms (b, c), their claimed log-laws (b, o) and Fisher information (b,).

    The information is per label, about the log of the noise scale s: the sum of (dQ/d ln s)^2 / Q,
    by a central difference.
    """

    claim: LabelsMechanism
    histograms: NDArray[np.int64]
    log_q: Matrix
    information: NDArray[np.float64]

    def most_informative(self, effect: float) -> Histogram:
        """The histogram with an empty class whose labels tell most about the noise scale.

        With two classes any histogram will do, as only unanimous ones have an empty class.
        effect: the smallest deviation to be seen, in total variation.
        """
        usable = (self.histograms == 0).any(-1) | (self.claim.classes == 2)
        return self._best(self._affordable(usable, effect), self.information)

    def near_tie(self, effect: float) -> Histogram:
        """The most informative histogram whose leaders are within a tenth of the noise scale.

        Where there is none, the most informative of those with the smallest lead. effect: as above.
        """
        usable = nearly_tied(self.claim, self.histograms)
        if not usable.any():
            lead = leads(self.histograms)
            usable = lead == lead.min()
        return self._best(self._affordable(usable, effect), self.information)

    def _affordable(self, usable: NDArray[np.bool_], effect: float) -> NDArray[np.bool_]:
        """The usable histograms (b,) that give rare outcomes little probability, if there are any.

        A deviation among many rare outcomes takes more labels to see, the more so the more
        probability they have.
        """
        rare = np.array([rare_share(log_q, effect) for log_q in self.log_q])
        cheap = usable & (rare <= _RARE)
        return cheap if cheap.any() else usable

    def clear_winner(self) -> tuple[Histogram, float]:
        """A histogram with a winner of probability near 0.99, and that probability.

        Small changes of the law show soonest there. Winners above 0.9 are preferred, so that a tie
        is never chosen where there is another. Votes are then moved between the leader and the
        runner-up to come nearer still.
        """
        labels = slice(self.claim.classes)  # a refusal is no winner
        at, _ = nearest_to_clear(self.log_q[:, labels])
        votes = self.histograms[at]
        order = np.argsort(-votes, kind="stable")
        most = np.sum(votes[order[:2]])
        ways = _MOVES // votes.size
        moved = np.unique(np.linspace(-votes[order[0]], votes[order[1]], ways).astype(np.int64))
        near = np.repeat(votes[None], moved.size, 0)
        near[:, order[0]] += moved
        near[:, order[1]] = most - near[:, order[0]]
        log_q = self.claim.mechanism().log_probabilities(near.astype(np.float64))
        best, chance = nearest_to_clear(np.asarray(log_q)[:, labels])
        return near[best], chance

    def probes(self, faults: Sequence[Fault]) -> list[Histogram]:
        """Up to eight histograms that show `faults` soonest, by divergence from the claim."""
        order = np.argsort(-self.information)
        tried = order[:: max(1, order.size // _PROBED)]
        log_q = self.log_q[tried]
        laws = fault_laws(faults, log_q, self.histograms[tried].astype(np.float64))
        divergence = divergences(laws, log_q[:, None, :])
        best = divergence.max(0)
        seen_by = divergence / np.maximum(best, 1e-12)
        weights = np.array([fault.weight for fault in faults])
        chosen: list[int] = []
        covered = np.zeros(len(faults))
        for _ in range(min(_PROBES, tried.size)):
            gain = np.maximum(seen_by, covered) @ weights
            at = int(np.argmax(gain))
            chosen.append(at)
            covered = np.maximum(covered, seen_by[at])
        return [self.histograms[tried[at]] for at in chosen]

    def _best(self, usable: NDArray[np.bool_], score: NDArray[np.float64]) -> Histogram:
        if not usable.any():
            usable = np.ones_like(usable)
        best: Histogram = self.histograms[int(np.argmax(np.where(usable, score, -np.inf)))]
        return best


def leads(histograms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Votes between the two leading classes (b,) of histograms (b, c)."""
    ranked = np.sort(histograms, -1)
    return np.asarray(ranked[:, -1] - ranked[:, -2])


def nearly_tied(claim: LabelsMechanism, histograms: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether (b,) the two leaders of histograms (b, c) are within a tenth of the noise scale.

    With more than two classes, a histogram where all classes tie does not count.
    """
    close = leads(histograms) <= max(1.0, 0.1 * claim.noise.scale)
    if claim.classes > 2:
        close &= histograms.max(-1) > histograms.min(-1)
    return np.asarray(close)


def entropies(log_q: Matrix) -> NDArray[np.float64]:
    """Entropies (b,) of log-laws (b, o), in nats."""
    return np.asarray(-(np.exp(log_q) * np.maximum(log_q, -700.0)).sum(-1))


def nearest_to_clear(log_q: Matrix) -> tuple[int, float]:
    """Index of the log-law (b, o) whose likeliest outcome is nearest to 0.99; its probability."""
    top = np.minimum(np.exp(log_q.max(-1)), 1.0 - 1e-12)
    away = np.abs(np.log((1.0 - top) / 0.01))
    if (top > _WINS).any():
        away = np.where(top > _WINS, away, np.inf)
    at = int(np.argmin(away))
    return at, float(top[at])


@lru_cache(maxsize=16)
def candidate_pool(claim: LabelsMechanism, total: int, seed: int) -> Pool:
    """Histograms of `total` votes: a leader, a runner-up and the rest in many proportions.

    Kept, as a search for the sharpest plan makes twenty plans of one mechanism.
    """
    from ..strategies import drawn_votes

    found = set(drawn_votes(claim.classes, total, total, 60, seed))
    for leader in _LEADERS:
        for share in _RUNNERS:
            runner = share * min(leader, 1.0 - leader)
            for spread in (1, claim.classes // 2, claim.classes - 2):
                found.add(_composed(claim.classes, total, leader, runner, spread))
    return pool_of(claim, np.array(sorted(found), dtype=np.int64))


def pool_of(claim: LabelsMechanism, histograms: NDArray[np.int64]) -> Pool:
    """The pool of histograms (b, c), whose laws are computed here."""
    votes = histograms.astype(np.float64)
    log_q, up, down = (
        np.asarray(claim.mechanism(claim.noise.times(factor)).log_probabilities(votes))
        for factor in (1.0, 1.0 + _STEP, 1.0 - _STEP)
    )
    slope = (np.exp(up) - np.exp(down)) / (2.0 * _STEP)
    information = np.square(slope) / np.maximum(np.exp(log_q), 1e-12)
    return Pool(claim, histograms, log_q, information.sum(-1))


def _composed(
    classes: int, total: int, leader: float, runner: float, spread: int
) -> tuple[int, ...]:
    """A leader's and a runner-up's share of the votes, the rest even over `spread` classes."""
    votes = np.zeros(classes, dtype=np.int64)
    votes[0], votes[1] = int(total * leader), int(total * runner)
    rest = total - int(votes.sum())
    if classes > 2 and spread > 0:
        each = np.full(min(spread, classes - 2), rest // min(spread, classes - 2))
        votes[2 : 2 + each.size] = each
    votes[0] += total - votes.sum()
    return tuple(int(v) for v in votes)
