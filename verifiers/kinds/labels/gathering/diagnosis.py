"""Which known fault explains the labels, and which labels would tell its rivals from it.

Many faults explain the first labels that are odd. So a run that has refuted its claim asks on where
the likeliest differ most, by past labels alone, so that all evidence stays valid.
"""

from collections.abc import Callable, Iterator, Set

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....run.cause import SURE
from ..checks.fits import MOST, Fits, distinguishable, divergences
from ..planning.plan import Plan
from ..planning.streams import FRESH_CALL, LabelBatch, Role

LEAST = 512
"""Queries at least that tell known faults apart: the first that fit prove little."""

LEAST_OF_A_SCALE = 1024
"""Queries at least where none of the known scales fits: a fitted one is known to about 4 %."""

_BATCH = 256
_CALLS = (128, 64, 32, 16, 8, 8)  # of a batch: what is drawn once per call shows in several
_REUSED_CALLS = 48  # of one size: of 256 seeds one comes twice with probability 0.99
_EXPLORED = 8  # labels of each explorer
_BEYOND_DOUBT = 30.0  # log-odds of a fault that reused noise would hardly lend it
_CATCHING_UP = 3.0  # nats that a rival gains more, by chance


def diagnosing_batches(
    plan: Plan,
    fits: Callable[[], Fits],
    excess: Callable[[], Vector],
    reuse: Callable[[], float],
    without: Set[int],
) -> Iterator[LabelBatch]:
    """Batches that are asked next, so that the cause can be told.

    fits: as the labels stand; excess: log-evidence (streams,) for any law beyond that for the best
    fault; reuse: log-odds that noise is used again; without: streams that cannot be asked. Each is
    looked at anew before every batch.
    """

    def told_beyond_doubt() -> bool:
        return fits().explained and fits().log_odds > _BEYOND_DOUBT

    yield from telling_batches(plan, fits, excess, without)
    if plan.claim.mechanism.caching or (told_beyond_doubt() and reuse() <= SURE):
        return
    for i in plan.of(Role.EXPLORER):  # a kept answer is not always the plurality
        yield LabelBatch(i, _EXPLORED)
    # many calls of one size, and neighbours, show how noise is used again
    yield LabelBatch(plan.first(Role.FRESH), _REUSED_CALLS * FRESH_CALL, call=FRESH_CALL)
    for i in plan.of(Role.PAIR):
        yield LabelBatch(i, _BATCH)


def telling_batches(
    plan: Plan, fits: Callable[[], Fits], excess: Callable[[], Vector], without: Set[int]
) -> Iterator[LabelBatch]:
    """Labels of the streams that tell most, until the best fault leads its rivals, or none fits."""
    asked = turns = 0
    seen_at_once, before = False, fits().ratios
    while asked < 2 * MOST:
        now = fits()
        alike = int((now.ratios > now.log_odds - SURE).sum())  # faults that explain about as much
        if asked >= MOST and not (now.explained and alike > 1):
            return
        apart = divergences(plan, now.best)
        least = LEAST if now.fitted is None else LEAST_OF_A_SCALE
        if asked >= least and _is_settled(now, now.ratios - before, distinguishable(apart)):
            return
        worth = _worth(now, apart)
        doubtful = excess()
        # a scale that labels have chosen is doubted as much as what no known fault explains
        if turns % 3 == 2 if now.explained and now.fitted is None else turns % 3:
            worth = doubtful if doubtful.max() > 0.0 else worth
        worth[list(without)] = -np.inf
        if not np.isfinite(worth.max()):
            return
        # a fault of calls for one label: that others are free of it is seen first
        single = now.single and seen_at_once
        seen_at_once |= now.single
        stream = int(np.argmax(worth))
        call = FRESH_CALL if stream == plan.first(Role.FRESH) else _CALLS  # of one size there
        yield LabelBatch(stream, _BATCH, call=1 if single else call)
        asked += _BATCH
        turns += 1


def _is_settled(now: Fits, gained: Vector, apart: NDArray[np.bool_]) -> bool:
    """Whether the best fault leads its rivals, and the labels of the diagnosis say nothing else.

    Where it has set in late, by these labels alone: all of them have it.
    """
    best = now.best
    if not now.explained:
        return True
    rivals = apart & (np.arange(apart.size) != best)
    evidence = now.ratios if now.onsets[best] == 0.0 else gained
    behind = evidence <= evidence[best] - SURE
    return bool((behind & (gained <= gained[best] + _CATCHING_UP))[rivals].all())


def _worth(now: Fits, apart: NDArray[np.float64]) -> Vector:
    """Evidence that labels of each stream (streams,) should give on rivals, the nearest most.

    No more than it takes: a stream that rules out a poor fault ten times over is worth no more.
    """
    weights = np.exp((now.ratios - now.ratios.max()) / SURE)
    return np.asarray(np.minimum(_BATCH * apart, 2.0 * SURE) @ weights)
