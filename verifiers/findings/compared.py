"""Two reports side by side: in what the runs differ, what each check said, what became worse."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field

from .certified_cost import CostBounds, certified_cost
from .document import Count, Document
from .excluded import Excluded, Measured
from .report import CheckResult, Report, Time
from .verdict import Subject, Verdict
from .worse import Worse, codes_told, ended_early, foresight_told, worse

_BUDGET = {"max_queries", "run_timeout"}
"""Keys of [gate] that say how much may be asked."""


class Difference(Document):
    """Something other than what was found in which two runs differ."""

    what: Literal["seed", "budget", "claim", "version", "target", "subject"]
    key: str = Field(description="Of the claim or of the versions, such as mechanism.noise.")
    before: Any = Field(description="Null where the earlier report does not say it.")
    after: Any


class ComparedRun(Document):
    """What one run is by itself."""

    verdict: Verdict
    target: str | None
    subject: Subject
    claimed: str
    started: Time | None
    queries: Count
    seed: Count
    false_alarm: float
    versions: dict[str, str]
    warnings: tuple[str, ...] = Field(description="Their codes.")

    @classmethod
    def of(cls, report: Report) -> Self:
        """That of a report."""
        named = {name: getattr(report, name) for name in cls.model_fields if name != "warnings"}
        return cls(**named, warnings=tuple(note.code for note in report.notes))


class ComparedResult(Document):
    """What one report says of a check."""

    verdict: Verdict
    code: str | None
    queries: Count
    log10_e_value: float | None
    threshold_log10: float | None
    inputs: tuple[str, ...] = Field(description="Where a pass looked for what it excludes.")
    excludes: tuple[Excluded, ...]
    measured: Measured | None
    cost: CostBounds | None

    @classmethod
    def of(cls, check: CheckResult, report: Report) -> Self:
        """That of a check of a report."""
        copied = ("verdict", "code", "queries", "log10_e_value", "threshold_log10", "measured")
        return cls(
            **{name: getattr(check, name) for name in copied},
            inputs=tuple(dict.fromkeys(name for one in check.excludes for name in one.where)),
            excludes=check.excludes,
            cost=certified_cost(check, report),
        )


class ComparedCheck(Document):
    """A check of the one and of the other; null where a report lacks it."""

    id: str
    before: ComparedResult | None
    after: ComparedResult | None


class ComparedReports(Document):
    """Two reports of one kind of release."""

    name: str = Field(description="Of the target, by which they were matched; empty of one alone.")
    kind: str
    before: ComparedRun
    after: ComparedRun
    differs: tuple[Difference, ...]
    checks: tuple[ComparedCheck, ...]
    worse: tuple[Worse, ...]
    not_compared: tuple[str, ...] = Field(description="What could not be, a line each.")

    @classmethod
    def of(cls, name: str, before: Report, after: Report) -> Self:
        """Of two reports of one kind."""
        earlier, later = ({one.id: one for one in found.checks} for found in (before, after))
        return cls(
            name=name,
            kind=after.kind,
            before=ComparedRun.of(before),
            after=ComparedRun.of(after),
            differs=tuple(_differences(before, after)),
            checks=tuple(
                ComparedCheck(
                    id=check,
                    before=_result(earlier.get(check), before),
                    after=_result(later.get(check), after),
                )
                for check in {**earlier, **later}
            ),
            worse=tuple(worse(before, after)),
            not_compared=tuple(_not_compared(before, after)),
        )


def _result(check: CheckResult | None, report: Report) -> ComparedResult | None:
    return None if check is None else ComparedResult.of(check, report)


def _differences(before: Report, after: Report) -> Iterator[Difference]:
    for what in ("target", "subject", "seed"):
        one, other = getattr(before, what), getattr(after, what)
        if one != other:
            yield Difference(what=what, key=what, before=one, after=other)
    tables = [dict(_leaves(found.claim)) for found in (before, after)]
    for key, one, other in _unlike(*tables):
        table, _, rest = key.partition(".")
        budget = table == "gate" and rest in _BUDGET
        yield Difference(what="budget" if budget else "claim", key=key, before=one, after=other)
    for key, one, other in _unlike(before.versions, after.versions):
        yield Difference(what="version", key=key, before=one, after=other)


def _leaves(table: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The values of tables by dotted keys; lists as they are."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", value


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in {**one, **other}:
        if one.get(key) != other.get(key):
            yield key, one.get(key), other.get(key)


def _not_compared(before: Report, after: Report) -> Iterator[str]:
    """What the reports do not let be compared, as one is of a log, or of an early version."""
    if not codes_told(before):
        yield "codes of warnings: the earlier report has none"
    for which, found in (("earlier", before), ("later", after)):
        if not found.asked:
            yield f"what passes exclude: the {which} report is of a log, whose rows decide it"
        elif found is after and ended_early(after):
            yield "what passes exclude: the later run failed, which may have cut it short"
        elif not foresight_told(found):
            yield f"what passes exclude: the {which} report does not say it"
    costs = [
        {one.id: certified_cost(one, found) for one in found.checks} for found in (before, after)
    ]
    for check, one in costs[0].items():
        other = costs[1].get(check)
        if one is not None and other is not None and one.delta != other.delta:
            yield f"certified costs of {check}: they are at another delta"
