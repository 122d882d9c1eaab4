"""What the zoos of labels and of numbers have in common: aggregators by name, and runs on them."""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpassay.verifiers.findings.report import Report


@dataclass(frozen=True)
class Outcome:
    """What one run said of one aggregator.

    reporting: the checks that accuse it; found: queries until one did; queries: of the whole run;
    code, fields: of the first failing check.
    """

    verdict: str
    reporting: tuple[str, ...]
    found: int | None
    queries: int
    diagnosis: str
    code: str | None
    fields: dict[str, Any]

    @property
    def until(self) -> int:
        """Queries until the aggregator was refuted, or of the whole run where it was not."""
        return self.queries if self.found is None else self.found


Outcomes = dict[str, list[Outcome]]
"""By the aggregator's name."""


@dataclass(frozen=True)
class Zoo:
    """Aggregators of one kind, and the page about them.

    assayed: a function (seed, *names) of a module that gives the outcome of each, as a table of
    JSON; together: sorts names into lots, each for one call of it; runs_of: how many of so many
    runs an aggregator has; row: about one aggregator.
    """

    entries: Mapping[str, Any]
    assayed: Callable[..., dict[str, dict[str, Any]]]
    page: Callable[[Outcomes, int], Iterator[str]]
    page_name: str
    row: Callable[[Any, list[Outcome]], str]
    together: Callable[[Iterable[str]], list[list[str]]]
    runs_of: Callable[[Any, int], int]


def outcome(report: Report, accusing: Iterable[str]) -> dict[str, Any]:
    """The outcome of a run as a table of JSON; accusing: verdicts of a check that accuses."""
    reporting = tuple(check.id for check in report.checks if check.verdict.value in accusing)
    verdict, found = report.verdict.value, report.found_after
    first = next((check for check in report.checks if check.verdict == "fail"), None)
    code, fields = (None, {}) if first is None else (first.code, dict(first.fields))
    said = diagnosis(report)
    return asdict(Outcome(verdict, reporting, found, report.queries, said, code, fields))


def outcome_of(table: dict[str, Any]) -> Outcome:
    """The outcome of a run from its table of JSON."""
    return Outcome(**table | {"reporting": tuple(table["reporting"])})


def diagnosis(report: Report) -> str:
    """That of the first failing check, or of the check that it defers to."""
    causes = {f.id: f.diagnosis for f in report.checks if f.verdict == "fail" and f.diagnosis}
    first = next(iter(causes.values()), "")
    deferred = re.search(r"\(see ([a-z-]+)\)$", first)
    return causes.get(deferred[1], first) if deferred else first


def told(outcomes: list[Outcome]) -> tuple[str, str, str]:
    """How runs ended, the checks that accused, and the queries until then, as cells of a table."""
    verdicts = Counter(o.verdict for o in outcomes)
    by = Counter(name for o in outcomes for name in o.reporting)
    queries = [o.until for o in outcomes]
    return (
        ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()),
        ", ".join(f"{name} {n}" for name, n in by.most_common()) or "-",
        f"{statistics.median(queries):,.0f} ({max(queries):,})",
    )


def table_row(cells: Iterable[str]) -> str:
    """A row of a table; what would divide a cell is replaced."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
