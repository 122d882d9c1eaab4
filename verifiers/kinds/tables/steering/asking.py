"""How tables are asked where the search of the code has found something to ask."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....paths.background import Searched
from ....paths.search import Reached
from ....paths.steering import Answers, BranchAsker
from ....run.error_budget import log_threshold
from ...numbers.evidence.bins import Placing
from ...numbers.gathering import Gathering
from ...numbers.planning.asked import Batch, Draws, asked_for
from ..checks.at_branches import BranchTable
from ..checks.contribution_bounding import ContributionBounding
from ..checks.empty_partitions import EmptyPartitions
from ..checks.of_numbers import TableFreshNoise, TableNoiseLaw
from ..checks.partition_release import TablePartitionRelease
from ..planned import SHARE, PlannedTable
from ..planning.asked import TableAsked
from ..registry import CHECKS
from .candidates import TableSource

_SPARE = 13.0  # nats: of the weights, and for releases that tell less than they should

_ShownTo = EmptyPartitions | TablePartitionRelease
_Judges = ContributionBounding | TableNoiseLaw | TableFreshNoise


class TableAsker(BranchAsker):
    """Shows the releases to the checks that see every release; judges: those with wagers on them.

    Args:
        gathering: of the run.
        seed: of the run.
    """

    after, rounds, most = 1_000, 6, 0

    def __init__(self, gathering: Gathering, seed: int) -> None:
        self.gathering, self.state, self._seed = gathering, gathering.state, seed
        self.claim = gathering.claim
        self.plan: Any = gathering.plan
        seen: list[object] = [*gathering.checks]
        self.judges = [one for one in seen if isinstance(one, _Judges)]
        self._shown_to = [one for one in seen if isinstance(one, _ShownTo)]
        self._asked = list[TableAsked]()

    def source(self) -> TableSource:
        claim, plan = self.claim, self.plan
        planned = PlannedTable(claim, self._seed, made=plan)
        queries = min(planned.of_plan, claim.gate.max_queries)
        share = min(CHECKS.shares[one.id] for one in self.judges)
        needed = log_threshold(share, claim.gate.false_alarm) + _SPARE
        return TableSource(claim, plan, self._seed, queries, needed)

    def key(self, values: Any) -> int:
        return id(values)

    def told(self, searched: Searched) -> None:
        """A share of what the plan asks is asked of what was found."""
        for check in self.judges:
            if isinstance(check, TableNoiseLaw):
                check.of_code = searched.words
        source = None if searched.search is None else searched.search.source
        if isinstance(source, TableSource):
            self.most, self.most_rows = int(SHARE * source.queries), SHARE * source.rows

    def begin(self, chosen: Sequence[Reached]) -> None:
        tables = [BranchTable.made(self.claim, reached) for reached in chosen]
        for check in self.judges:
            check.begin_branches(tables)
        roles = [f"for {one.words}" for one in chosen]
        made = zip(tables, roles, strict=True)
        self._asked = [TableAsked.made(self.claim, one.rows, role) for one, role in made]

    def ask(self, values: Any, size: int, place: int | None) -> Batch | None:
        target = self.state.target
        if place is not None:
            return asked_for(target, self.claim.release, self._asked[place], (size,))
        target.ask(values, size)
        return None

    def show(self, answers: Answers) -> None:
        """Those of the last calls of one sequence, together."""
        place, first = answers[0]
        assert place is not None
        released = np.concatenate([batch.releases for _, batch in answers])
        batch = Batch(first.asked, released, sum((one.calls for _, one in answers), ()))
        placing = Placing(self.claim.mechanism.added, np.random.default_rng(0))
        draws = Draws((batch,), placing, self.plan.coordinates)
        for other in self._shown_to:
            other.observe(draws)
        for check in self.judges:
            check.observe_branch(place, batch)
        for one in (*self.judges, *self._shown_to):
            one.refuted  # noqa: B018 - a look: evidence that refutes is kept as it is now

    @property
    def goes_on(self) -> bool:
        return not self.gathering.stops()
