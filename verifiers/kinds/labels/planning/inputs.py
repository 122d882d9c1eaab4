"""What a plan asks where any histogram may be asked: of many candidates those that tell most."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.arrays import Matrix
from .....reference.clock import step
from ....evidence.dirichlet import rare_share
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .histograms import even_pair, simple_histograms, tied_pair, typical, unanimous
from .laws import LabelFault, divergences, fault_laws, information, log_laws
from .streams import Role

CLEAR = 0.97
"""Probability of the winner from which a histogram counts as clear."""

_PROBES, _PROBED = 8, 50
_RARE = 0.1
_WINS = 0.9
_MOVES = 10_000  # moves of votes between two classes that are tried, divided by the classes
_OTHER_TOTALS = (3, 9)  # factors of the claimed teachers at which other totals are tried
_EXPLORERS = 26
_LEADERS = (1.0, 0.95, 0.85, 0.75, 0.65, 0.55, 0.5, 0.45, 0.4, 0.34, 0.25, 0.15)
_RUNNERS = (0.0, 0.2, 0.5, 0.8, 1.0)


@dataclass(frozen=True)
class Pool:
    """Histograms (b, c), their claimed log-laws (b, o) and Fisher information (b,) of a label."""

    claim: LabelsMechanism
    histograms: NDArray[np.int64]
    log_q: Matrix
    information: NDArray[np.float64]

    @classmethod
    def of(cls, claim: LabelsMechanism, histograms: NDArray[np.int64]) -> "Pool":
        """The pool of histograms (b, c), whose laws are computed here."""
        log_q = log_laws(claim, histograms)
        return cls(claim, histograms, log_q, information(claim, histograms, log_q))

    def most_informative(self, effect: float) -> Histogram:
        """The histogram with an empty class whose labels tell most about the noise scale.

        With two classes any histogram will do, as only unanimous ones have an empty class.
        effect: the smallest deviation to be seen, in total variation.
        """
        return self._best((self.histograms == 0).any(-1) | (self.claim.classes == 2), effect)

    def near_tie(self, effect: float) -> Histogram:
        """The most informative histogram whose leaders are within a tenth of the noise scale.

        Where there is none, the most informative of those with the smallest lead. effect: as above.
        """
        usable = nearly_tied(self.claim, self.histograms)
        if not usable.any():
            lead = leads(self.histograms)
            usable = lead == lead.min()
        return self._best(usable, effect)

    def _best(self, usable: NDArray[np.bool_], effect: float) -> Histogram:
        """The most informative of those usable (b,) that give rare outcomes little probability.

        A deviation among many rare outcomes takes more labels to see, the more so the more
        probability they have.
        """
        rare = np.array([rare_share(log_q, effect) for log_q in self.log_q])
        for wanted in (usable & (rare <= _RARE), usable, np.ones_like(usable)):
            if wanted.any():
                break
        at = int(np.argmax(np.where(wanted, self.information, -np.inf)))
        best: Histogram = self.histograms[at]
        return best

    def clear_winner(self) -> tuple[Histogram, float]:
        """A histogram with a winner of probability near 0.99, and that probability.

        Small changes of the law show soonest there. Winners above 0.9 are preferred, so that a tie
        is never chosen where there is another. Votes are then moved between the leader and the
        runner-up to come nearer still.
        """
        labels = slice(self.claim.classes)  # a refusal is no winner
        at, _ = nearest_to_clear(self.log_q[:, labels])
        votes = self.histograms[at]
        leader, runner = np.argsort(-votes, kind="stable")[:2]
        ways = _MOVES // votes.size
        moved = np.unique(np.linspace(-votes[leader], votes[runner], ways).astype(np.int64))
        near = np.repeat(votes[None], moved.size, 0)
        near[:, leader] += moved
        near[:, runner] -= moved
        best, chance = nearest_to_clear(log_laws(self.claim, near)[:, labels])
        return near[best], chance

    def probes(self, faults: Sequence[LabelFault]) -> list[Histogram]:
        """Up to eight histograms that show `faults` soonest, by divergence from the claim."""
        order = np.argsort(-self.information)
        tried = order[:: max(1, order.size // _PROBED)]
        log_q = self.log_q[tried]
        laws = fault_laws(faults, log_q, self.histograms[tried].astype(np.float64))
        divergence = divergences(laws, log_q[:, None, :])
        seen_by = divergence / np.maximum(divergence.max(0), 1e-12)
        weights = np.array([fault.weight for fault in faults])
        chosen: list[int] = []
        covered = np.zeros(len(faults))
        for _ in range(min(_PROBES, tried.size)):
            at = int(np.argmax(np.maximum(seen_by, covered) @ weights))
            chosen.append(at)
            covered = np.maximum(covered, seen_by[at])
        return [self.histograms[tried[at]] for at in chosen]


@lru_cache(maxsize=16)  # a search for the sharpest plan makes twenty plans of one mechanism
def candidates(claim: LabelsMechanism, total: int, seed: int) -> Pool:
    """Histograms of `total` votes: a leader, a runner-up and the rest in many proportions."""
    from ..strategies import drawn_votes

    found = set(drawn_votes(claim.classes, total, total, 60, seed))
    for leader in _LEADERS:
        for share in _RUNNERS:
            for spread in (1, claim.classes // 2, claim.classes - 2):
                sharing = max(0, min(spread, claim.classes - 2))
                votes = np.zeros(claim.classes, dtype=np.int64)
                votes[:2] = int(total * leader), int(total * (share * min(leader, 1.0 - leader)))
                if sharing:
                    votes[2 : 2 + sharing] = (total - int(votes.sum())) // sharing
                votes[0] += total - votes.sum()
                found.add(tuple(votes.tolist()))
    return Pool.of(claim, np.array(sorted(found), dtype=np.int64))


@lru_cache(maxsize=16)  # many plans share them
def probes(
    claim: LabelsMechanism, seed: int, faults: tuple[LabelFault, ...]
) -> Sequence[Histogram]:
    """The candidates of the claimed total on which `faults` show soonest."""
    return candidates(claim, claim.teachers, seed).probes(faults)


# -- by roles --------------------------------------------------------------------------------------


def asked_of_any(
    claim: LabelsClaim,
    seed: int,
    faults: tuple[LabelFault, ...],
    *,
    other_totals: bool,
    symmetries: bool,
) -> dict[Role, Sequence[Histogram]]:
    """What a plan asks by roles, where any histogram may be asked; symmetries: whether of twins."""
    mechanism, effect = claim.mechanism, claim.gate.smallest_effect
    classes, teachers = mechanism.classes, mechanism.teachers
    step("candidates")
    pool = candidates(mechanism, teachers, seed)
    step("probes")
    asked: dict[Role, Sequence[Histogram]] = {
        Role.PROBE: probes(mechanism, seed, faults),
        Role.INFORMATIVE: [pool.most_informative(effect)],
        Role.NEAR_TIE: [pool.near_tie(effect)],
        Role.EXPLORER: _explorers(classes, teachers, seed, other_totals),
        Role.TYPICAL: list(typical(mechanism, other_totals)),
        Role.HIGH_CONSENSUS: [unanimous(classes, teachers)],
        Role.SIMPLE: simple_histograms(classes, teachers),
    }
    if not symmetries:
        asked[Role.LATE] = asked[Role.NEAR_TIE]
    elif other_totals:
        asked[Role.SMALLER_TOTAL] = [_smaller_total(mechanism)]
        asked[Role.OTHER_TOTAL] = [_clear_winner_of_other_total(mechanism, seed)]
    else:
        asked[Role.CLEAR_WINNER] = [pool.clear_winner()[0]]
    if not mechanism.caching:
        asked[Role.EVEN] = even_pair(mechanism)
        if other_totals or mechanism.adjacency == "replace-one":
            asked[Role.PAIR] = tied_pair(mechanism)
    return asked


def _smaller_total(claim: LabelsMechanism) -> Histogram:
    """The smallest unanimous histogram with a clear winner; all teachers where none has one."""
    totals = np.unique(np.linspace(1, claim.teachers, 100).astype(np.int64))
    found = np.zeros((totals.size, claim.classes), dtype=np.int64)
    found[:, 0] = totals
    clear = np.exp(log_laws(claim, found)[:, 0]) >= CLEAR
    smallest: Histogram = found[int(np.argmax(clear)) if clear.any() else -1]
    return smallest


@lru_cache(maxsize=16)
def _clear_winner_of_other_total(claim: LabelsMechanism, seed: int) -> Histogram:
    """A clear winner at the smallest of the other totals that allow one, else at the largest."""
    for factor in _OTHER_TOTALS:
        step("candidates of other totals")
        histogram, chance = candidates(claim, factor * claim.teachers, seed).clear_winner()
        if chance > CLEAR:
            break
    return histogram


def _explorers(classes: int, teachers: int, seed: int, other_totals: bool) -> list[Histogram]:
    """Distinct histograms of the claimed total, and a few of other totals, from Hypothesis."""
    from ..strategies import drawn_votes

    step("explorers")
    few = _EXPLORERS // 5 if other_totals else 0
    found: list[NDArray[np.int64]] = []
    for least, most, count in (teachers, teachers, _EXPLORERS - few), (1, 10 * teachers, few):
        drawn = drawn_votes(classes, least, most, 2 * count, seed) if count else ()
        found += [np.array(votes, dtype=np.int64) for votes in list(dict.fromkeys(drawn))[:count]]
    # explorer i is rotated so that class i leads: every class leads somewhere
    return [np.roll(votes, place - int(votes.argmax())) for place, votes in enumerate(found)]


# -- what makes a histogram clear, tied or telling ------------------------------------------------


def entropies(log_q: Matrix) -> NDArray[np.float64]:
    """Entropies (b,) of log-laws (b, o), in nats."""
    return np.asarray(-(np.exp(log_q) * np.maximum(log_q, -700.0)).sum(-1))


def least_predictable(claim: LabelsMechanism, histograms: NDArray[np.int64]) -> int:
    """Index of the histogram (b, c) whose labels are hardest to predict."""
    return int(np.argmax(entropies(log_laws(claim, histograms))))


def nearest_to_clear(log_q: Matrix) -> tuple[int, float]:
    """Index of the log-law (b, o) whose likeliest outcome is nearest to 0.99; its probability."""
    top = np.minimum(np.exp(log_q.max(-1)), 1.0 - 1e-12)
    away = np.abs(np.log((1.0 - top) / 0.01))
    if (top > _WINS).any():
        away = np.where(top > _WINS, away, np.inf)
    at = int(np.argmin(away))
    return at, float(top[at])


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
