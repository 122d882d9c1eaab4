"""`empty-partitions`: public ones always come, empty or not; of private ones, no empty one does."""

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .....reference.arrays import Matrix, Vector
from ....evidence.power import MISSES
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ...numbers.planning.asked import Draws
from ..claim import TablesClaim
from ..evidence.order import ListingOrder
from ..planning.asked import ORDERED, TableAsked, TableRole, core
from ..planning.ordered import ranked
from ..planning.plan import TablePlan
from .base import TableCheck

_WANTED, _FEWEST = 200, 50  # releases, and in a run of few
_DROPPED, _UNLISTED = "public-partition-dropped", "unlisted-partition-released"
_EMPTY = "empty-partition-released"
_BY_BINOMIAL = "the binomial law of how many releases are off, of all these inputs together"
_EVERY = "every release of these inputs is off, and one that is proves it"

_ORDER = Note(
    "table-order-tells-counts",
    "partitions come in the order of their exact counts, sums or averages",
)


class EmptyPartitions(TableCheck):
    """Looks for a partition that came, or did not, although the claim rules that out: a proof."""

    id = "empty-partitions"
    unit = "partitions"

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._found: Finding | None = None
        self.releases = 0
        self.wanted = max(_FEWEST, math.ceil(plan.share * _WANTED))
        self.inputs = [asked for asked in plan.inputs if isinstance(asked, TableAsked)]
        self._ranked = ranked(core(claim))
        self._ordered = {asked.role: asked for asked in self.inputs if asked.role in ORDERED}
        self.order = ListingOrder(
            {
                role: self._counts(asked)[self._ranked].astype(np.int64)
                for role, asked in self._ordered.items()
            }
        )
        self._waiting: dict[str, list[Vector]] = {role: [] for role in self._ordered}
        self.answered([asked.role for asked in plan.inputs])

    def answered(self, roles: Collection[str]) -> None:
        self.inputs = [asked for asked in self.inputs if asked.role in roles]
        listed = self.table.listed
        self._vacant = [
            asked.role for asked in self.inputs if not self._counts(asked)[:listed].all()
        ]
        self.telling = self._vacant if listed is None else [asked.role for asked in self.inputs]
        """Roles of the inputs whose every release may show that partitions come, or do not."""

    def _counts(self, asked: TableAsked) -> Vector:
        """The rows (cells,) of each partition."""
        return np.bincount(asked.values.cells, minlength=self.cells).astype(float)

    @property
    def log_e_value(self) -> float:
        """Infinite by a proof; else of the order alone, of which chance and names prove nothing."""
        return self.order.log_e_value if self._found is None else math.inf

    def observe(self, draws: Draws) -> None:
        for batch in draws.batches:
            came = ~np.isnan(batch.releases.reshape(len(batch.releases), self.columns, -1)[:, 0])
            self.draws += came.size
            asked = batch.asked
            self.releases += len(came) * (asked.role in self.telling)
            assert isinstance(asked, TableAsked)
            if self._found is None:
                self._found = self._impossible(asked, came.sum(0), len(came))
            if asked.role in self._waiting:
                self._waiting[asked.role] += list(batch.releases)
        while self._waiting and all(self._waiting.values()):
            self._take_round([self._waiting[role].pop(0) for role in self._ordered])

    def _take_round(self, releases: list[Vector]) -> None:
        """Takes a release of each input whose counts are turned, unless some order is not known."""
        places = {int(cell): place for place, cell in enumerate(self._ranked)}
        orders, columns = [], list[list[float]]()
        for released in releases:
            known = self.claim.release.order_of(released)
            own = tuple(places[cell] for cell in known or () if cell in places)
            if len(own) < len(places):
                return
            orders.append(own)
            numbers = released.reshape(self.columns, self.cells)[:, self._ranked]
            columns.append([self._log_law(numbers, asked) for asked in self._ordered.values()])
        self.order.observe(orders, np.array(columns).T)

    def _log_law(self, numbers: Matrix, asked: TableAsked) -> float:
        """The log-probability of numbers (aggregates, k) released of an input."""
        exact = asked.exact.reshape(self.columns, self.cells)[:, self._ranked]
        laws = zip(self.table.aggregates, numbers, exact, strict=True)
        return sum(float(one.noise.log_mass(y, x).sum()) for one, y, x in laws)

    def _impossible(self, asked: TableAsked, came: Vector, releases: int) -> Finding | None:
        """What the claim rules out in releases of one input; came (cells,): how often each did."""
        counts = self._counts(asked)
        listed, keys = self.table.listed, self.claim.keys
        if listed is not None:
            missed = np.flatnonzero(came[:listed] < releases)
            if missed.size:
                cell = int(missed[np.argmin(came[missed])])
                empty = "that has no rows" if counts[cell] == 0 else f"of {counts[cell]:.0f} rows"
                message = f"{self.named(cell)} {empty} is public, and came in {came[cell]:,} of "
                message += f"{releases:,} releases of the input {asked.role}"
                some = counts[missed].max() > 0
                cause = "public partitions are dropped" + ("" if some else " where they are empty")
                fields: Fields = {
                    "partition": keys[cell],
                    "rows": int(counts[cell]),
                    "empty": not some,
                    "came": int(came[cell]),
                    "releases": releases,
                    "input": str(asked.role),
                }
                why = Note(_DROPPED, cause, fields)
                return Finding.caused(message, why, math.inf)
            unlisted = np.flatnonzero(came[listed:])
            if unlisted.size:
                cell = listed + int(unlisted[0])
                message = f"{self.named(cell)} is not listed, and was released"
                cause = "partitions that are not public are released"
                why = Note(_UNLISTED, cause, {"partition": keys[cell]})
                return Finding.caused(message, why, math.inf)
            return None
        vacant = np.flatnonzero((counts == 0) & (came > 0))
        if not vacant.size:
            return None
        cell = int(vacant[0])
        message = f"{self.named(cell)} has no rows, and was released"
        cause = "private partitions that nobody has are released"
        why = Note(_EMPTY, cause, {"partition": keys[cell]})
        return Finding.caused(message, why, math.inf)

    def samples_needed(self) -> int:
        return self.as_draws(self.wanted - self.releases) if self.telling else 0

    def fail_finding(self) -> Finding:
        if self._found is not None:
            return self._found
        named, rounds = self.order.named, self.order.rounds
        message = (
            f"in {named} of {rounds} rounds of inputs that differ in counts alone, the order of "
            "the partitions in the tables told which table was of which input"
        )
        fields: Fields = {"told": named, "rounds": rounds}
        return Finding.caused(message, replace(_ORDER, fields=fields), self.log_e_value)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Now and then, in the releases that a pass needs, or always."""
        code = _EMPTY if self.table.listed is None else _DROPPED
        share: Fields = {"share": -math.expm1(math.log(MISSES) / self.wanted)}
        found = []
        if self.telling:
            found.append(self.entry(code, share, self.telling, self.wanted, method=_BY_BINOMIAL))
        if self.table.listed is None:
            return tuple(found)
        outside = [role for role in self.telling if role == TableRole.NOT_LISTED]
        always: Fields = {"share": 1.0}
        for told, size, where in (
            (_DROPPED, {**always, "empty": True}, self._vacant),
            (_UNLISTED, always, outside),
        ):
            if where:
                found.append(self.entry(told, size, where, len(where), method=_EVERY))
        return tuple(found)

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        what = "no partition without rows came"
        if self.table.listed is not None:
            what = "every public partition came each time, and no other one"
        order = ""
        if self.order.rounds:
            rows = [asked.values.values for asked in self._ordered.values()]
            apart = any(np.unique(values, axis=0).shape[0] > 1 for values in rows)
            by = "counts, sums or averages" if apart else "counts"
            order = f"; their order was not seen to follow their exact {by}, up or down"
        return Finding(
            f"in {self.releases:,} releases {what}{order}{would_show(excludes)}", excludes=excludes
        )
