"""Known mistakes of engines, and after about how many releases a run would find each."""

import math
from collections.abc import Mapping

import numpy as np

from ....reference.numbers import NumberNoise
from ...run.error_budget import log_threshold
from ..numbers.checks.at_branches import BRANCHES
from ..numbers.evidence.expected_draws import divergence
from .checks.contribution_bounding import ContributionBounding
from .evidence.other_engines import SEED, numbers, other_engines
from .planned import PlannedTable
from .planning.asked import NUMERIC, UNUSUAL
from .registry import CHECKS

_SCALES = {0.5: "noise of half the claimed scale", 2.0: "noise of twice the claimed scale"}
_SURELY = 3.0  # nats beyond a threshold, after which few runs have not passed it

Needed = tuple[frozenset[str], float]
"""Releases of inputs of these roles, together."""


def foreseen(planned: PlannedTable) -> dict[str, int | None]:
    """Releases until each known mistake shows, in the order of a run; None where it does not.

    Of wrong bounds that change what users add up to, and of wrong scales: other mistakes, such as
    noise that is used again, empty partitions that are dropped, and rows that lack a part, show in
    the first calls or have no number that could be told beforehand.
    """
    needed = {**_of_bounds(planned), **_of_scales(planned)}
    most = min(planned.queries, planned.claim.gate.max_queries)
    found: dict[str, int | None] = dict.fromkeys(needed)
    for total, seen in planned.asked():
        if total > most or None not in found.values():
            break
        for words, ways in needed.items():
            met = any(sum(seen[role] for role in roles) >= n for roles, n in ways)
            if found[words] is None and met:
                found[words] = total
    return found


def _of_bounds(planned: PlannedTable) -> Mapping[str, list[Needed]]:
    """What each mistake in the bounds of a user, or of a value, needs of one of the inputs."""
    check = ContributionBounding(planned.claim, planned.plan, planned.seed)
    nats = check.log_threshold + math.log(len(check.inputs) * check.columns / (1.0 - BRANCHES))
    usual = {role: asked for role, asked in check.inputs.items() if role not in UNUSUAL}
    claimed = {
        role: numbers(check.table, asked.values, check.cells, SEED) for role, asked in usual.items()
    }
    found: dict[str, list[Needed]] = {}
    for cause, made in other_engines(check.table):
        ways: list[Needed] = []
        differs = False
        for role, asked in usual.items():
            its = made(asked.values, check.cells)
            differs |= not np.allclose(its, claimed[role])
            for column in range(check.columns):
                evidence = check.evidence((role, column))
                if evidence is not None and check.table.aggregates[column].hidden is None:
                    until = evidence.releases_until(nats, its[column])
                    ways.append((frozenset({role}), until))
        if differs:  # a norm is no mistake where none is claimed
            found[cause.message] = ways
    return found


def _of_scales(planned: PlannedTable) -> Mapping[str, list[Needed]]:
    """What noise of a wrong scale needs of the inputs that show the law of the noise."""
    claim, plan = planned.claim, planned.plan
    aggregates = claim.mechanism.table.aggregates
    nats = log_threshold(CHECKS.shares["noise-scale"], claim.gate.false_alarm) + _SURELY
    nats += math.log(len(aggregates))
    roles = NUMERIC & {asked.role for asked in plan.inputs}
    cells = plan.coordinates.size / len(aggregates)

    def needed(noise: NumberNoise, factor: float) -> float:
        return nats / divergence(noise.times(factor), noise, 0.0) / cells

    return {
        words: [(frozenset(roles), max(needed(one.noise, factor) for one in aggregates))]
        for factor, words in _SCALES.items()
    }
