"""The plan of a run: its queries and time, what its checks would see, and what they would not.

Time is told from the pace of a target, per call and per label.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from pydantic import ConfigDict, Field

from ..claims.claim import Claim
from ..findings.document import Document, VariedDocument
from ..findings.excluded import (
    SURE_TO_SEE,
    Excluded,
    NotLookedAt,
    Seeing,
    not_looked_at,
    sharpest,
    unseen_line,
)
from ..run.earned import not_earned
from ..run.precision import TooFewError
from ..run.request import PlanRequest
from ..run.selection import Selection
from ..run.session import Planned
from ..targets import Target

_SEED = 0
_ALL = Selection()
_SINGLE, _LARGE = 8, 3  # calls for one label, and for many
_MANY = 64  # labels of a large call

_PATIENCE = 5.0  # seconds of calls of one size, after which no more of them are made

_WIDTH = 100  # columns of the text


@dataclass(frozen=True)
class Pace:
    """Seconds per call, beside its labels, and per label; at_once: calls in flight."""

    call: float
    label: float
    at_once: int = 1

    def seconds(self, calls: int, labels: int) -> float:
        """Seconds that `labels` labels in `calls` calls take."""
        return calls * self.call / self.at_once + labels * self.label


def pace_of(target: Target, asked: Any, largest: int | None, at_once: int) -> Pace:
    """Measures the pace of a target on input `asked`, by calls for one label and for many.

    largest: most labels per call, None for no limit. A target that takes a second a label is asked
    for a dozen. Raises as the target does.
    """
    many = _MANY if largest is None else min(_MANY, largest)
    target.ask(asked, 1)  # a first call may load models
    one = _seconds(target, asked, 1, _SINGLE)
    many = min(many, max(2, int(_PATIENCE / one)))
    if many == 1:
        return Pace(one, 0.0, at_once)
    label = max(0.0, (_seconds(target, asked, many, _LARGE) - one) / (many - 1))
    return Pace(max(one - label, 1e-9), label, at_once)


def _seconds(target: Target, asked: Any, size: int, calls: int) -> float:
    """Mean seconds of a call for `size` labels, over so many calls or fewer of a slow target."""
    started, taken, made = time.perf_counter(), 0.0, 0
    while made < calls and taken <= _PATIENCE:
        target.ask(asked, size)
        taken, made = time.perf_counter() - started, made + 1
    return taken / made


class PlannedCheck(VariedDocument):
    """What a check would look at: a number of what its kind of release counts."""

    model_config = ConfigDict(extra="allow")  # a kind may count something else

    id: str
    labels: int = Field(default=0, ge=0)
    releases: int = Field(default=0, ge=0)
    draws: int = Field(default=0, ge=0)
    rounds: int = Field(default=0, ge=0)
    lacking: str | None = Field(description="Why it looks at none.")
    code: str | None = Field(default=None, description="Of that reason.")
    excludes: tuple[Excluded, ...] = Field(
        default=(), description="What its pass excludes, if all that is planned is answered."
    )

    def as_lines(self, seen: int) -> list[str]:
        """The check in lines: how much it looks at, and the sharpest of what its pass excludes."""
        entry = sharpest(self.excludes)
        if self.lacking is None and entry is None:
            return [f"  {self.id:<25}{seen:>9,}"]
        count = f"  {self.id:<25}" + (f"{seen:>9,}  " if self.lacking is None else "")
        said = self.lacking or ("" if entry is None else entry.as_text())
        phrase = wrap(said, _WIDTH - len(count), break_on_hyphens=False)
        return [count + phrase[0], *(" " * len(count) + more for more in phrase[1:])]


class Foreseen(Document):
    """A known mistake."""

    mistake: str
    queries: int | None = Field(
        ge=0, description="About how many queries until it shows; null where it would not."
    )


class PlannedRun(VariedDocument):
    """The plan of a run, on any kind of release; one rate is told, of what its kind counts."""

    model_config = ConfigDict(extra="allow")

    claimed: str = Field(description="The claim in a few words.")
    queries: int = Field(ge=0, description="That a pass takes, about.")
    seconds: float | None = Field(
        ge=0, description="That the target takes for them, rounded to tenths; null without one."
    )
    labels_per_second: float | None = Field(default=None, ge=0)
    releases_per_second: float | None = Field(default=None, ge=0)
    draws_per_second: float | None = Field(default=None, ge=0)
    rounds_per_second: float | None = Field(default=None, ge=0)
    smallest_effect: float | None = Field(
        gt=0, description="A deviation in total variation that would show with probability 0.99."
    )
    tolerance: float | None = Field(gt=0, description="By which share a noise scale may be off.")
    false_alarm: float = Field(
        gt=0, description="The probability, at most, that a correct deployment fails."
    )
    checks: tuple[PlannedCheck, ...]
    foreseen: tuple[Foreseen, ...]
    not_looked_at: tuple[NotLookedAt, ...] = Field(
        description="The faults of which a run says nothing as planned, each with the reason."
    )
    unit: str = Field(exclude=True)
    max_queries: int = Field(exclude=True)
    taken: float | None = Field(exclude=True)

    @property
    def _none_yet(self) -> str:
        """What keeps a run with so many queries from a pass, if anything does."""
        short = [check.id for check in self.checks if check.code == "too-few-queries"]
        return f", but not of {', '.join(short)}, which see too little with them" if short else ""

    def as_text(self) -> str:
        """The plan as text for the terminal."""
        looks = f"{self.unit}s that each check looks at (checks share {self.unit}s)"
        if any(check.excludes for check in self.checks):
            looks += ", and how small a fault it would"
            looks += f"\nsee, with probability {SURE_TO_SEE:g} or more unless told"
        lines = [
            f"claim: {self.claimed}",
            f"a pass takes about {self.queries:,} queries{self._none_yet}",
            f"a correct deployment fails with probability at most {self.false_alarm:g}",
            "",
            f"{looks}:",
        ]
        for check in self.checks:
            lines += check.as_lines(getattr(check, f"{self.unit}s"))
        unseen = unseen_line(self.not_looked_at)
        if unseen is not None:
            lines += ["", f"{unseen} (--json lists them)"]
        if self.foreseen:
            lines += ["", "known mistakes, and about how many queries until they show:"]
            lines += [
                f"  {'not' if one.queries is None else f'{one.queries:,}':>7}  {one.mistake}"
                for one in sorted(self.foreseen, key=_by_queries)
            ]
        if self.queries > self.max_queries:
            least = f"{self.queries:,} or more"
            lines += ["", f"max_queries = {self.max_queries:,} is too small for that: {least}"]
        if self.taken is not None:
            rate = _rate(self.queries, self.taken)
            line = f"at {rate:,.1f} {self.unit}s per second: {_duration(self.taken)}"
            lines += ["", f"{line} of the target's, with dpassay's own time on top"]
        return "\n".join(lines)


def planned_run(
    claim: Claim,
    queries: int | None,
    seconds: float | None,
    target: Target | None,
    chosen: Selection = _ALL,
) -> PlannedRun:
    """The plan of a run: the claim's own, or the sharpest that `queries` or `seconds` allow.

    target: asked some labels or releases to measure its pace; needed for `seconds`; chosen: the
    checks of the run. Raises TooFewError, a ValueError, where no pass fits, and as the target does.
    """
    kind, pace, all_served = claim.kind, None, True
    if target is not None:
        all_served = kind.serves_all(target, claim)
        probe, largest = kind.probe(claim)
        pace = pace_of(target, probe, largest, claim.gate.concurrency)

    asked = PlanRequest(None, _SEED, (), chosen, all_served)

    def made(most: int | None) -> tuple[Planned, float | None]:
        found: Planned = kind.planned(claim, replace(asked, queries=most))
        return found, None if pace is None else pace.seconds(found.calls, found.queries)

    found, taken = made(queries)
    if seconds is not None and taken is not None and taken > seconds:
        found, taken = plan_within(made, found.queries, taken, seconds)
    gate, law, each = found.claim.gate, kind.passed is None, f"{kind.unit}s"
    rate = None if taken is None else round(_rate(found.queries, taken), 1)
    absent = {**found.lacking, **chosen.left_out}
    excluded = {name: each for name, each in found.excluded.items() if name not in absent}
    lacking = {
        **not_earned(kind.checks, found.claim, excluded, found, lambda n: made(n)[0]),
        **absent,
    }
    seeing = (Seeing(i, excluded.get(i, ()), lacking.get(i)) for i in kind.checks.ids)
    tables = found.claim.model_dump(mode="json", exclude_none=True)
    counts = [
        {
            "id": name,
            each: seen,
            "lacking": None if (reason := lacking.get(name)) is None else reason.message,
            "code": None if reason is None else reason.code,
            "excludes": excluded.get(name, ()),
        }
        for name, seen in found.looked_at.items()
    ]
    return PlannedRun(
        claimed=claim.summary,
        queries=found.queries,
        seconds=None if taken is None else round(taken, 1),
        smallest_effect=gate.smallest_effect if law else None,
        tolerance=gate.tolerance if law else None,
        false_alarm=gate.false_alarm,
        checks=tuple(PlannedCheck.model_validate(one) for one in counts),
        foreseen=tuple(
            Foreseen(mistake=words, queries=needed)
            for words, needed in kind.foreseen(found).items()
        ),
        not_looked_at=not_looked_at(kind.name, tables, seeing),
        unit=kind.unit,
        max_queries=gate.max_queries,
        taken=taken,
        **{f"{each}_per_second": rate},
    )


def _rate(queries: int, seconds: float) -> float:
    """Labels or releases per second, in calls as a run makes them."""
    return queries / max(seconds, 1e-6)


def plan_within(
    made: Callable[[int | None], tuple[Planned, float | None]],
    queries: int,
    taken: float,
    seconds: float,
) -> tuple[Planned, float | None]:
    """The plan with as many queries as fit `seconds`, and the seconds that it takes.

    made: from a number of queries to a plan and its seconds; queries, taken: of a plan that takes
    too long. Several steps may be needed, as fewer queries are in smaller calls, which take longer
    per query. Raises TooFewError where no pass fits.
    """
    while True:
        try:
            found, longer = made(max(1, int(queries * seconds / taken)))
        except TooFewError as error:
            least = error.least * taken / queries
            raise TooFewError(
                f"{seconds:g} seconds are too few for a pass of this claim: it takes about "
                f"{error.least:,} queries or more, and this target {_duration(least)} for them",
                error.least,
            ) from None
        if longer is None or longer <= seconds or found.queries >= queries:
            return found, longer
        queries, taken = found.queries, longer


def _by_queries(found: Foreseen) -> float:
    """Where a mistake stands in the list: those that do not show come last."""
    return math.inf if found.queries is None else found.queries


def _duration(seconds: float) -> str:
    """A time in words."""
    for name, length in (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {name}"
    whole = max(1, round(seconds))
    return f"about {whole:,} second{'s' if whole > 1 else ''}"
