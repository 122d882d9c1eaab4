"""Reports, folders of them or ledgers side by side: a document, and its text."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from ..findings.compared import ComparedCheck, ComparedReports, ComparedResult, ComparedRun
from ..findings.document import Document
from ..findings.evidence_text import power_of_ten
from ..findings.excluded import Excluded
from ..findings.kept_reports import read_reports
from ..findings.opening import EarlierReportError
from ..findings.verdict import Verdict
from ..findings.worse import interval_text, names_same_fault
from ..inputs.input_error import OptionsError
from ..targets.replies import shown
from ..text import counted, printable
from .chain import is_ledger
from .run_lines import lines_of_compared
from .standing import (
    ComparedLedger,
    KeptLedger,
    Standing,
    compared_standings,
    newest,
    of_one,
)


class Comparison(Document):
    """Reports side by side, matched by the names of their targets."""

    became_worse: bool = Field(description="Exit status 1.")
    before: str = Field(description="A, as it was typed.")
    after: str | None = Field(description="B, as it was typed; null of a ledger alone.")
    ledger: ComparedLedger | None = Field(
        default=None, description="Where A or B is a ledger; nothing else is compared then."
    )
    compared: tuple[ComparedReports, ...]
    missing: tuple[str, ...] = Field(description="Names in A alone, which is worse.")
    new: tuple[str, ...] = Field(description="Names in B alone.")

    def as_text(self) -> str:
        """What became worse first, then each pair of reports."""
        return "\n".join(map(printable, self._lines()))

    def worse_lines(self) -> Iterator[str]:
        """What became worse, a line each."""
        yield from (f"{name}: B has no report of it" for name in self.missing)
        for one in self.compared:
            yield from (
                f"{one.name}: {each.message}" if one.name else each.message for each in one.worse
            )
        if self.ledger is not None:
            yield from (each.message for each in self.ledger.worse)

    def _lines(self) -> Iterator[str]:
        number = len([*self.worse_lines()])
        things = counted(number, "thing", "things")
        alone = self.ledger is not None and None in (self.ledger.before, self.ledger.after)
        if alone:
            yield "NOTHING TO COMPARE: fewer than two runs have ended"
        else:
            yield f"WORSE: {things} became worse" if number else "NOT WORSE: nothing became worse"
        if self.ledger is not None:
            yield from lines_of_compared(self.ledger)
            return
        sides = (f"A, {self.before}", f"B, {self.after}")
        several = any(one.name for one in self.compared)
        yield from sides if several else ()
        for name in self.missing:
            yield f"worse: {name}: B has no report of it"
        for name in self.new:
            yield f"new: {name}: A has no report of it"
        for one in self.compared:
            yield ""
            if one.name:
                yield f"== {one.name}"
            yield from _pair_lines(one, *("AB" if several else sides))


def compared(before: Path, after: Path | None) -> Comparison:
    """What lies at two paths, or a ledger at one.

    Raises InputError of one line for what is no report or ledger, and for other kinds of release.
    """
    if is_ledger(before) or (after is not None and is_ledger(after)):
        found = _of_ledgers(before, after)
        return Comparison(
            became_worse=bool(found.worse),
            before=str(before),
            after=None if after is None else str(after),
            ledger=found,
            compared=(),
            missing=(),
            new=(),
        )
    if after is None:
        raise OptionsError(f"{before} is no ledger: expected a second report, B")
    return _of_reports(before, after)


def _of_ledgers(before: Path, after: Path | None) -> ComparedLedger:
    if after is None:
        return of_one(KeptLedger.read(before))
    ledgers, kinds = list[KeptLedger](), set[str]()
    sides = list[Standing | None]()
    for path in (before, after):
        if is_ledger(path):
            ledgers.append(ledger := KeptLedger.read(path))
            sides.append(newest(ledger))
            kinds |= {ledger.kind} if ledger.kind is not None else set()
        else:
            report = read_reports(path).get("")
            if report is None:
                raise EarlierReportError(f"{path} holds reports by names, beside a ledger of one")
            sides.append(Standing.of_report(str(path), report))
            kinds.add(report.kind)
    if len(kinds) > 1:
        raise EarlierReportError(
            f"{before} and {after} are of other kinds of release: {' and '.join(sorted(kinds))}"
        )
    return compared_standings(tuple(ledgers), *sides)


def _of_reports(before: Path, after: Path) -> Comparison:
    earlier, later = read_reports(before), read_reports(after)
    if ("" in earlier) != ("" in later):
        single, several = (before, after) if "" in earlier else (after, before)
        raise EarlierReportError(f"{single} is one report, and {several} holds reports by names")
    if not earlier.keys() & later.keys():
        raise EarlierReportError(f"{before} and {after} have no name of a target in common")
    found = []
    for name, report in earlier.items():
        other = later.get(name)
        if other is None:
            continue
        if report.kind != other.kind:
            of = f" of {name}" if name else ""
            raise EarlierReportError(
                f"the reports{of} are of other kinds of release: {report.kind} and {other.kind}"
            )
        found.append(ComparedReports.of(name, report, other))
    missing = tuple(name for name in earlier if name not in later)
    return Comparison(
        became_worse=bool(missing) or any(one.worse for one in found),
        before=str(before),
        after=str(after),
        compared=tuple(found),
        missing=missing,
        new=tuple(name for name in later if name not in earlier),
    )


def _pair_lines(of: ComparedReports, before: str, after: str) -> Iterator[str]:
    yield f"{before}: {_run_text(of.before)}"
    yield f"{after}: {_run_text(of.after)}"
    yield from (f"worse: {one.message}" for one in of.worse)
    for one in of.differs:
        if one.before is not None and one.after is not None:
            name = one.key if one.what == one.key else f"{one.what} {one.key}"
            yield f"differs: {name} {shown(one.before)} in A, {shown(one.after)} in B"
    for side, name in (("before", "A"), ("after", "B")):
        unsaid = [one.key for one in of.differs if getattr(one, side) is None]
        if unsaid:
            yield f"not said in {name}: {', '.join(unsaid)}"
    yield from (f"not compared: {line}" for line in of.not_compared)
    yield ""
    yield from _table(of.checks)


def _run_text(run: ComparedRun) -> str:
    when = "" if run.started is None else f", {run.started:%Y-%m-%d %H:%M} UTC"
    asked = counted(run.queries, "query", "queries")
    return f"{run.verdict.upper()}, {run.claimed}, {asked}, seed {run.seed}{when}"


_HEAD = ("check", "A", "B", "e-value A", "B", "refutes", "looked at A", "B")


def _table(checks: tuple[ComparedCheck, ...]) -> Iterator[str]:
    """A row of each check that applies to either run, with what else it says below."""
    silent = [one.id for one in checks if _says_nothing(one)]
    rows = {one.id: _row(one) for one in checks if one.id not in silent}
    wide = [max(map(len, column)) for column in zip(_HEAD, *rows.values(), strict=True)]
    yield _aligned(_HEAD, wide)
    for one in checks:
        if one.id in rows:
            yield _aligned(rows[one.id], wide)
            yield from (f"    {line}" for line in _details(one))
    if silent:
        yield f"apply to neither: {', '.join(silent)}"


def _aligned(cells: tuple[str, ...], wide: list[int]) -> str:
    left = (f"{cell:<{width}}" for cell, width in zip(cells[:3], wide[:3], strict=True))
    right = (f"{cell:>{width}}" for cell, width in zip(cells[3:], wide[3:], strict=True))
    return "  ".join([*left, *right]).rstrip()


def _says_nothing(check: ComparedCheck) -> bool:
    sides = (check.before, check.after)
    return all(one is None or one.verdict is Verdict.NOT_APPLICABLE for one in sides)


def _row(check: ComparedCheck) -> tuple[str, ...]:
    sides = check.before, check.after
    refutes = next((one.threshold_log10 for one in reversed(sides) if one is not None), None)
    return (
        check.id,
        *("-" if one is None else one.verdict.value for one in sides),
        *(_evidence(None if one is None else one.log10_e_value) for one in sides),
        _evidence(refutes),
        *("-" if one is None else f"{one.queries:,}" for one in sides),
    )


def _evidence(log10: float | None) -> str:
    return "-" if log10 is None else power_of_ten(log10)


def _details(check: ComparedCheck) -> Iterator[str]:
    """What the pass of each would have seen, measured, and what is certain of the cost."""
    sides = check.before, check.after
    yield from _seen_lines(*(() if one is None else one.excludes for one in sides))
    yield from _beside("measured", *([_measured_text(one)] for one in sides))
    yield from _beside("costs", *([_cost_text(one)] for one in sides))
    inputs = [set[str]() if one is None else set(one.inputs) for one in sides]
    if all(inputs) and inputs[0] != inputs[1]:
        numbers = (f"{len(own):,} in {side}" for own, side in zip(inputs, "AB", strict=True))
        yield f"inputs: {', '.join(numbers)}, {len(inputs[0] & inputs[1]):,} of them in both"


def _beside(what: str, before: list[str], after: list[str]) -> Iterator[str]:
    """Lines that both have once, others with the report that has them."""
    for line in dict.fromkeys(filter(None, before + after)):
        side = "" if line in before and line in after else " in A" if line in before else " in B"
        yield f"{what}{side}: {line}"


def _seen_lines(before: tuple[Excluded, ...], after: tuple[Excluded, ...]) -> Iterator[str]:
    """What passes exclude, a line for each fault; of both, with both sizes where they differ."""
    left = list(after)
    for one in before:
        other = next((each for each in left if names_same_fault(one, each)), None)
        if other is None:
            yield f"excludes in A: {one.as_text()}"
            continue
        left.remove(other)
        alike = one.size == other.size and one.probability == other.probability
        size = other.as_text().removeprefix(f"{one.fault}: ")
        yield f"excludes: {one.as_text()}" + ("" if alike else f"; in B {size}")
    yield from (f"excludes in B: {one.as_text()}" for one in left)


def _measured_text(found: ComparedResult | None) -> str:
    if found is None or found.measured is None:
        return ""
    return f"{found.measured.what} {interval_text(found.measured.low, found.measured.high)}"


def _cost_text(found: ComparedResult | None) -> str:
    return "" if found is None or found.cost is None else found.cost.in_words
