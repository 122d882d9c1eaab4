"""`contribution-bounding`: what stays of a user's rows, and of a value, is what the claim says."""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from .....reference.tables import Bounding, Rows
from .....reference.tables.bounding import settled
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....targets.frames import PARTS
from ...numbers.checks.at_branches import BRANCHES, with_branches
from ...numbers.planning.asked import Batch, Draws
from ..claim import TablesClaim
from ..evidence.linear import LinearEvidence
from ..evidence.mistakes import SURE, Mistakes
from ..evidence.other_contributions import OTHER_CONTRIBUTIONS, ROW_BY_ROW
from ..evidence.other_engines import numbers, other_bounds
from ..planning.asked import BEYOND, BRIEF, LACKING, UNUSUAL, TableAsked, TableRole, core
from ..planning.plan import TablePlan
from .at_branches import BoundsAtBranches, BranchTable
from .base import TableCheck
from .input_contract import NotTaken

_WANTED, _FEWEST = 60, 10  # releases of each input, and in a run of few

_CAUSES: dict[str, Note] = {
    TableRole.NO_USERS: Note(
        "userless-rows-counted", "rows without a user are counted, and nobody's bounds hold them"
    ),
    TableRole.NO_PARTITIONS: Note(
        "null-partition-counted",
        "NULL counts as a partition of a user: such rows are dropped too late",
    ),
    TableRole.NO_NUMBERS: Note("rows-without-number-counted", "rows without a number are counted"),
    TableRole.INFINITE: Note("infinite-values-not-clipped", "infinite values are not clipped"),
    TableRole.TWO_TYPES: Note("user-types-split", "the user 1 and the user '1' are bounded as two"),
    TableRole.LARGE: Note(
        "large-inputs-differ",
        "of large inputs users are bounded, or rows counted, otherwise than of small ones: in "
        "chunks, in 16 bits, or up to a limit",
    ),
    TableRole.SPELLED: Note(
        "spellings-mixed",
        "spellings of a partition, as 'a', 'A' and 'a ', are bounded as one and counted as "
        "several, or the other way round",
    ),
    TableRole.ZERO: Note(
        "user-not-bounded", "the user 0, or -1, is taken for nobody: its rows are not bounded"
    ),
    TableRole.WIDE: Note(
        "users-merged",
        "different users are taken for one, as their numbers are cut to 32 bits or to some digits",
        {"by": "cut numbers"},
    ),
    TableRole.FAR_APART: Note(
        "users-forgotten",
        "users are forgotten once thousands of others have come: who comes again is bounded anew, "
        "as where a store of users has room for so many",
    ),
    TableRole.FEW_ROWS: Note(
        "small-inputs-differ", "users of tables of few rows are not bounded as those of others"
    ),
}
"""Of unusual rows, where nothing else is wrong."""

_BY_NORMAL = (
    "mean and variance of the evidence of each input by itself, from exact moments, taken to be "
    "normal"
)
_OTHERWISE = {"refused": "rows-not-refused", "dropped": "rows-refused"}
"""Of rows that lack a part, by what becomes of them: the code where they are taken otherwise."""

_BOUNDS = "partitions", "per_partition", "rows"
_PROOF = "one such row that is taken otherwise is a proof"

Of = tuple[str, int]
"""The role of an input, and the place of an aggregate."""


class ContributionBounding(TableCheck):
    """Wagers on sums of released numbers, of users and values within and beyond their bounds."""

    id = "contribution-bounding"
    unit = "numbers"

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._cells = core(claim)
        self.inputs = {
            asked.role: asked
            for asked in plan.inputs
            if isinstance(asked, TableAsked) and asked.role in BEYOND | UNUSUAL
        }
        self.wanted = max(_FEWEST, math.ceil(plan.share * _WANTED))
        self._served = {*self.inputs}
        self._refused = {role for role in self.inputs if self._part(role) == "refused"}
        self._proof: Finding | None = None
        self._made: dict[Of, LinearEvidence | None] = {}
        self._seen: dict[str, int] = {}
        self._kept: dict[Of, Rows | None] = {}
        self._mistakes = Mistakes(self.table, self._cells, self.cells)
        self.branches: BoundsAtBranches | None = None

    def begin_branches(self, inputs: Sequence[BranchTable]) -> None:
        """Is told the tables that are steered to decisions of the target's code."""
        self.branches = BoundsAtBranches(self.claim, inputs)

    def observe_branch(self, place: int, batch: Batch) -> None:
        """Adds releases of one of these, which no other evidence counts."""
        assert self.branches is not None
        self.branches.observe(place, batch)
        self.draws += len(batch.releases) * self.columns * self._cells.size

    def answered(self, roles: Collection[str]) -> None:
        self._served = {*roles} & self.inputs.keys()
        self._refused = self.inputs.keys() - roles

    def not_taken(self, found: NotTaken) -> None:
        """Takes a row that is refused, although the claim has it dropped: a proof."""
        message = f"{found.message}, and the claim says that such rows are dropped"
        words = f"{found.role} are refused, not dropped"
        cause = Note("rows-refused", words, {"input": str(found.role)})
        self._proof = self._proof or Finding.caused(message, cause, math.inf)

    def evidence(self, of: Of) -> LinearEvidence | None:
        """Made once it is needed: a plan does without. None where the law is not known."""
        if of not in self._made:
            role, column = of
            bounding, rows, one = *self._asked(role), self.table.aggregates[column]
            plain = one.bound is None and one.hidden is None
            law = (bounding, rows) if plain else settled(bounding, rows)
            if law is not None and one.hidden is not None:
                law = law if law[0].holds(law[1]) and bounding.kept != "any" else None
            self._kept[of] = None if law is None else law[1]
            self._made[of] = (
                None
                if law is None
                else LinearEvidence(law[0], one, law[1], self._cells, self.cells)
            )
        return self._made[of]

    def _asked(self, role: str) -> tuple[Bounding, Rows]:
        """The rows of an input, and the bounds that it is judged by."""
        bounding, rows = self.table.bounding, self.inputs[role].values
        if role == TableRole.INFINITE and bounding.kept != "all":
            bounding = replace(bounding, kept="any")  # a value beyond any may as well be dropped
        return bounding, rows

    def _as_sums(self, of: Of, released: Matrix) -> Matrix:
        """Released numbers (n, cells), of a mean without its count as the sums behind them."""
        one, rows = self.table.aggregates[of[1]], self._kept[of]
        if one.hidden is None or rows is None:
            return released
        counts = np.bincount(rows.cells, minlength=self.cells).astype(float)
        found = released.copy()
        some = self._cells
        exact = one.totals(rows, self.cells)
        found[:, some] = one.as_sums(released[:, some], exact[some], counts[some])
        return found

    @property
    def _judged(self) -> dict[Of, LinearEvidence]:
        """The evidence of inputs that have been asked."""
        return {of: found for of, found in self._made.items() if found is not None}

    def observe(self, draws: Draws) -> None:
        for batch in draws.batches:
            if batch.asked.role not in self.inputs:
                continue
            released = batch.releases.reshape(len(batch.releases), self.columns, self.cells)
            self.draws += len(batch.releases) * self.columns * self._cells.size
            self._proof = self._proof or self._impossible(batch.asked.role, released)
            if self._proof is not None:
                continue
            role = batch.asked.role
            self._seen[role] = self._seen.get(role, 0) + len(released)
            for column in range(self.columns):
                evidence = self.evidence((role, column))
                if evidence is not None:
                    evidence.observe(self._as_sums((role, column), released[:, column]))

    def _impossible(self, role: str, released: NDArray[np.float64]) -> Finding | None:
        """What no draw of noise explains, of rows that lack something or are infinite."""
        fields: Fields = {"input": str(role)}
        if self._part(role) == "refused":
            message = f"{role} were answered, and the claim says that they are refused"
            cause = Note("rows-not-refused", f"{role} are not refused", fields)
        elif (released[:, 0, 0] == -np.inf).any():
            message = f"of the input {role}, the partition NULL was released"
            cause = Note("null-partition-released", "NULL is released as a partition", fields)
        elif np.isinf(released).any():
            _, column, cell = np.argwhere(np.isinf(released))[0]
            kind = self.table.aggregates[column].name
            message = f"of the input {role}, the {kind} of {self.named(int(cell))} is no number"
            fields = {**fields, "aggregate": kind, "partition": self.claim.keys[cell]}
            cause = Note("number-not-finite", f"one such row makes the {kind} no number", fields)
        else:
            return None
        return Finding.caused(message, cause, math.inf)

    def _part(self, role: str) -> str | None:
        """What becomes of the rows of an input that lack a part; None where none does."""
        part = LACKING.get(role)
        return None if part is None else self.claim.mechanism.missing.parts[part]

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Other bounds, by the releases of each input that a pass needs.

        Of rows that lack a part, that they are taken otherwise than the claim says.
        """
        wagers = len(self.inputs) * self.columns / (1.0 - BRANCHES)
        nats = self.log_threshold + math.log(wagers)
        found: dict[str, tuple[Note, list[str]]] = {}
        served = [role for role in self.inputs if role in self._served - UNUSUAL]
        for role, column in itertools.product(served, range(self.columns)):
            evidence = self.evidence((role, column))
            if evidence is None:
                continue
            for cause, bounding, rows in self._other_engines(role, column):
                _, where = found.setdefault(cause.message, (cause, []))
                if role not in where and evidence.shows(bounding, rows, self.wanted, nats):
                    where.append(role)
        entries = []
        for cause, where in found.values():
            draws = self.wanted * self.columns * self._cells.size * len(where)
            if where:
                told = self.entry(cause.code, cause.fields, where, draws, method=_BY_NORMAL)
                entries.append(told)
        for role in self.inputs:
            code = _OTHERWISE.get(self._part(role) or "")
            if code and (role in self._refused) == (code == "rows-not-refused"):
                size: Fields = {"input": str(role)}
                entries.append(self.entry(code, size, [role], 1, method=_PROOF))
        return tuple(entries)

    def _other_engines(self, role: str, column: int) -> Iterator[tuple[Note, Bounding, Rows]]:
        """Engines with a known mistake: its cause, their bounds, and what each row adds there.

        Bounds that keep less than the claimed ones cost no privacy, and take a minute to judge.
        """
        claimed, rows = self.table.bounding, self.inputs[role].values
        one = self.table.aggregates[column]
        if one.hidden is not None:
            return  # what its sums are there is not known
        for cause, bounding in other_bounds(claimed):
            if any(getattr(bounding, of) < getattr(claimed, of) for of in _BOUNDS):
                continue
            law = (bounding, rows) if one.bound is None else settled(bounding, rows)
            if law is not None and (bounding.kept != "any" or bounding.holds(rows)):
                yield cause, law[0], one.contributions(law[1])
        if one.once or (claimed.kept == "any" and not claimed.holds(rows)):
            return
        mistakes = ROW_BY_ROW if one.bound is None else ()
        for cause, made in OTHER_CONTRIBUTIONS if claimed.holds(rows) else mistakes:
            yield cause, claimed, made(rows, one)

    @property
    def log_e_value(self) -> float:
        """The average over inputs and aggregates."""
        if self._proof is not None:
            return math.inf
        wagers = len(self.inputs) * self.columns
        logs = [found.log_e_value for found in self._judged.values()]
        logs += [0.0] * (wagers - len(logs))
        planned = float(np.logaddexp.reduce(logs) - math.log(wagers))
        return with_branches(planned, 0.0 if self.branches is None else self.branches.log_e_value)

    def samples_needed(self) -> int:
        """An unserved input is not waited for, nor is one of few releases."""
        waited = self._served - BRIEF
        least = min((self._seen.get(role, 0) for role in waited), default=self.wanted)
        short = self.wanted - least
        return self.as_draws(max(0, short) * len(self.inputs))

    def fail_finding(self) -> Finding:
        if self._proof is not None:
            return self._proof
        judged = self._judged
        most = max((one.log_e_value for one in judged.values()), default=-math.inf)
        if self.branches is not None and self.branches.log_e_value > most:
            return self.branches.finding()
        role, column = max(judged, key=lambda of: judged[of].log_e_value)
        found, one = judged[role, column], self.table.aggregates[column]
        rows = self.inputs[role].values
        expected = numbers(self.table, rows, self.cells, 0)[column, self._cells].sum()
        total = found.total[self._cells].sum() / max(1, found.releases)
        over = "one release" if found.releases == 1 else f"the mean of {found.releases:,} releases"
        message = (
            f"of the input {role}, the {one.name} adds up to {total:,.6g} over all partitions, in "
            f"{over}, and to {expected:,.6g} under the claim"
        )
        fields: Fields = {
            "input": str(role),
            "aggregate": one.name,
            "total": float(total),
            "expected": float(expected),
            "releases": found.releases,
        }

        def because(cause: Note, odds: float, near: Note | None = None) -> Finding:
            made = replace(Finding.caused(message, cause, odds), fields={**fields, **cause.fields})
            return made if near is None else made.with_near(near)

        usual = {of: one for of, one in judged.items() if of[0] not in UNUSUAL}
        shown = max((one.log_e_value for one in usual.values()), default=0.0) >= SURE
        if shown or role not in _CAUSES:
            of_rows = {role: self.inputs[role].values for role, _ in usual}
            named = self._mistakes.likeliest(of_rows, usual)
            if named is not None:
                return because(*named)
        if role in _CAUSES:
            return because(_CAUSES[role], found.log_e_value)
        return Finding(message, code="totals-unexplained", fields=fields)

    def pass_finding(self) -> Finding:
        bounding = self.table.bounding
        left = ""
        if bounding.kept == "any":
            left = "; which rows stay was not judged, only how much of a user does"
        claimed = self.claim.mechanism.missing.parts
        asked = [role for role in self.inputs if role in UNUSUAL and role in self._seen]
        asked += [role for role, part in LACKING.items() if claimed.get(part) == "refused"]
        said = f"; {', '.join(map(str, asked))} as claimed" if asked else ""
        parts = [part for part in PARTS if part not in claimed]
        lacking = f"; rows without a {' or a '.join(parts)} were not asked" if parts else ""
        usual = [asked for asked in self.plan.inputs if asked.role != TableRole.LARGE]
        most = max(asked.records for asked in usual)
        large = f"; none has more than {most:,} rows (largest_input in [mechanism] asks more)"
        users = max(np.unique(asked.values.users).size for asked in self.inputs.values())
        large += f", or {users:,} users"
        if TableRole.LARGE in self._seen:
            rows, times = len(self.inputs[TableRole.LARGE].values), self._seen[TableRole.LARGE]
            large = f"; one more has {rows:,} rows, in {times:,} releases"
        excludes = self.excluded
        seen = "; no other bound would surely have been seen"
        if excludes:
            sure = min(one.probability for one in excludes)
            seen = f"; {len(excludes)} other ways to bound would have been seen"
            seen += f" with probability {sure:g} each"
        return Finding(
            f"no departure from the bounds of the claim was seen in {self.draws:,} numbers of "
            f"{len(self._served - BRIEF)} inputs, each in {self.wanted} or more "
            "releases: users of one "
            "partition, of all, and of up to 10,000 rows, values far beyond their bounds, equal "
            f"rows{said}{left}{lacking}{large}{seen}",
            excludes=excludes,
        )
