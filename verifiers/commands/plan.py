"""`dpassay plan`: the queries and time that a run would take, and what it would detect.

Time is told from the pace of a target, per call and per label.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..claims.claim import Claim
from ..claims.tables import Gate
from ..run.precision import TooFewError
from ..run.selection import Selection
from ..run.session import Planned
from ..targets import Target

_SEED = 0
_SINGLE, _LARGE = 8, 3  # calls for one label, and for many
_MANY = 64  # labels of a large call

_PATIENCE = 5.0  # seconds of calls of one size, after which no more of them are made


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


@dataclass(frozen=True)
class PlannedRun:
    """The plan of a run, on any kind of release.

    claimed: the mechanism in a few words; unit: what is asked for, such as "label"; looked_at: how
    many of these each check looks at, by id; lacking: why a check looks at none, by id; seconds:
    that the target takes in total, None without one; foreseen: queries after which known mistakes
    would show, None for those that would not; law: whether a law is judged, so that a pass has a
    precision.
    """

    claimed: str
    unit: str
    gate: Gate
    queries: int
    looked_at: Mapping[str, int]
    lacking: Mapping[str, str]
    seconds: float | None
    foreseen: Mapping[str, int | None]
    law: bool = True

    @property
    def rate(self) -> float | None:
        """Labels or releases per second, in calls as a run makes them; None without a target."""
        return None if self.seconds is None else self.queries / max(self.seconds, 1e-6)

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "claimed": self.claimed,
            "queries": self.queries,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            f"{self.unit}s_per_second": None if self.rate is None else round(self.rate, 1),
            "smallest_effect": self.gate.smallest_effect if self.law else None,
            "tolerance": self.gate.tolerance if self.law else None,
            "false_alarm": self.gate.false_alarm,
            "checks": [
                {"id": name, f"{self.unit}s": seen, "lacking": self.lacking.get(name)}
                for name, seen in self.looked_at.items()
            ],
            "foreseen": [
                {"mistake": words, "queries": needed} for words, needed in self.foreseen.items()
            ],
        }

    @property
    def _shown(self) -> tuple[str, str]:
        gate = self.gate
        return (
            f"  a deviation of {gate.smallest_effect:g} in total variation, with probability 0.99,",
            f"  a noise scale off by {gate.tolerance:.0%};",
        )

    def as_text(self) -> str:
        """The plan as text for the terminal."""
        gate = self.gate
        lines = [
            f"claim: {self.claimed}",
            f"a pass takes about {self.queries:,} queries{', and would show' if self.law else ';'}",
            *(self._shown if self.law else ()),
            f"a correct deployment fails with probability at most {gate.false_alarm:g}",
            "",
            f"{self.unit}s that each check looks at (checks share {self.unit}s):",
        ]
        for name, seen in self.looked_at.items():
            lines.append(f"  {name:<26}{self.lacking.get(name) or f'{seen:,}':>10}")
        if self.foreseen:
            lines += ["", "known mistakes, and about how many queries until they show:"]
            lines += [
                f"  {'not' if needed is None else f'{needed:,}':>7}  {words}"
                for words, needed in sorted(self.foreseen.items(), key=_by_queries)
            ]
        if self.queries > gate.max_queries:
            lines += ["", f"max_queries = {gate.max_queries:,} is too small for that"]
        if self.rate is not None and self.seconds is not None:
            lines += ["", f"at {self.rate:,.1f} {self.unit}s per second: {_duration(self.seconds)}"]
        return "\n".join(lines)


def planned_run(
    claim: Claim, queries: int | None, seconds: float | None, target: Target | None
) -> PlannedRun:
    """The plan of a run: the claim's own, or the sharpest that `queries` or `seconds` allow.

    target: asked some labels or releases to measure its pace; needed for `seconds`. Raises
    TooFewError, a ValueError, where no pass fits, and as the target does.
    """
    kind, pace, all_served = claim.kind, None, True
    if target is not None:
        all_served = kind.serves_all(target, claim)
        probe, largest = kind.probe(claim)
        pace = pace_of(target, probe, largest, claim.gate.concurrency)

    def made(most: int | None) -> tuple[Planned, float | None]:
        found: Planned = kind.planned(claim, most, _SEED, (), Selection(), serves_all=all_served)
        return found, None if pace is None else pace.seconds(found.calls, found.queries)

    found, taken = made(queries)
    if seconds is not None and taken is not None and taken > seconds:
        found, taken = made_within(made, found.queries, taken, seconds)
    return PlannedRun(
        claim.summary,
        kind.unit,
        found.claim.gate,
        found.queries,
        found.looked_at,
        {check: reason.message for check, reason in found.lacking.items()},
        taken,
        kind.foreseen(found),
        kind.passed is None,
    )


def made_within(
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


def _by_queries(found: tuple[str, int | None]) -> float:
    """Where a mistake stands in the list: those that do not show come last."""
    return math.inf if found[1] is None else found[1]


def _duration(seconds: float) -> str:
    """A time in words."""
    for name, length in (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {name}"
    whole = max(1, round(seconds))
    return f"about {whole:,} second{'s' if whole > 1 else ''}"
