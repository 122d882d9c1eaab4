"""The plan of a run: which histograms it asks, and how often.

Anchors give depth: one histogram per kind of input, asked often enough to see the smallest effect
that a pass rules out. Explorers give breadth: histograms from Hypothesis, and a deployment's own,
asked a hundred times each to show faults that few inputs have. Probes come first: the histograms on
which the commonest faults show soonest. One anchor is asked at the end, for faults that start late.
"""

from functools import lru_cache

import numpy as np

from .....reference import Histogram
from .....reference.clock import step
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .asked_histograms import (
    clear_winner_of_other_total,
    explorers,
    most_even_law,
    simple_histograms,
    smaller_total,
    typical,
    unanimous,
)
from .extent import FULL, Extent
from .faults import Fault, known_faults
from .given_inputs import GivenInputs, given_inputs
from .kinds import add_kinds, any_support, faults_by_total, fewer_votes, supports
from .ladder import ladder
from .plan import Plan
from .pool import candidate_pool
from .roles import Role, anchors
from .rounding import ToSee, add_roundings, rounding_faults, to_see
from .stream_planner import StreamPlanner
from .teachers import faults_by_teacher
from .traffic import Traffic, calls_in_turn
from .weighted_laws import faults_of_weights

_TYPICAL_INPUTS, _EXPLORED_INPUTS = 2, 60


@lru_cache(maxsize=32)
def make_plan(
    claim: LabelsClaim,
    seed: int,
    other_totals: bool = True,
    own: tuple[tuple[int, ...], ...] = (),
    extent: Extent = FULL,
) -> Plan:
    """The plan of a run for a claim; the last few are kept.

    seed: determines every histogram; other_totals: whether the target serves totals other than the
    claimed teachers; own: histograms (c,) of the deployment itself, asked as explorers; extent: how
    much is asked for breadth.
    """
    other_totals = other_totals and not claim.one_total
    mechanism = claim.mechanism
    by_teacher = faults_of_weights(claim) or faults_by_teacher(claim)
    faults = (*_faults(mechanism), *by_teacher)
    rng = np.random.default_rng(seed)
    planner = StreamPlanner(claim, rng, anchors(other_totals), extent)
    inputs = given_inputs(claim) if claim.given else None
    pool = None if inputs is None else inputs.pool.histograms
    roundings = tuple(to_see(claim, faults, other_totals, pool))
    if inputs is not None:
        _add_given(planner, inputs, faults, own, roundings)
    else:
        _add_any(
            planner,
            seed,
            other_totals=other_totals,
            faults=faults,
            own=own,
            roundings=roundings,
        )
    streams, pairs = tuple(planner.streams), tuple(planner.pairs)
    given = tuple(row.histogram for row in claim.given)
    calls = calls_in_turn(claim, extent)
    traffic = Traffic(claim.mechanism, seed, calls, given or own, bool(given), other_totals)
    compared = planner.compared_streams
    return Plan(claim, streams, pairs, compared, faults, traffic, extent, roundings)


@lru_cache(maxsize=16)
def _faults(mechanism: LabelsMechanism) -> tuple[Fault, ...]:
    """The faults that are tried on every plan of a mechanism."""
    by_total = faults_by_total(mechanism) if mechanism.sampled is None else ()
    return (*known_faults(mechanism), *by_total, *rounding_faults(mechanism))


@lru_cache(maxsize=16)
def _probes(mechanism: LabelsMechanism, seed: int, faults: tuple[Fault, ...]) -> list[Histogram]:
    """The candidates on which `faults` show soonest; kept, since many plans share them."""
    return candidate_pool(mechanism, mechanism.teachers, seed).probes(faults)


def _add_any(
    planner: StreamPlanner,
    seed: int,
    *,
    other_totals: bool,
    faults: tuple[Fault, ...],
    own: tuple[tuple[int, ...], ...],
    roundings: tuple[ToSee, ...],
) -> None:
    """Adds the streams of a target that answers any histogram."""
    claim, extent, mechanism = planner.claim, planner.extent, planner.claim.mechanism
    effect = claim.gate.smallest_effect
    step("candidates")
    pool = candidate_pool(mechanism, mechanism.teachers, seed)
    step("probes")
    planner.add_probes(_probes(mechanism, seed, faults), typical(mechanism, other_totals))
    planner.add_opening(most_even_law(mechanism))
    planner.add_anchor(Role.INFORMATIVE, pool.most_informative(effect))
    planner.add_anchor(Role.NEAR_TIE, pool.near_tie(effect))
    planner.add_clear_anchor(Role.HIGH_CONSENSUS, unanimous(mechanism.classes, mechanism.teachers))
    if not extent.symmetries:
        planner.add_anchor(Role.LATE, pool.near_tie(effect), shuffle=False)
    elif other_totals:
        planner.add_clear_anchor(Role.SMALLER_TOTAL, smaller_total(mechanism))
        planner.add_symmetries(
            Role.OTHER_TOTAL, clear_winner_of_other_total(mechanism, seed), shift=True
        )
    else:
        planner.add_symmetries(Role.CLEAR_WINNER, pool.clear_winner()[0], shift=False)
    planner.add_neighbours(other_totals)
    explored = explorers(claim, seed, other_totals)
    to_come = len(explored) + len(own)
    if not mechanism.caching:  # a cache is asked each histogram once, so no kind gets depth
        add_kinds(planner, Role.SUPPORT, any_support(mechanism), faults, to_come)
        if other_totals:
            add_kinds(planner, Role.FEWER_VOTES, fewer_votes(mechanism), faults, to_come)
    planner.add_ladder(ladder(mechanism), faults, to_come)
    add_roundings(planner, roundings, to_come)
    if not mechanism.caching:
        planner.add_singles()
    planner.add_simple(simple_histograms(mechanism.classes, mechanism.teachers))
    planner.add_explorers(Role.EXPLORER, explored)
    planner.add_explorers(Role.OWN, [np.array(votes, dtype=np.int64) for votes in own])


def _add_given(
    planner: StreamPlanner,
    inputs: GivenInputs,
    faults: tuple[Fault, ...],
    own: tuple[tuple[int, ...], ...],
    roundings: tuple[ToSee, ...],
) -> None:
    """Adds the streams of a target that answers the claim's inputs only."""
    step("inputs")
    pool, effect = inputs.pool, planner.claim.gate.smallest_effect
    planner.add_probes(pool.probes(faults), inputs.some(_TYPICAL_INPUTS, planner.rng))
    planner.add_opening(inputs.least_predictable())
    planner.add_anchor(Role.INFORMATIVE, pool.most_informative(effect))
    planner.add_anchor(Role.NEAR_TIE, pool.near_tie(effect))
    planner.add_clear_anchor(Role.HIGH_CONSENSUS, inputs.clearest())
    planner.add_anchor(Role.LATE, inputs.clear_winner())
    neighbours = inputs.neighbours()
    if neighbours is not None:
        planner.add_audited(*neighbours)
    same_votes = inputs.same_votes()
    if same_votes is not None:  # no claim of inputs is of kept answers
        planner.add_same_votes(same_votes)
    explored = inputs.some(_EXPLORED_INPUTS, planner.rng)
    if planner.extent.symmetries:
        _add_related(planner, inputs, len(explored) + len(own))
    kinds = supports(planner.claim.mechanism, pool.histograms)
    add_kinds(planner, Role.SUPPORT, kinds, faults, len(explored) + len(own))
    planner.add_ladder(inputs.rungs(), faults, len(explored) + len(own))
    add_roundings(planner, roundings, len(explored) + len(own))
    planner.add_singles()
    planner.add_simple(inputs.simple())
    planner.add_explorers(Role.EXPLORER, explored)
    planner.add_explorers(Role.OWN, [np.array(votes) for votes in own])


def _add_related(planner: StreamPlanner, inputs: GivenInputs, explored: int) -> None:
    """Adds inputs that are permuted or raised twins of others, as far as the budget allows."""
    permuted = None if planner.claim.mechanism.ordered else inputs.permuted()
    if permuted is not None:
        with planner.if_affordable(explored):
            planner.add_permuted(Role.CLEAR_WINNER, permuted.histogram, permuted.order)
    bases = [i for i, stream in enumerate(planner.streams) if stream.is_anchor]
    raised = inputs.raised([planner.streams[i].histogram for i in bases])
    if raised is not None:
        with planner.if_affordable(explored):
            planner.add_raised(bases[raised.place], raised.leader, raised.histogram)
