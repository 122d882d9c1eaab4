"""Which known fault explains the labels, and which labels would tell its rivals from it.

The evidence that refutes a claim need not tell by what fault: faults of which each explains the
first labels that are odd are many. So a run that has refuted its claim asks on, where the likeliest
faults differ most. What is asked depends on past labels alone, so that all evidence stays valid.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from .evidence import PointedEvidence
from .plan import EXPLORER, FRESH, PAIR, Batch, Plan
from .planner import FRESH_CALL

Vector = NDArray[np.float64]

AfterFailure = Literal["diagnose", "keep-going", "stop"]
"""What a run does once it is refuted: asks on for a diagnosis, finishes all checks too, or ends."""

SURE = 7.0
"""Log-odds from which one explanation is told alone."""

MOST, LEAST = 2048, 512
"""Queries at most, and at least, that tell known faults apart: the first that fit prove little."""

_BATCH = 256
_REUSED_CALLS = 48  # of one size: of 256 seeds one comes twice with probability 0.99
_EXPLORED = 8  # labels of each explorer
_BEYOND_DOUBT = 30.0  # log-odds of a fault that reused noise would hardly lend it
_LEAST_ODDS = 7.0  # of a fault that is named at all: evidence that refutes is twice that
_LIKE = 0.5  # log-odds within which the plainer of two faults is named
_ONSET_COST = 8.0  # a late onset has many times to choose from, so it must explain more
_CATCHING_UP = 3.0  # nats that a rival gains more, by chance
_DEVIATES = 0.1  # prior probability that a histogram's labels have some law of their own
_SAME = 0.5  # nats that a diagnosis could expect at most, where no histogram tells two faults apart


def known(after_failure: str) -> AfterFailure:
    """The same, checked. Raises ValueError with what is allowed."""
    for choice in get_args(AfterFailure):
        if after_failure == choice:
            return choice  # type: ignore[no-any-return]
    allowed = ", ".join(get_args(AfterFailure))
    raise ValueError(f"after_failure = {after_failure!r}: expected one of {allowed}")


def after_failure(keep_going: bool, stop_at_once: bool) -> AfterFailure:
    """The same from the options of the command line. Raises ValueError where both are given."""
    if keep_going and stop_at_once:
        raise ValueError(
            "--keep-going and --stop-at-once contradict each other: give one or neither"
        )
    return "keep-going" if keep_going else "stop" if stop_at_once else "diagnose"


@dataclass(frozen=True)
class Fits:
    """How well each known fault explains labels, against the claim.

    ratios: log-likelihood ratios (a,), from the start on or from an onset on; onsets: labels (a,)
    before the fault, 0 from the start on; general: log-evidence (streams,) that a histogram's
    labels have any other law; single: whether these are the labels of calls for one alone; first:
    whether they are the first labels of each histogram alone.
    """

    ratios: Vector
    onsets: Vector
    general: Vector
    single: bool = False
    first: bool = False

    @classmethod
    def of(
        cls,
        evidence: PointedEvidence,
        general: Vector,
        single: bool = False,
        first: bool = False,
    ) -> Self:
        """From what was followed of the faults."""
        late = evidence.recent - _ONSET_COST
        onsets = np.where(late > evidence.log_ratios, evidence.onsets, 0.0)
        return cls(np.maximum(evidence.log_ratios, late), onsets, general, single, first)

    @property
    def best(self) -> int:
        """The fault that fits best; of like ones the first, which is the plainest."""
        return int(np.argmax(self.ratios >= self.ratios.max() - _LIKE))

    @property
    def log_odds(self) -> float:
        """Of the best fault against the claim."""
        return float(self.ratios[self.best])

    @property
    def log_any(self) -> float:
        """Log-evidence of laws that need not be known: each histogram has one of its own, or not.

        Divided by the likelihood of the fault that is there, its expectation is at most 1: a fault
        that falls behind it by `SURE` is refuted itself.
        """
        return float(np.logaddexp(np.log1p(-_DEVIATES), np.log(_DEVIATES) + self.general).sum())

    @property
    def explained(self) -> bool:
        """Whether the best fault says as much of the labels as laws that fit them would."""
        return self.log_odds > max(_LEAST_ODDS, self.log_any - SURE)


def divergences(plan: Plan, fault: int) -> NDArray[np.float64]:
    """Kullback-Leibler divergence (streams, a) of a fault's law from that of every fault."""
    ratios = np.clip(np.nan_to_num(plan.fault_log_ratios), -50.0, 50.0)
    law = np.exp(plan.log_q + ratios[:, fault])
    return np.asarray(np.einsum("so,sao->sa", law, ratios[:, fault, None, :] - ratios))


def told_apart(divergence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether labels of any stream tell a fault from each other one (a,)."""
    return np.asarray(divergence.max(0) * MOST > _SAME)


def diagnosing_batches(
    plan: Plan,
    fits: Callable[[], Fits],
    excess: Callable[[], Vector],
    reuse: Callable[[], float],
    without: Set[int],
) -> Iterator[Batch]:
    """What to ask next, so that the cause can be told.

    fits: as the labels stand; excess: log-evidence (streams,) for any law beyond that for the best
    fault; reuse: log-odds that noise is used again; without: streams that cannot be asked. Each is
    looked at anew before every batch.
    """

    def told_beyond_doubt() -> bool:
        return fits().explained and fits().log_odds > _BEYOND_DOUBT

    yield from telling_batches(plan, fits, excess, without)
    if plan.claim.mechanism.caching or (told_beyond_doubt() and reuse() <= SURE):
        return
    yield from _explored(plan)
    if not told_beyond_doubt() or fits().log_odds <= reuse() + SURE:
        yield from _repeated_calls(plan)


def telling_batches(
    plan: Plan, fits: Callable[[], Fits], excess: Callable[[], Vector], without: Set[int]
) -> Iterator[Batch]:
    """Labels of the streams that tell most, until the best fault leads its rivals, or none fits."""
    asked = turns = 0
    seen_at_once, before = False, fits().ratios
    while asked < MOST:
        now = fits()
        apart = divergences(plan, now.best)
        if asked >= LEAST and _is_settled(now, now.ratios - before, told_apart(apart)):
            return
        worth = _worth(now, apart)
        doubtful = excess()
        if turns % 3 == 2 if now.explained else turns % 3:
            worth = doubtful if doubtful.max() > 0.0 else worth
        worth[list(without)] = -np.inf
        if not np.isfinite(worth.max()):
            return
        # a fault of calls for one label: that others are free of it is seen first
        single = now.single and seen_at_once
        seen_at_once |= now.single
        stream = int(np.argmax(worth))
        call = FRESH_CALL if stream == plan.first(FRESH) else None  # all its calls are of one size
        yield Batch(stream, _BATCH, call=1 if single else call)
        asked += _BATCH
        turns += 1


def _explored(plan: Plan) -> Iterator[Batch]:
    """Some labels each of many histograms: an answer that is kept is not always the plurality."""
    for i, stream in enumerate(plan.streams):
        if stream.kind == EXPLORER:
            yield Batch(i, _EXPLORED)


def _repeated_calls(plan: Plan) -> Iterator[Batch]:
    """Where noise that is used again shows how: many calls of one size, and neighbours."""
    yield Batch(plan.first(FRESH), _REUSED_CALLS * FRESH_CALL, call=FRESH_CALL)
    for i, stream in enumerate(plan.streams):
        if stream.kind == PAIR:
            yield Batch(i, _BATCH)


def _is_settled(now: Fits, gained: Vector, apart: NDArray[np.bool_]) -> bool:
    """Whether the best fault leads its rivals, and the labels of the diagnosis say nothing else."""
    best = now.best
    if not now.explained:
        return True
    rivals = apart & (np.arange(apart.size) != best)
    behind = now.ratios <= now.log_odds - SURE
    return bool((behind & (gained <= gained[best] + _CATCHING_UP))[rivals].all())


def _worth(now: Fits, apart: NDArray[np.float64]) -> Vector:
    """What labels of each stream (streams,) are expected to tell of the rivals, the nearest most.

    No more than it takes: a stream that rules out a poor fault ten times over is worth no more.
    """
    weights = np.exp((now.ratios - now.ratios.max()) / SURE)
    return np.asarray(np.minimum(_BATCH * apart, 2.0 * SURE) @ weights)
