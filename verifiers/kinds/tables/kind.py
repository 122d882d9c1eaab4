"""Engines that release tables: what a run, a report or a command needs of them."""

import tomllib
from dataclasses import replace
from typing import Any

from ...run.noise_there import no_cost
from ...run.request import RunRequest
from ...run.session import Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ...targets.tables import TableRelease
from ..kind import late
from ..numbers.kind import KIND as NUMBERS
from .claim import TablesClaim, parse_tables_claim
from .mechanism import OF_TABLES
from .registry import CHECKS

_DEMO = """
[mechanism]
name = "table"
adjacency = "add-remove"
max_partitions = 3
max_per_partition = 2
kept = "uniform"

[mechanism.aggregates]
privacy-id-count = {noise = "laplace:9"}
count = {noise = "laplace:18"}
sum = {noise = "laplace:180", lower = 0.0, upper = 10.0}

[mechanism.selection]
strategy = "truncated-geometric"
counts = "users"
epsilon = 1.0
delta = 1e-6

[privacy]
epsilon = 2.0
delta = 1e-6
queries = 1
"""
"""An engine of epsilon 1 for three aggregates together, and 1 for the selection of partitions."""


def _session(state: RunState, request: RunRequest) -> Session:
    from ..numbers.recorder import Recorder
    from .session import TableSession

    return TableSession(state, request, Recorder(state.claim))


def _reference(claim: TablesClaim) -> InProcessTarget:
    """The reference implementation of the claimed engine, with secure noise."""
    table = claim.mechanism.table
    release = TableRelease(
        claim.release.columns,
        claim.keys,
        "array",
        claim.mechanism.centre,
        claim.mechanism.vector_size,
    )

    def aggregate(rows: Any, size: int) -> Any:
        kept = release.rows_of(rows, claim.mechanism.missing.parts)
        found = table.sample(kept, len(claim.keys), size)
        return found.reshape(size, -1)

    return InProcessTarget(aggregate, again=lambda: aggregate, release=release)


def _demo() -> TablesClaim:
    """Counts, users and sums of private partitions."""
    return parse_tables_claim(tomllib.loads(_DEMO))


KIND = replace(
    NUMBERS,
    name="tables",
    mechanisms=OF_TABLES,
    parse=parse_tables_claim,
    checks=CHECKS,
    cost_at=no_cost,
    planned=late(__package__, "planned.planned_table"),
    foreseen=late(__package__, "foreseen.foreseen"),
    session=_session,
    reference=_reference,
    served=late(__package__, "served.ServedTable"),
    not_chosen="a run of tables chooses its rows itself",
    ready=lambda claim, chosen: None,
    demos={"noisy-table": _demo},
)
