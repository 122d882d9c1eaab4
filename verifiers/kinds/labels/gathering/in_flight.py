"""Calls on two histograms in flight together: a caller may be given another caller's label."""

from collections.abc import Callable
from itertools import combinations
from time import monotonic

import numpy as np

from ....evidence.outcomes import as_outcomes
from ....targets import Refused, ask_each, at_once
from ..checks.input_contract import RefusedLaterError
from ..planning.laws import divergences, log_laws
from .gathering import LabelsGathering

CALLS = 200
"""Calls for one label of each of the two histograms."""

MOST_QUERIES = 2 * CALLS
"""Labels that these calls are asked for."""

_SCALES = (0.5, 2.0, 4.0, 10.0)  # factors of the noise scale that are not taken for crossed labels
_TELLS, _SURE = 5.0, 20.0  # nats by which a label tells its histogram: at least; most that counts
_LEAST = -1e9  # in place of a log-chance of none
_FORMER = 1.0  # labels of the claimed law that count beside those seen before


def ask_together(gathering: LabelsGathering, needed: Callable[[], int]) -> None:
    """Asks two histograms with far-apart labels in calls that are in flight together.

    needed: how many queries the whole run takes. Their labels are evidence of `fresh-noise` alone:
    other checks judge how one histogram is answered.
    """
    state, fresh = gathering.state, gathering.observers.fresh
    several = at_once(state.target)
    if fresh is None or several < 2 or not gathering.goes_on:
        return
    if gathering.plan.claim.mechanism.caching:
        return
    pair = _far_apart(gathering)
    if pair is None:
        return
    if state.left < max(0, needed() - state.queries) + MOST_QUERIES:
        fresh.of_flight = "; max_queries leaves no room for two histograms in flight together"
        return
    state.tell("asking two histograms at once")
    began = monotonic()
    labels = _labels(gathering, pair)
    rate = MOST_QUERIES / max(monotonic() - began, 1e-9)
    claim, plan = gathering.plan.claim.mechanism, gathering.plan
    votes = np.array([plan.streams[i].histogram for i in pair], dtype=np.int64)
    laws = [plan.log_q[list(pair)], *(log_laws(claim, votes, factor) for factor in _SCALES)]
    former = fresh.counts_of(pair) + _FORMER * np.exp(laws[0])
    with np.errstate(divide="ignore"):
        laws.append(np.log(former / former.sum(-1, keepdims=True)))
    laws = [np.maximum(law, _LEAST) for law in laws]
    for row in (0, 1):
        outcomes = as_outcomes(labels[:, row], plan.log_q.shape[1])
        own = np.stack([law[row, outcomes] for law in laws], -1)
        fresh.crossed.observe(own, laws[0][1 - row, outcomes])
    fresh.look_at_flight(
        pair,
        f"; of {MOST_QUERIES} calls on two histograms, {several} in flight and "
        f"{rate:,.0f} a second, no more fit the other histogram better than the claim gives",
    )
    gathering.say_seen()


def _far_apart(gathering: LabelsGathering) -> tuple[int, int] | None:
    """Two streams that are answered, whose labels tell them apart; None where none surely do."""
    plan = gathering.plan
    answered = [
        i
        for i, stream in enumerate(plan.streams)
        if gathering.observers.answered[i] and i not in gathering.without and not stream.second
    ]
    best, found = _TELLS, None
    for pair in combinations(answered, 2):
        laws = plan.log_q[list(pair)]
        apart = min(_SURE, float(divergences(laws, laws[::-1]).min()))
        if apart > best:
            best, found = apart, pair
        if best >= _SURE:
            break
    return found


def _labels(gathering: LabelsGathering, pair: tuple[int, int]) -> np.ndarray:
    """The labels (calls, 2) of the pair, asked in turn, as many in flight as the target takes."""
    target = gathering.state.target
    votes = [np.array(gathering.plan.streams[i].histogram, dtype=np.int64) for i in pair]
    try:
        replies, _ = ask_each(target, [(one, 1) for one in votes] * CALLS)
    except Refused as refusal:
        message = f"a histogram is refused that was answered, in flight beside another: {refusal}"
        raise RefusedLaterError(message) from None
    gathering.state.spend(MOST_QUERIES)
    checked = gathering.asking.checked
    labels = [checked(reply, 1, votes[place % 2]) for place, reply in enumerate(replies)]
    return np.concatenate(labels).reshape(-1, 2)
