"""`partition-release`: private partitions come as often as the claimed selection gives."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ....evidence.power import MISSES
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....run.cause import NEAR as NEARLY
from ....run.checks import Reason
from ...numbers.planning.asked import Draws
from ..claim import TablesClaim
from ..evidence.limits import Rates, other_limits
from ..evidence.selected import CrowdEvidence, SelectedEvidence
from ..planning.asked import NEAR, TableAsked, TableRole
from ..planning.plan import TablePlan
from .base import TableCheck

_WANTED, _FEWEST = 4_000, 400  # partitions of one input near the selection; in a run of few
_OF_CROWD = 10  # releases of a crowd, which no run asks for fewer
_FEWER = 4.0  # deviations by which fewer partitions of a crowd may come than are expected
_BY_NORMAL = "mean and variance of the evidence, taken to be normal, of all these inputs together"
_BY_BOUND = "how many partitions come at least but for 4 deviations, in each release"
_BEFORE = "selected-before-bounding"
_SURE = 3.0  # nats by which a known mistake must be likelier to be named


class TablePartitionRelease(TableCheck):
    """Wagers on the rates at which partitions come, of users within their bounds."""

    id = "partition-release"
    unit = "partitions"

    @classmethod
    def not_applicable_to(cls, claim: TablesClaim) -> Reason:
        if claim.mechanism.selection is not None:
            return None
        return Note("not-claimed", "partitions are public")

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.evidence = SelectedEvidence(self.table)
        self._wanted = max(_FEWEST, math.ceil(plan.share * _WANTED))
        self._seen: dict[str, int] = dict.fromkeys(NEAR, 0)
        self._rates: dict[tuple[float, float], list[int]] = {}
        self._below: tuple[int, float] | None = None
        self._inputs = [asked for asked in plan.inputs if isinstance(asked, TableAsked)]
        self._crowded = next((one for one in self._inputs if one.role == TableRole.CROWD), None)
        self._crowd: CrowdEvidence | None = None

    def answered(self, roles: Collection[str]) -> None:
        self._inputs = [asked for asked in self._inputs if asked.role in roles]

    @property
    def log_e_value(self) -> float:
        if self._below is not None:
            return math.inf
        if self._crowded is None:
            return self.evidence.log_e_value
        of_crowd = 0.0 if self._crowd is None else self._crowd.log_e_value
        return float(np.logaddexp(self.evidence.log_e_value, of_crowd)) - math.log(2.0)

    def observe(self, draws: Draws) -> None:
        for batch in draws.batches:
            asked, n = batch.asked, len(batch.releases)
            assert isinstance(asked, TableAsked)
            released = batch.releases.reshape(n, self.columns, self.cells)
            there = ~np.isnan(released[:, 0])
            self._look_below(released)
            if asked.role == TableRole.CROWD:
                self._crowd = self._crowd or CrowdEvidence(self.table, asked.values, self.cells)
                self._crowd.observe(there.mean(1))
                self.draws += there.size
            if not asked.counted:
                continue
            came = there.sum(0)
            some = asked.rows > 0
            self.evidence.observe(asked.users[some], asked.rows[some], came[some], n)
            self.draws += n * int(some.sum())
            if asked.role in self._seen:
                self._seen[asked.role] += n * int(some.sum())
                for cell in np.flatnonzero(some):
                    of = float(asked.users[cell]), float(asked.rows[cell])
                    tally = self._rates.setdefault(of, [0, 0])
                    tally[0] += int(came[cell])
                    tally[1] += n

    def _look_below(self, released: NDArray[np.float64]) -> None:
        """A released count below the threshold that it is compared with cannot be.

        The partition, and the count, are kept.
        """
        column = self.table.released
        if column is None or self._below is not None:
            return
        least = self.table.selection.least  # type: ignore[union-attr]
        step = 1e-9 * max(1.0, abs(least))
        low = (released[:, column] < least - step) & np.isfinite(released[:, column])
        if low.any():
            release, cell = np.argwhere(low)[0]
            self._below = int(cell), float(released[release, column, cell])

    @property
    def wanted(self) -> int:
        """Releases of each input near the selection that a pass takes."""
        return math.ceil(self._wanted / max(1, self.cells - 1))

    def samples_needed(self) -> int:
        per_release = max(1, self.cells - 1)
        short = max(self._wanted - seen for seen in self._seen.values()) / per_release
        if self._crowded in self._inputs:
            seen = 0 if self._crowd is None else self._crowd.releases
            short = max(short, _OF_CROWD - seen)
        return self.as_draws(max(0.0, short) * len(NEAR))

    def fail_finding(self) -> Finding:
        if self._below is not None:
            (cell, count), least = self._below, self.table.selection.least  # type: ignore[union-attr]
            message = (
                f"{self.named(cell)} was released with a count of {count:.6g}, and {least:g} is "
                "the least that is released"
            )
            fields: Fields = {"partition": self.claim.keys[cell], "count": count, "least": least}
            cause = "what is released is not what the threshold was compared with"
            return Finding.caused(message, Note("count-below-threshold", cause, fields), math.inf)
        if self.evidence.impossible is not None:
            users, rows, released = self.evidence.impossible
            what = "was released, which" if released else "was not released, although it"
            end = "the claim never gives" if released else "always is under the claim"
            message = f"a partition of {users:g} users and {rows:g} rows {what} {end}"
            fields = {"users": users, "rows": rows, "released": released}
            return Finding(message, code="release-impossible", fields=fields)
        crowd = self._crowd
        if crowd is not None and crowd.log_e_value > self.evidence.log_e_value:
            message = (
                f"of the input {TableRole.CROWD}, {crowd.came / crowd.releases:.3g} of the "
                f"partitions were released, in {crowd.releases:,} releases, and "
                f"{crowd.expected:.3g} at most under the claim"
            )
            cause = "partitions are selected before users are bounded, who count in all of theirs"
            fields = {
                "share": crowd.came / crowd.releases,
                "expected": crowd.expected,
                "releases": crowd.releases,
            }
            why = Note(_BEFORE, cause, fields)
            return Finding.caused(message, why, crowd.log_e_value)
        (users, rows), (came, of), expected = self._oddest()
        message = (
            f"{came:,} of {of:,} partitions of {users:g} users and {rows:g} rows were released, a "
            f"share of {came / of:.3g}, and a share of {expected:.3g} is expected"
        )
        fields = {
            "users": users,
            "rows": rows,
            "came": came,
            "partitions": of,
            "expected": expected,
        }
        known = [self.evidence.likeliest]
        if self.table.selection is not None:
            once = self.table.counted.once
            known += other_limits(self.table.selection, _by_count(self._rates, users=once))
        (why, nats), *others = sorted(known, key=lambda one: -one[1])
        if nats < _SURE:
            return Finding(message, code="release-rate-unexplained", fields=fields)
        found = replace(Finding.caused(message, why, nats), fields={**fields, **why.fields})
        near = (one for one, odds in others if odds > nats - NEARLY and one.code != why.code)
        second = next(near, None)
        return found if second is None else found.with_near(second)

    def _oddest(self) -> tuple[tuple[float, float], list[int], float]:
        """Users and rows whose partitions' rate tells most, how many came of how many, the rate."""
        worst, gain = next(iter(self._rates)), -1.0
        for of, (came, total) in self._rates.items():
            kept, dropped = self.evidence.claimed(np.array([of[0]]), np.array([of[1]]))
            nats = 0.0
            for seen, law in ((came, kept[0]), (total - came, dropped[0])):
                nats += seen * (math.log(seen / total) - law) if seen else 0.0
            if nats > gain:
                worst, gain = of, nats
        kept, _ = self.evidence.claimed(np.array([worst[0]]), np.array([worst[1]]))
        return worst, self._rates[worst], float(math.exp(kept[0]))

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Of each known way to select otherwise, the mildest that shows.

        By as many releases near the selection as a pass needs.
        """
        near = [asked for asked in self._inputs if asked.role in NEAR]
        nats = self.log_threshold + (0.0 if self._crowded is None else math.log(2.0))
        gained, draws = np.zeros((2, len(self.evidence.others))), 0
        for asked in near:
            some = asked.rows > 0
            releases = math.ceil(self._wanted / some.sum())
            draws += releases * int(some.sum())
            of_release = self.evidence.moments(asked.users[some], asked.rows[some])
            gained += releases * np.array(of_release)
        mean, variance = gained
        least = mean + ndtri(MISSES) * np.sqrt(variance)
        found: dict[tuple[str, ...], int] = {}
        for place in np.argsort(mean):
            cause = self.evidence.others[place].cause
            if least[place] >= nats + math.log(mean.size):
                texts = (of for of in cause.fields.values() if isinstance(of, str))
                found.setdefault((cause.code, *texts), int(place))
        where = [asked.role for asked in near]
        causes = (self.evidence.others[place].cause for place in sorted(found.values()))
        entries = [self.entry(c.code, c.fields, where, draws, method=_BY_NORMAL) for c in causes]
        return (*entries, *self._excluded_by_crowd(nats))

    def _excluded_by_crowd(self, nats: float) -> list[Excluded]:
        """That partitions are selected by all of their users, before these are bounded."""
        asked = self._crowded
        if asked is None or asked not in self._inputs:
            return []
        crowd = self._crowd or CrowdEvidence(self.table, asked.values, self.cells)
        counts = self.table.counted.totals(asked.values, self.cells)
        rate = np.exp(self.table.selection.log_kept(counts))  # type: ignore[union-attr]
        fewer = _FEWER * math.sqrt(float((rate * (1.0 - rate)).sum()))
        share = max(0.0, float(rate.sum()) - fewer) / self.cells
        if _OF_CROWD * crowd.gained(share) < nats:
            return []
        size: Fields = {"share": float(rate.mean()), "expected": crowd.expected}
        draws = _OF_CROWD * self.cells
        return [self.entry(_BEFORE, size, [TableRole.CROWD], draws, method=_BY_BOUND)]

    def pass_finding(self) -> Finding:
        excludes = self.excluded
        seen = ""
        if excludes:
            sure = min(one.probability for one in excludes)
            seen = f"; {len(excludes)} other ways to select would have been seen"
            seen += f" with probability {sure:g} each"
        alone = [(of, seen) for of, seen in self._rates.items() if of[0] == 1]
        came, total = (sum(seen[place] for _, seen in alone) for place in (0, 1))
        least = 3.0 / max(1, total)
        return Finding(
            f"no departure from the claimed selection was seen in {self.draws:,} partitions; of "
            f"{total:,} of one user {came:,} came: whether that is delta is not seen where it is "
            f"below {least:.1g}{seen}",
            excludes=excludes,
        )


def _by_count(rates: Mapping[tuple[float, float], list[int]], *, users: bool) -> Rates:
    """How often partitions came, of how many, by their count of users or else of rows."""
    found: dict[float, tuple[int, int]] = {}
    for (of_users, of_rows), (came, of) in rates.items():
        count = of_users if users else of_rows
        before = found.get(count, (0, 0))
        found[count] = before[0] + came, before[1] + of
    return found
