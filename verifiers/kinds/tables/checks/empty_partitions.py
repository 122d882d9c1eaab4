"""`empty-partitions`: public ones always come, empty or not; of private ones, no empty one does."""

import math

import numpy as np

from .....reference.arrays import Vector
from ....evidence.power import MISSES
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ...numbers.planning.asked import Draws
from ..claim import TablesClaim
from ..planning.asked import TableAsked
from ..planning.plan import TablePlan
from .base import TableCheck, spec_of

_WANTED, _FEWEST = 200, 50  # releases, and in a run of few


class EmptyPartitions(TableCheck):
    """Looks for a partition that came, or did not, although the claim rules that out: a proof."""

    id = "empty-partitions"
    unit = "partitions"

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._found: Finding | None = None
        self.releases = 0

    @property
    def log_e_value(self) -> float:
        """See `TableCheck.log_e_value`."""
        return 0.0 if self._found is None else math.inf

    def observe(self, draws: Draws) -> None:
        """See `TableCheck.observe`."""
        for batch in draws.batches:
            came = ~np.isnan(batch.releases.reshape(len(batch.releases), self.columns, -1)[:, 0])
            self.draws += came.size
            self.releases += len(came)
            asked = batch.asked
            assert isinstance(asked, TableAsked)
            if self._found is None:
                self._found = self._impossible(asked, came.sum(0), len(came))

    def _impossible(self, asked: TableAsked, came: Vector, releases: int) -> Finding | None:
        """What the claim rules out in releases of one input; came (cells,): how often each did."""
        counts = np.bincount(asked.values.cells, minlength=self.cells).astype(float)
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
                why = Note("public-partition-dropped", cause, fields)
                return Finding.caused(message, why, math.inf)
            unlisted = np.flatnonzero(came[listed:])
            if unlisted.size:
                cell = listed + int(unlisted[0])
                message = f"{self.named(cell)} is not listed, and was released"
                cause = "partitions that are not public are released"
                why = Note("unlisted-partition-released", cause, {"partition": keys[cell]})
                return Finding.caused(message, why, math.inf)
            return None
        vacant = np.flatnonzero((counts == 0) & (came > 0))
        if not vacant.size:
            return None
        cell = int(vacant[0])
        message = f"{self.named(cell)} has no rows, and was released"
        cause = "private partitions that nobody has are released"
        why = Note("empty-partition-released", cause, {"partition": keys[cell]})
        return Finding.caused(message, why, math.inf)

    def samples_needed(self) -> int:
        """See `TableCheck.samples_needed`."""
        return self.as_draws(max(_FEWEST, self.plan.share * _WANTED) - self.releases)

    def fail_finding(self) -> Finding:
        """See `TableCheck.fail_finding`."""
        assert self._found is not None
        return self._found

    def pass_finding(self) -> Finding:
        """See `TableCheck.pass_finding`."""
        rate = -math.expm1(math.log(MISSES) / max(1, self.releases))
        what = "no partition without rows came"
        if self.table.listed is not None:
            what = "every public partition came each time, and no other one"
        return Finding(
            f"in {self.releases:,} releases {what}; one release in {1 / rate:,.0f} in which it was "
            f"otherwise would have been seen with probability {1.0 - MISSES:g}"
        )


SPECS = (spec_of(EmptyPartitions),)
