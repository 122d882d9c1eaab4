"""Checks of numbers, asked of each aggregate: its noise is that of a noisy histogram's counts."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ....evidence.mixture import log_mean_of
from ....evidence.parts import Parts
from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Note
from ...numbers.checks.at_branches import BRANCHES, with_branches
from ...numbers.checks.base import NumberCheck, tell_least
from ...numbers.checks.fresh_noise import CopyOf, FreshNoise
from ...numbers.checks.independence import Independence
from ...numbers.checks.location import Location
from ...numbers.checks.noise_law import NoiseLaw
from ...numbers.checks.noise_scale import NoiseScale
from ...numbers.evidence.bins import Placing
from ...numbers.opening import NumbersOpening
from ...numbers.planning.asked import Batch, Draws
from ..claim import TablesClaim
from ..evidence.columns import Columns
from ..evidence.other_divisor import BY_EXACT, OtherDivisor
from ..planning.plan import TablePlan
from .at_branches import BranchTable, NoiseAtBranches, draws_of
from .base import TableCheck

_FEWEST = 500  # draws, of a check that is thinned


class OfEachAggregate(TableCheck):
    """A check of numbers of each aggregate; its evidence is the average of theirs.

    made: the check. The threshold of each is that of all, times how many there are.
    """

    made: ClassVar[type[NumberCheck]]
    thinned: ClassVar[bool] = False
    """Whether a run of few releases looks at fewer draws, since they are looked at for breadth."""

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._columns = Columns(claim, plan)
        self.each = []
        for column, law in enumerate(self._columns.laws):
            own = self._columns.numbers_plan(column)
            check = self.made(law, self.gate, self.share, own, seed)
            check.log_threshold = self.log_threshold + math.log(self.columns)
            if self.thinned:
                fewer = math.ceil(plan.share * check.wanted_draws)
                check.wanted_draws = max(_FEWEST, fewer)
            self.each.append(check)

    def answered(self, roles: Collection[str]) -> None:
        for check in self.each:
            check.answered([role for role in check.roles if role in roles])

    def observe(self, draws: Draws) -> None:
        for check, own in zip(self.each, self._columns.of(draws), strict=False):
            check.observe(own)
        self.draws = sum(check.draws for check in self.each)

    @property
    def log_e_value(self) -> float:
        logs = [check.log_e_value for check in self.each]
        return float(np.logaddexp.reduce(logs) - math.log(len(logs)))

    def samples_needed(self) -> int:
        return self.columns * max(check.samples_needed() for check in self.each)

    @property
    def worst(self) -> int:
        """The place of the aggregate that shows most."""
        return int(np.argmax([check.log_e_value for check in self.each]))

    def fail_finding(self) -> Finding:
        return self.found_of(self.worst)

    def found_of(self, column: int) -> Finding:
        """What is found of one aggregate."""
        kind = self.table.aggregates[column].name
        found = self.each[column].fail_finding()
        if found.cause is not None:
            cause, diagnosis = f"{kind}: {found.cause}", f"{kind}: {found.diagnosis}"
            found = replace(found, cause=cause, diagnosis=diagnosis)
        message, fields = f"of the {kind}, {found.message}", {**found.fields, "aggregate": kind}
        # what is measured would not say of which aggregate
        return replace(found, message=message, fields=fields, measured=None)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Of each aggregate, which the size names."""
        return tuple(
            one.model_copy(update={"size": {**one.size, "aggregate": aggregate.name}})
            for aggregate, check in zip(self.table.aggregates, self.each, strict=True)
            for one in check.excluded
        )

    def pass_finding(self) -> Finding:
        each = [
            f"{one.name}: {check.pass_finding().message}"
            for one, check in zip(self.table.aggregates, self.each, strict=True)
        ]
        return Finding("; ".join(each), excludes=self.excluded)


def tell_least_of_each(made: Iterable[object]) -> None:
    """Of checks of each aggregate, among those made."""
    tell_least(one for check in made if isinstance(check, OfEachAggregate) for one in check.each)


class TableNoiseLaw(OfEachAggregate):
    """`noise-law` of each aggregate."""

    id, made = "noise-law", NoiseLaw

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.branches: NoiseAtBranches | None = None
        self._steered = 0
        for check in self.each:
            check.log_threshold -= math.log1p(-BRANCHES)

    def begin_branches(self, inputs: Sequence[BranchTable]) -> None:
        """Is told the tables that are steered to decisions of the target's code."""
        self.branches = NoiseAtBranches(self.claim, inputs, self.seed)

    def observe_branch(self, place: int, batch: Batch) -> None:
        """Adds releases of one of these, which no other evidence of this check counts."""
        assert self.branches is not None
        self._steered += self.branches.observe(place, batch)
        self.draws = sum(check.draws for check in self.each) + self._steered

    def observe(self, draws: Draws) -> None:
        super().observe(draws)
        self.draws += self._steered

    @property
    def log_e_value(self) -> float:
        branches = 0.0 if self.branches is None else self.branches.log_e_value
        return with_branches(super().log_e_value, branches)

    @property
    def _shown_by_branches(self) -> bool:
        """Whether tables steered to decisions of the code tell more than all others."""
        return self.branches is not None and self.branches.log_e_value > super().log_e_value

    def fail_finding(self) -> Finding:
        if self._shown_by_branches:
            assert self.branches is not None
            return self.branches.finding()
        return super().fail_finding()

    def pass_finding(self) -> Finding:
        found = super().pass_finding()
        asked = None if self.branches is None else self.branches.words
        said = "; ".join(filter(None, [found.message, asked]))
        return replace(found, message=said)

    @property
    def measured_by(self) -> str | None:
        """Of the aggregate that shows most."""
        if self._shown_by_branches:
            return None
        law = self.each[self.worst]
        assert isinstance(law, NoiseLaw)
        return law.measured_by


class TableNoiseScale(OfEachAggregate):
    """`noise-scale` of each aggregate, with the factors that engines forget."""

    id, made = "noise-scale", NoiseScale

    @property
    def parts(self) -> Parts:
        """As one: the mean of the evidence now, of which the highest is no e-value."""
        logs = np.array([check.parts.log_e_value for check in self.each])
        return Parts.whole(log_mean_of(logs))

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        kinds = [one.kind for one in self.table.aggregates]
        self._count = kinds.index("count") if "count" in kinds else None
        self._divided = {
            place: OtherDivisor(one.noise)
            for place, one in enumerate(self.table.aggregates)
            if one.kind == "mean" and one.hidden is None and not one.noise.family.whole
        }

    def observe(self, draws: Draws) -> None:
        super().observe(draws)
        if self._count is None or not self._divided:
            return
        own = self._columns.of(draws)
        for place, divided in self._divided.items():
            if max(place, self._count) < len(own):
                divided.observe(own[place], own[self._count])

    def found_of(self, column: int) -> Finding:
        check, found = self.each[column], super().found_of(column)
        assert isinstance(check, NoiseScale)
        kind, divided = self.table.aggregates[column].name, self._divided.get(column)
        if divided is not None and divided.describes and divided.log_odds > (found.log_odds or 0.0):
            told = Finding.caused(found.message, BY_EXACT, divided.log_odds, aggregate=kind)
            return replace(told, cause=f"{kind}: {BY_EXACT}", diagnosis=f"{kind}: {BY_EXACT}")
        forgotten = self._forgotten(column)
        likely = [note for factor, note in forgotten if check.is_likely(factor)]
        if not likely or found.cause is None:
            return found
        known, *others = likely
        cause = f"{kind}: {known}"
        fields = {**found.fields, **known.fields}
        told = replace(found, cause=cause, diagnosis=cause, code=known.code, fields=fields)
        # as two mistakes may take the same factor from the scale
        return told if not others else told.with_near(others[0])

    def _forgotten(self, column: int) -> list[tuple[float, Note]]:
        """Factors of the scale, and what an engine that has them leaves out."""
        bounding, one = self.table.bounding, self.table.aggregates[column]
        gaussian = "gaussian" in one.noise.family.family
        found: list[tuple[float, str, str]] = []  # what is missing, as a field and in words
        if bounding.kept == "all":
            pass
        elif bounding.max_rows is None:
            once = one.once or one.bound is not None
            most, rows = bounding.partitions, 1 if once else bounding.per_partition
            of = math.sqrt(most) if gaussian else float(most)
            missing = f"max_partitions = {most} is missing"
            found += [(of, "max_partitions", missing)] if most > 1 else []
            if rows > 1:
                per = f"max_per_partition = {rows}"
                found.append((float(rows), "max_per_partition", f"{per} is missing"))
                both = "max_partitions and max_per_partition"
                found.append((of * rows, both, f"max_partitions and {per} are missing"))
        elif bounding.max_rows > 1:
            most = bounding.max_rows
            found.append((float(most), "max_rows", f"max_rows = {most} is missing"))
        if self.columns > 1:
            words = f"the budget is not divided among {self.columns} aggregates"
            found.append((float(self.columns), _UNDIVIDED, words))
        if one.largest != 1.0:
            off = f" off {one.centre:g}" if one.centre else ""
            words = f"made for values up to 1{off}, not up to {one.largest:g}"
            if one.bound is not None:
                words = f"max_norm = {one.largest:g} is missing"
            found.append((one.largest, "values" if one.bound is None else "max_norm", words))
        size = self.claim.mechanism.vector_size
        if one.coordinate is not None and size > 1:
            by_size = math.sqrt(size) if gaussian else float(size)
            found.append((by_size, "size", f"size = {size} is missing"))
        return [(1.0 / f, _too_small(f, missing, words)) for f, missing, words in found]


_UNDIVIDED = "budget"


def _too_small(times: float, missing: str, words: str) -> Note:
    """Noise of too small a scale, by so many times, since something was left out of it."""
    message = f"noise of 1/{times:.3g} of the claimed scale: {words}"
    code = "budget-not-divided" if missing == _UNDIVIDED else "sensitivity-too-small"
    return Note(code, message, {"factor": 1.0 / times, "missing": missing})


class _Centre(Location):
    """`location`, which a run of few releases tells less exactly."""

    @property
    def near(self) -> float:
        return super().near / math.sqrt(self.plan.share)


class TableLocation(OfEachAggregate):
    """`location` of each aggregate."""

    id, made = "location", _Centre


class TableIndependence(OfEachAggregate):
    """`independence` of the partitions of each aggregate, of releases, and of calls."""

    id, made = "independence", Independence


class TableFreshNoise(OfEachAggregate):
    """`fresh-noise` of each aggregate."""

    id, made, thinned = "fresh-noise", FreshNoise, True

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._tables: Sequence[BranchTable] = ()
        rng = np.random.default_rng([seed, 71])
        self._placing = [Placing(one.noise, rng) for one in self.table.aggregates]

    def begin_branches(self, inputs: Sequence[BranchTable]) -> None:
        """Is told the tables that are steered to decisions of the target's code."""
        self._tables = inputs

    def observe_branch(self, place: int, batch: Batch) -> None:
        """Adds releases of one of these to those of the plan, where all numbers are exact."""
        cells = self._columns.cells
        for column in enumerate(self.table.aggregates):
            check, placing = self.each[column[0]], self._placing[column[0]]
            draws = draws_of(self._tables[place], batch, column, cells, placing)
            if draws is not None and draws.coordinates.size == cells.size:
                check.observe(draws)
        self.draws = sum(check.draws for check in self.each)

    def before_restarts(self) -> None:
        """As the check of the first aggregate, whose starts are compared."""
        self._of_first.before_restarts()

    def compare(self, earlier: NumbersOpening, now: NumbersOpening, way: CopyOf) -> None:
        """Takes the first releases of two starts: those of the first aggregate are compared."""
        width = self._columns.cells.size

        def first(opening: NumbersOpening) -> NumbersOpening:
            rows = tuple(row[:width] for row in opening.releases)
            return NumbersOpening(exact=opening.exact[:width], releases=rows)

        self._of_first.compare(first(earlier), first(now), way)

    @property
    def _of_first(self) -> FreshNoise:
        check = self.each[0]
        assert isinstance(check, FreshNoise)
        return check
