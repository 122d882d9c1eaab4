"""`dpassay compare`: two reports, or two folders of them, side by side, and what became worse."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import Field

from ..cli.exit_statuses import fail, json_option, print_found
from ..findings.compared import ComparedCheck, ComparedReports, ComparedResult, ComparedRun
from ..findings.document import Document
from ..findings.evidence_text import power_of_ten
from ..findings.excluded import Excluded
from ..findings.kept_reports import read_reports
from ..findings.opening import EarlierReportError
from ..findings.verdict import Verdict
from ..findings.worse import interval_text, names_same_fault
from ..targets.replies import shown
from ..text import counted, printable


@click.command()
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@json_option
def compare(*, before: Path, after: Path, as_json: bool) -> None:
    """Lay reports A and B of `dpassay verify` side by side; exit 1 where something became worse.

    A, the earlier one, and B are files that --json printed or --report wrote, of one target or of
    several, or folders of NAME.json or NAME/report.json, matched by name. Worse is a lower verdict,
    a new code of a defect, a higher certified cost, a pass that would have seen less, or a measured
    interval that is disjoint from the earlier one.
    """
    try:
        found = compared(before, after)
    except EarlierReportError as error:
        fail(error)
    print_found(found, as_json)
    sys.exit(1 if found.became_worse else 0)


class Comparison(Document):
    """Reports side by side, matched by the names of their targets."""

    became_worse: bool = Field(description="Exit status 1.")
    before: str = Field(description="A, as it was typed.")
    after: str = Field(description="B, as it was typed.")
    compared: tuple[ComparedReports, ...]
    missing: tuple[str, ...] = Field(description="Names in A alone, which is worse.")
    new: tuple[str, ...] = Field(description="Names in B alone.")

    def as_text(self) -> str:
        """What became worse first, then each pair of reports."""
        return "\n".join(map(printable, self._lines()))

    def _lines(self) -> Iterator[str]:
        number = len(self.missing) + sum(len(one.worse) for one in self.compared)
        things = counted(number, "thing", "things")
        yield f"WORSE: {things} became worse" if number else "NOT WORSE: nothing became worse"
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


def compared(before: Path, after: Path) -> Comparison:
    """Reports at two paths. Raises EarlierReportError for what holds none, and for other kinds."""
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
