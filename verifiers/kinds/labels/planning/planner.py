"""The plan of a run: which histograms it asks, and how often.

Anchors give depth: one histogram per kind of input, asked often enough to see the smallest effect
that a pass rules out. Explorers give breadth: histograms from Hypothesis, and a deployment's own,
asked a hundred times each to show faults that few inputs have. Probes come first: the histograms on
which the commonest faults show soonest. One anchor is asked at the end, for faults that start late.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference.clock import step
from ..claim import LabelsClaim
from .faults import planned_faults
from .given_inputs import GivenInputs, given_inputs, opening_histogram
from .histograms import ladder
from .inputs import asked_of_any
from .plan import Plan
from .stream_planner import StreamPlanner
from .streams import FULL, Extent, Role, anchors
from .telling import roundings_to_see, telling_histograms
from .traffic import Traffic, calls_in_turn


@lru_cache(maxsize=32)
def make_plan(
    claim: LabelsClaim,
    seed: int,
    other_totals: bool = True,
    own: tuple[tuple[int, ...], ...] = (),
    extent: Extent = FULL,
    *,
    opening: tuple[int, ...] | None = None,
    near: tuple[int, ...] = (),
) -> Plan:
    """The plan of a run for a claim; the last few are kept.

    seed: determines every histogram; other_totals: whether the target serves totals other than the
    claimed teachers; own: histograms (c,) of the deployment itself, asked as explorers; extent: how
    much is asked for breadth; opening: the histogram (c,) with which an earlier report opens; near:
    totals of votes that the target serves where it refuses others.
    """
    mechanism, effect = claim.mechanism, claim.gate.smallest_effect
    other_totals = other_totals and not claim.one_total
    faults, rng = planned_faults(claim), np.random.default_rng(seed)
    if claim.given:
        step("inputs")
        inputs = given_inputs(claim)
        asked, rungs = inputs.asked(faults, effect, rng), tuple(inputs.rungs())
        only: NDArray[np.int64] | None = inputs.pool.histograms
    else:
        twins = extent.symmetries
        asked = asked_of_any(claim, seed, faults, other_totals=other_totals, symmetries=twins)
        rungs, only = ladder(mechanism), None
    asked[Role.FRESH] = [np.array(opening) if opening else opening_histogram(claim)]
    asked[Role.OWN] = [np.array(votes, dtype=np.int64) for votes in own]
    roundings = tuple(roundings_to_see(claim, faults, other_totals, only))
    # a cache is asked each histogram once, so that none of these gets depth
    telling = {} if mechanism.caching else telling_histograms(mechanism, only, other_totals, near)
    calls = calls_in_turn(claim, extent)
    anchored = anchors(other_totals)
    planner = StreamPlanner(
        claim, rng, extent, asked=asked, anchors=anchored, faults=faults, in_turn=calls
    )
    planner.add_all(Role.PROBE, shuffle=True)
    planner.add_all(Role.TYPICAL, shuffle=True)
    planner.add_all(Role.FRESH)
    planner.add_anchor(Role.INFORMATIVE, asked[Role.INFORMATIVE][0])
    planner.add_anchor(Role.NEAR_TIE, asked[Role.NEAR_TIE][0])
    planner.add_clear_anchor(Role.HIGH_CONSENSUS)
    planner.add_clear_anchor(Role.SMALLER_TOTAL)
    if Role.LATE in asked:
        planner.add_anchor(Role.LATE, asked[Role.LATE][0], shuffle=False)
    planner.add_symmetries(Role.OTHER_TOTAL, shift=True)
    planner.add_symmetries(Role.CLEAR_WINNER, shift=False)
    planner.add_pairs()
    if claim.given and extent.symmetries:
        _add_twins(planner, inputs)
    for role, histograms in telling.items():
        planner.add_telling(role, histograms)
    planner.add_ladder(rungs)
    planner.add_roundings(roundings)
    if not mechanism.caching:
        planner.add_singles()
    for role in (Role.SIMPLE, Role.EXPLORER, Role.OWN):
        planner.add_all(role)
    given = tuple(row.histogram for row in claim.given)
    traffic = Traffic(mechanism, seed, calls, given or own, bool(given), other_totals)
    streams, pairs, compared = planner.streams, planner.pairs, planner.compared_streams
    return Plan(claim, tuple(streams), tuple(pairs), compared, faults, traffic, extent, roundings)


def _add_twins(planner: StreamPlanner, inputs: GivenInputs) -> None:
    """Adds inputs that are permuted or raised twins of others, as far as the budget allows."""
    permuted = None if planner.mechanism.ordered else inputs.permuted()
    if permuted is not None:
        with planner.if_affordable():
            planner.add_permuted(Role.CLEAR_WINNER, *permuted)
    bases = [i for i, stream in enumerate(planner.streams) if stream.is_anchor]
    raised = inputs.raised([planner.streams[i].histogram for i in bases])
    if raised is not None:
        place, leader, histogram = raised
        with planner.if_affordable():
            planner.add_raised(bases[place], leader, histogram)
