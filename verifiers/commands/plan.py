"""`dpassay plan`: what a run would ask, cost and see, before anything is asked."""

import time
from dataclasses import dataclass
from typing import Any

from ..checks.applicable import lacking
from ..checks.registered import specs
from ..claim import Claim
from ..planning.asked_histograms import opening_histogram
from ..planning.extent import FULL
from ..planning.planner import make_plan
from ..planning.sharpest import Sharpest, queries_of, sharpest
from ..targets import Target

_PACE_CALLS, _PACE_LABELS = 3, 8  # that show the rate of a target
_SEED = 0


@dataclass(frozen=True)
class PlannedRun:
    """A run as it would be. rate: labels a second that the target showed, None without one."""

    found: Sharpest
    looked_at: dict[str, int]
    lacking: dict[str, str]
    rate: float | None

    @property
    def seconds(self) -> float | None:
        """How long the target takes for the labels of the run; None without a target."""
        return None if self.rate is None else self.found.queries / self.rate

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        gate = self.found.claim.gate
        return {
            "queries": self.found.queries,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "labels_per_second": None if self.rate is None else round(self.rate, 1),
            "smallest_effect": gate.smallest_effect,
            "tolerance": gate.tolerance,
            "false_alarm": gate.false_alarm,
            "checks": [
                {"id": name, "labels": labels, "lacking": self.lacking.get(name)}
                for name, labels in self.looked_at.items()
            ],
        }

    def as_text(self) -> str:
        """For people."""
        gate = self.found.claim.gate
        lines = [
            f"a pass takes about {self.found.queries:,} queries, and would show",
            f"  a deviation of {gate.smallest_effect:g} in total variation, with probability 0.99,",
            f"  a noise scale off by {gate.tolerance:.0%};",
            f"a correct deployment fails with probability at most {gate.false_alarm:g}",
            "",
            "labels that each check looks at (most serve several):",
        ]
        for name, labels in self.looked_at.items():
            why = self.lacking.get(name)
            lines.append(f"  {name:<26}{labels:>10,}" if why is None else f"  {name:<26}{why:>10}")
        if self.rate is not None and self.seconds is not None:
            lines += ["", f"at {self.rate:,.1f} labels a second: {duration(self.seconds)}"]
        return "\n".join(lines)


def planned_run(
    claim: Claim, queries: int | None, seconds: float | None, target: Target | None
) -> PlannedRun:
    """The plan of a run: the claim's own, or the sharpest that `queries` or `seconds` allow.

    target: asked a few labels, so that its rate shows; needed for `seconds`. Raises ValueError
    (TooFewError) where no pass fits, and as the target does.
    """
    rate = None if target is None else _rate(target, claim)
    if seconds is not None and rate is not None:
        queries = max(1, int(seconds * rate))
    found = (
        Sharpest(claim, FULL, queries_of(make_plan(claim, _SEED)))
        if queries is None
        else sharpest(claim, queries, _SEED)
    )
    plan = make_plan(found.claim, _SEED, True, (), found.extent)
    looked_at: dict[str, int] = {}
    for spec in specs():
        needs = spec.needs
        labels = (
            0
            if needs is None
            else sum(s.queries for i, s in enumerate(plan.streams) if needs(plan, i, s))
        )
        looked_at[spec.id] = max(labels, looked_at.get(spec.id, 0))
    return PlannedRun(found, looked_at, lacking(found.claim, plan), rate)


def _rate(target: Target, claim: Claim) -> float:
    """Labels a second, of a few calls on the histogram that opens a run."""
    votes = opening_histogram(claim)
    started = time.monotonic()
    for _ in range(_PACE_CALLS):
        target.ask(votes, _PACE_LABELS)
    return _PACE_CALLS * _PACE_LABELS / max(time.monotonic() - started, 1e-6)


def duration(seconds: float) -> str:
    """A time in words."""
    for name, length in (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {name}"
    return f"about {max(seconds, 1.0):,.0f} seconds"
