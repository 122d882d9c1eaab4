"""Asks the target the tables that the search has found, and shows the releases to the checks."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ....findings.note import Note
from ....paths.background import BackgroundSearch, Searched, searched_spec
from ....paths.counting import Outcome
from ....paths.left_out import LeftOut
from ....paths.lines import not_exercised
from ....paths.search import Candidate, Reached, in_turns
from ....run.error_budget import log_threshold
from ....run.request import RunRequest
from ....run.state import RunState
from ....targets import Refused
from ....targets.replies import CallError
from ...numbers.evidence.bins import Placing
from ...numbers.gathering import Gathering
from ...numbers.planning.asked import Batch, Draws, asked_for
from ..checks.at_branches import BranchTable
from ..checks.contribution_bounding import ContributionBounding
from ..checks.empty_partitions import EmptyPartitions
from ..checks.of_numbers import TableFreshNoise, TableNoiseLaw
from ..checks.partition_release import TablePartitionRelease
from ..planned import PlannedTable
from ..planning.asked import TableAsked, core
from ..registry import CHECKS
from .candidates import TableSource, nats_of
from .limits import MOST_QUERIES, MOST_ROWS, steers

AFTER = 1_000
"""Releases after which these tables are asked: what shows earlier does not wait for the search."""

_SPARE = 13.0  # nats: of the weights, and for releases that tell less than they should
_ROUNDS = 6  # in which the releases of all tables are asked
_MOST_TABLES = 80
_ROWS_OF_ONE, _FEWEST = 300_000, 8  # rows of a table over its releases, which are so many at least

_ShownTo = EmptyPartitions | TablePartitionRelease
_Judges = ContributionBounding | TableNoiseLaw | TableFreshNoise


class TableSteering:
    """The search beside a run of tables, and what it found.

    Args:
        state: of the run.
        request: of the run.
        plan: of the run.
        checks: that see every release.
    """

    def __init__(
        self, state: RunState, request: RunRequest, plan: Any, checks: Iterable[object]
    ) -> None:
        self.state, self.claim, self.plan = state, state.claim, plan
        seen = list(checks)
        self._judges = [one for one in seen if isinstance(one, _Judges)]
        self._shown_to = [one for one in seen if isinstance(one, _ShownTo)]
        self.searched: Searched | None = None
        self._search: BackgroundSearch | None = None
        self._outcomes = set[Outcome]()  # whose tables were asked for to the end
        shares = [CHECKS.shares[one.id] for one in self._judges]
        if not shares or not steers(self.claim, plan):
            return
        spec = searched_spec(state.target, self.claim, request)
        if isinstance(spec, LeftOut):
            self.searched = Searched(why=str(spec))
        elif spec is not None:
            claim, seed = self.claim, request.seed
            self._needed = log_threshold(min(shares), claim.gate.false_alarm) + _SPARE

            def source() -> TableSource:
                planned = PlannedTable(claim, seed, made=plan)
                queries = min(planned.queries, claim.gate.max_queries) - MOST_QUERIES
                return TableSource(claim, plan, seed, queries, self._needed)

            self._search = BackgroundSearch(spec, claim, source)

    def ask(self, gathering: Gathering) -> None:
        """Asks what was found, in rounds, once; the gathering says when the run should end."""
        if self._search is None:
            return
        self.state.tell("waiting for the search of the code")
        self.searched, self._search = self._search.wait(), None
        most = min(MOST_QUERIES, self.state.left)
        chosen = choose(self.searched.reached, most, self._releases)
        if not chosen:
            return
        tables = [BranchTable.made(self.claim, reached) for reached in chosen]
        for check in self._judges:
            check.begin_branches(tables)
        asked = [TableAsked.made(self.claim, table.rows, f"for {table.words}") for table in tables]
        refused = set[int]()
        for turn in range(_ROUNDS):
            for place, reached in enumerate(chosen):
                more = range(turn, self._releases(reached.candidate), _ROUNDS)
                if place in refused:
                    continue
                again = turn > 0
                if not self._show(place, asked[place], reached, len(more), again=again):
                    refused.add(place)
                if gathering.stops():
                    return
        whole = {id(one.candidate) for k, one in enumerate(chosen) if k not in refused}
        self._outcomes.update(
            one.outcome for one in self.searched.reached if id(one.candidate) in whole
        )

    @property
    def waits(self) -> bool:
        """Whether there is a search whose tables were not asked yet."""
        return self._search is not None

    def _show(
        self, place: int, asked: TableAsked, reached: Reached, times: int, *, again: bool
    ) -> bool:
        """Asks a sequence some times, and shows its last releases; False where it is refused.

        again: whether it was answered before, so that a refusal is an error.
        """
        self.state.tell("asking at branches of the code")
        found = []
        for _ in range(times):
            try:
                found.append(self._last(asked, reached.candidate))
            except Refused as refusal:
                if found or again:
                    rows, size = reached.candidate.calls[-1]
                    raise CallError(
                        self.claim.release.text(rows, size),
                        f"was refused, although this input was answered before: {refusal}",
                        code="refused-later",
                    ) from None
                return False
        if not found:
            return True
        released = np.concatenate([batch.releases for batch in found])
        batch = Batch(asked, released, sum((one.calls for one in found), ()))
        draws = Draws(
            (batch,),
            Placing(self.claim.mechanism.added, np.random.default_rng(0)),
            self.plan.coordinates,
        )
        for other in self._shown_to:
            other.observe(draws)
        for check in self._judges:
            check.observe_branch(place, batch)
        for one in (*self._judges, *self._shown_to):
            one.refuted  # noqa: B018 - a look: evidence that refutes is kept as it is now
        return True

    def _last(self, asked: TableAsked, candidate: Candidate) -> Batch:
        """The releases of the last call of a sequence. Raises Refused, TargetError."""
        target, release = self.state.target, self.claim.release
        for rows, size in candidate.calls[:-1]:
            target.ask(rows, size)
            self.state.spend(size)
        batch = asked_for(target, release, asked, (candidate.calls[-1][1],))
        self.state.spend(len(batch.releases))
        return batch

    def _releases(self, candidate: Candidate) -> int:
        """How often a sequence is asked: as half the noise takes, fewer where it has many rows."""
        nats = nats_of(self.claim, core(self.claim).size) * candidate.calls[-1][1]
        wanted = max(_FEWEST, math.ceil(self._needed / nats))
        return min(wanted, max(_FEWEST, _ROWS_OF_ONE // max(1, candidate.rows)))

    def close(self) -> None:
        """Ends a search that is still going on."""
        if self._search is not None:
            self._search.close()

    def lines(self) -> list[Note]:
        """What a pass has to say of the code that was hardly exercised, or why it says nothing."""
        if self.searched is None:
            return []
        search = self.searched.search
        if search is None:
            return [*self.searched.left_out]
        assert isinstance(search.source, TableSource)
        beyond = {
            (number, way): rows
            for number, rows in search.source.needs.items()
            for way in search.shadow.decisions[number].outcomes
            if (number, way) not in search.met and search.shadow.decisions[number].shown
        }
        found = not_exercised(search, self._outcomes | set(beyond), self.state.queries)
        return [*found, *_larger(beyond, search.shadow.decisions, search.source.largest)]


def choose(
    reached: Sequence[Reached], most: int, releases: Any, rows: int = MOST_ROWS
) -> list[Reached]:
    """The sequences that are asked: the smallest of each outcome first, as far as there is room.

    releases: how often a candidate is asked; most: releases of all; rows: of all releases.
    """
    chosen, known = list[Reached](), set[int]()
    for one in in_turns(reached, lambda it: it.candidate.cost):
        times = releases(one.candidate)
        cost = times * sum(size for _, size in one.candidate.calls)
        of_rows = times * one.candidate.rows
        fits = cost <= most and of_rows <= rows and len(chosen) < _MOST_TABLES
        if fits and id(one.candidate) not in known:
            known.add(id(one.candidate))
            chosen.append(one)
            most, rows = most - cost, rows - of_rows
    return chosen


def _larger(beyond: dict[Outcome, int], decisions: Sequence[Any], largest: int) -> list[Note]:
    """One line on the decision that larger tables than the claim allows would take otherwise."""
    if not beyond:
        return []
    (number, _), rows = min(beyond.items(), key=lambda one: one[1])
    decision = decisions[number]
    place = f"{decision.file}:{decision.line}"
    message = (
        f"not reached: {place} ({decision.text}) needs about {rows:,} rows, and the claim's tables "
        f"have {largest:,} at most"
    )
    fields = {"file": decision.file, "line": decision.line, "text": decision.text, "rows": rows}
    return [Note("path-never", message, fields)]


class SteeredGathering(Gathering):
    """Asks the tables that a search has found beside those of the plan."""

    steering: TableSteering

    def gather(self) -> None:
        """Then what was found, where the run has asked too few before."""
        super().gather()
        if not self.stops() and self.state.left > 0:
            self.steering.ask(self)

    def _done(self) -> bool:
        if self.steering.waits and self.state.queries >= AFTER and not self.stops():
            self.steering.ask(self)
        return super()._done()
