"""Evidence on tables that were steered to decisions in the target's code, each by itself."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Aggregate, Rows
from .....reference.tables.bounding import settled
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....paths.decision import asked_words
from ....paths.search import Reached
from ...numbers.evidence.bins import Placing
from ...numbers.evidence.noise_law import NoiseLawEvidence
from ...numbers.planning.asked import Asked, Batch, Draws
from ..claim import TablesClaim
from ..evidence.columns import DeterminedNumbers
from ..evidence.linear import LinearEvidence
from ..evidence.mistakes import SURE, Mistakes
from ..evidence.other_engines import numbers
from ..planning.asked import core

_NAMED = 100_000  # rows up to which known mistakes are tried on a table
_CAUSE = 3.0  # nats by which a known fault must be likelier to be named


@dataclass(frozen=True)
class BranchTable:
    """Rows that take an outcome of a decision: those of the last call of a sequence.

    told: the rows, as messages call them; exact (aggregates, cells): NaN where a number has none;
    counts (cells,): of rows that stay.
    """

    rows: Rows
    exact: Matrix
    counts: Vector
    reached: Reached
    told: str

    @classmethod
    def made(cls, claim: TablesClaim, reached: Reached) -> "BranchTable":
        """With what is exact of the rows of the last call."""
        rows = reached.candidate.calls[-1][0]
        found = DeterminedNumbers(claim.mechanism.table, rows, len(claim.keys))
        return cls(rows, found.exact, found.counts, reached, claim.release.input_text(rows))

    @property
    def asked(self) -> str:
        """The rows, and how they were asked, as messages call them."""
        return f"{self.told or 'no rows'}{self.reached.after}"


def draws_of(
    given: BranchTable,
    batch: Batch,
    column: tuple[int, Aggregate],
    cells: NDArray[np.int64],
    placing: Placing,
) -> Draws | None:
    """The noise of an aggregate, and its place, in those of some partitions that have exact ones.

    None where there is none.
    """
    place, one = column
    came = batch.releases.reshape(len(batch.releases), len(given.exact), -1)[:, place]
    exact = given.exact[place]
    cells = cells[np.isfinite(exact[cells]) & ~np.isnan(came[:, cells]).any(0)]
    if not cells.size:
        return None
    sums = one.as_sums(came[:, cells], exact[cells], given.counts[cells])
    asked = Asked(given.rows, exact[cells], batch.asked.role, batch.asked.name)
    return Draws((Batch(asked, sums, batch.calls),), placing, np.arange(cells.size))


class NoiseAtBranches:
    """Wagers on the noise of each table, with equal weights fixed before its first release.

    Of numbers that the claim determines, as `noise-law` has them of the plan's inputs: half on all
    tables together, half on each by itself; the mean over aggregates.
    """

    def __init__(self, claim: TablesClaim, inputs: Sequence[BranchTable], seed: int) -> None:
        self.inputs, self._aggregates = tuple(inputs), claim.mechanism.table.aggregates
        rng = np.random.default_rng([seed, 67])
        self._placing = [Placing(one.noise, rng) for one in self._aggregates]
        self._cells = core(claim)
        self.each = [NoiseLawEvidence(one.noise, len(self.inputs)) for one in self._aggregates]
        self._releases = [0] * len(self.inputs)

    def observe(self, place: int, batch: Batch) -> int:
        """Adds releases of one table; how many numbers were judged."""
        given, seen = self.inputs[place], 0
        self._releases[place] += len(batch.releases)
        for column in enumerate(self._aggregates):
            draws = draws_of(given, batch, column, self._cells, self._placing[column[0]])
            if draws is not None:
                placed = draws.placed.flat
                own = {str(place): np.ones(placed.y.size, dtype=np.bool_)}
                self.each[column[0]].observe(placed, own)
                seen += placed.y.size
        return seen

    @property
    def log_e_value(self) -> float:
        """Infinite once a release has come that the claim forbids."""
        logs = [evidence.log_e_value for evidence in self.each]
        return float(np.logaddexp.reduce(logs) - math.log(len(logs)))

    @property
    def words(self) -> str:
        """What a pass says of the tables that were asked."""
        places = [one.reached.words for one in self.inputs]
        return asked_words(sum(self._releases), "releases", places)

    def finding(self) -> Finding:
        """What the aggregate with most evidence shows, of the table that shows it most."""
        column = int(np.argmax([evidence.log_e_value for evidence in self.each]))
        evidence, one = self.each[column], self._aggregates[column]
        group, fault, nats = evidence.worst()
        if group is None and evidence.groups:  # all tables together say no more than one of them
            group = max(evidence.groups, key=lambda name: evidence.groups[name].log_e_value)
            ratios = evidence.groups[group].ratios
            fault, nats = evidence.faults[int(np.argmax(ratios))], float(ratios.max())
        given = None if group is None else self.inputs[int(group)]
        where, of = "at decisions of the target's code", ""
        fields: Fields = {"aggregate": one.name}
        if given is not None:
            where = f"where {given.reached.words}"
            fields = {**fields, **given.reached.fields}
            of = f", in {self._releases[int(group or 0)]:,} of {given.asked}"
        message = f"of the {one.name}, releases do not follow {one.noise} {where}{of}"
        if evidence.forbidden is not None or nats < _CAUSE or not evidence.describes(group, fault):
            code = "law-unexplained" if evidence.forbidden is None else "release-impossible"
            return Finding(message, code=code, fields=fields)
        cause = evidence.cause(group, fault)
        words = f"{one.name}: {cause.message} {where}"
        why = Note(cause.code, words, {**cause.fields, **fields})
        return Finding.caused(message, why, nats)


class BoundsAtBranches:
    """Wagers on what stays of users in each table: the mean, with equal weights fixed beforehand.

    As `contribution-bounding` has them of the plan's inputs, of each aggregate.
    """

    def __init__(self, claim: TablesClaim, inputs: Sequence[BranchTable]) -> None:
        self.inputs, self._table = tuple(inputs), claim.mechanism.table
        self._cells, self._width = core(claim), len(claim.keys)
        self._made: dict[tuple[int, int], LinearEvidence | None] = {}

    @cached_property
    def _wagers(self) -> int:
        return len(self.inputs) * len(self._table.aggregates)

    def observe(self, place: int, batch: Batch) -> None:
        """Adds releases of one table."""
        columns = len(self._table.aggregates)
        released = batch.releases.reshape(len(batch.releases), columns, -1)
        for column in range(columns):
            evidence = self._evidence(place, column)
            if evidence is not None:
                evidence.observe(released[:, column])

    def _evidence(self, place: int, column: int) -> LinearEvidence | None:
        """None where the law of the sums is not known."""
        of = place, column
        if of not in self._made:
            bounding, rows = self._table.bounding, self.inputs[place].rows
            one = self._table.aggregates[column]
            law = (bounding, rows) if one.bound is None else settled(bounding, rows)
            self._made[of] = (
                None
                if law is None or one.hidden is not None
                else LinearEvidence(law[0], one, law[1], self._cells, self._width)
            )
        return self._made[of]

    @property
    def _judged(self) -> dict[tuple[int, int], LinearEvidence]:
        return {of: found for of, found in self._made.items() if found is not None}

    @property
    def log_e_value(self) -> float:
        """Log of the mean over tables and aggregates."""
        logs = [found.log_e_value for found in self._judged.values()]
        logs += [0.0] * (self._wagers - len(logs))
        return float(np.logaddexp.reduce(logs) - math.log(self._wagers))

    def finding(self) -> Finding:
        """What the table with most evidence shows."""
        judged = self._judged
        place, column = max(judged, key=lambda of: judged[of].log_e_value)
        given, found = self.inputs[place], judged[place, column]
        one, rows, reached = self._table.aggregates[column], given.rows, given.reached
        expected = numbers(self._table, rows, self._width, 0)[column, self._cells].sum()
        total = found.total[self._cells].sum() / max(1, found.releases)
        message = (
            f"where {reached.words} in the target's code, the {one.name} of {given.asked} adds up "
            f"to {total:,.6g} over all partitions, in the mean of {found.releases:,} releases, and "
            f"to {expected:,.6g} under the claim"
        )
        fields: Fields = {
            "aggregate": one.name,
            "total": float(total),
            "expected": float(expected),
            "releases": found.releases,
            **reached.fields,
        }
        if len(rows) <= _NAMED:
            mistakes = Mistakes(self._table, self._cells, self._width)
            seen = {("", c): judged[p, c] for p, c in judged if p == place}
            named = mistakes.likeliest({"": rows}, seen)
            if named is not None and named[1] >= SURE:
                cause, odds, near = named
                words = replace(cause, message=f"{cause.message}, where {reached.words}")
                made = Finding.caused(message, words, odds)
                made = replace(made, fields={**fields, **cause.fields})
                return made if near is None else made.with_near(near)
        return Finding(message, code="totals-unexplained", fields=fields)
