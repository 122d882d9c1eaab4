"""`dpassay plan` of a claim of numbers: what a run would ask, cost and see."""

import time
from dataclasses import dataclass
from typing import Any

from ..commands.plan import duration
from ..targets import Target
from .claim import NumbersClaim
from .registered import why_not
from .shares import SHARES
from .sharpest import Sharpest, make_plan, pass_of, sharpest

_PACE_CALLS, _PACE_RELEASES = 3, 8  # that show the rate of a target
_SEED = 0


@dataclass(frozen=True)
class PlannedNumbers:
    """A run as it would be. rate: releases a second of the target, None without one."""

    found: Sharpest
    lacking: dict[str, str]
    rate: float | None

    @property
    def seconds(self) -> float | None:
        """How long the target takes for the releases of the run; None without a target."""
        return None if self.rate is None else self.found.queries / self.rate

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        gate = self.found.claim.gate
        return {
            "queries": self.found.queries,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "releases_per_second": None if self.rate is None else round(self.rate, 1),
            "smallest_effect": gate.smallest_effect,
            "tolerance": gate.tolerance,
            "false_alarm": gate.false_alarm,
            "checks": [
                {
                    "id": name,
                    "releases": self.found.looked_at.get(name, 0),
                    "lacking": self.lacking.get(name),
                }
                for name in SHARES
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
            "releases that each check looks at (the first ones serve several):",
        ]
        for name in SHARES:
            shown = self.lacking.get(name) or f"{self.found.looked_at.get(name, 0):,}"
            lines.append(f"  {name:<26}{shown:>10}")
        if self.found.queries > gate.max_queries:
            lines += ["", f"max_queries = {gate.max_queries:,} do not hold that"]
        if self.rate is not None and self.seconds is not None:
            lines += ["", f"at {self.rate:,.1f} releases a second: {duration(self.seconds)}"]
        return "\n".join(lines)


def planned_numbers(
    claim: NumbersClaim, queries: int | None, seconds: float | None, target: Target | None
) -> PlannedNumbers:
    """The plan of a run: the claim's own, or the sharpest that `queries` or `seconds` allow.

    target: asked some releases, so that its rate shows; needed for `seconds`. Raises ValueError
    (TooFewError) where no pass fits, and as the target does.
    """
    rate = None if target is None else _rate(target, claim)
    if seconds is not None and rate is not None:
        queries = max(1, int(seconds * rate))
    found = pass_of(claim, _SEED) if queries is None else sharpest(claim, queries, _SEED)
    reasons = {name: why_not(name, claim) for name in SHARES}
    return PlannedNumbers(found, {k: why for k, why in reasons.items() if why is not None}, rate)


def _rate(target: Target, claim: NumbersClaim) -> float:
    """Releases a second, of a few calls on the input that opens a run."""
    plan = make_plan(claim, _SEED)
    size = min(_PACE_RELEASES, plan.largest_call)
    started = time.monotonic()
    for _ in range(_PACE_CALLS):
        target.ask(plan.inputs[0].values, size)
    return _PACE_CALLS * size / max(time.monotonic() - started, 1e-6)
