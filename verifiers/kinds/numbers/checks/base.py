"""What checks of numbers have in common: those that see every draw, and those that ask."""

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any

from .....reference.arrays import Vector
from ....findings.excluded import SURE_TO_SEE, Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....run.checks import Judged, RunContext, Running
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.registry import NO_PRIVACY, CheckSpec, Reason, always_applicable
from ..claim import NumbersClaim
from ..planning.asked import Asked, Draws
from ..planning.plan import NumbersPlan
from ..registry import SHARES

BY_INTERVAL = "a pass needs the whole anytime-valid interval within it, over all these inputs"


class Excluding:
    """For a check whose pass may exclude something."""

    id: str
    claim: NumbersClaim

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What a pass excludes, by the inputs that are answered: before a run, by all of them."""
        return ()

    def entry(
        self,
        code: str,
        size: Fields,
        where: Collection[str],
        queries: int,
        *,
        method: str,
        probability: float = SURE_TO_SEE,
    ) -> Excluded:
        """An entry of what a pass excludes."""
        return Excluded(
            code=code,
            size=size,
            where=tuple(map(str, where)),
            queries=queries,
            probability=probability,
            false_alarm=self.claim.kind.checks.shares[self.id] * self.claim.gate.false_alarm,
            method=method,
        )


class NumberCheck(Excluding, Judged):
    """A check that gathers evidence from releases against its null, under the claim.

    Its threshold follows from its share of the claim's `false_alarm`. draws: numbers that it has
    looked at; wanted_draws: those that a pass needs; roles: of the inputs that are answered; least:
    releases that a run takes until all checks pass, 0 where that is not told; evidence: has a
    `log_e_value`.
    """

    id: str
    unit = "draws"
    evidence: Any
    wanted_draws: int = 0
    least = 0

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan) -> None:
        self.claim, self.plan, self.draws = claim, plan, 0
        self.not_applicable: Note | None = None
        self.roles: tuple[str, ...] = tuple(asked.role for asked in plan.inputs)
        self.noise = claim.mechanism.added
        self.log_threshold = log_threshold(SHARES[self.id], claim.gate.false_alarm)

    @property
    def queries(self) -> int:
        return self.draws

    @property
    def log_e_value(self) -> float:
        return float(self.evidence.log_e_value)

    def answered(self, roles: Collection[str]) -> None:
        """Is told, before any release, the roles of the inputs that are answered."""
        self.roles = tuple(roles)

    def observe(self, draws: Draws) -> None:
        """Takes fresh releases."""
        raise NotImplementedError

    @property
    def confidence(self) -> float:
        """With which an interval of what is not refuted covers it, at every number of draws."""
        return 1.0 - math.exp(-self.log_threshold)

    def samples_needed(self) -> int:
        return max(0, self.wanted_draws - self.draws)

    def fail_finding(self) -> Finding:
        raise NotImplementedError

    def pass_finding(self) -> Finding:
        raise NotImplementedError


class ForeseenCheck(NumberCheck):
    """A check of which it can be said beforehand, call by call, when it has seen enough."""

    @property
    def wanted(self) -> Vector:
        """What a pass takes (k,), of each kind of draws that the check counts."""
        raise NotImplementedError

    def foreseen(self, asked: Asked, size: int) -> Vector:
        """What so many releases of an input add to each (k,), in expectation."""
        raise NotImplementedError


def tell_least(made: Iterable[object]) -> None:
    """Tells the checks of numbers among those made how many releases a run takes at least.

    Until all of them pass.
    """
    checks = [check for check in made if isinstance(check, NumberCheck)]
    wanted = (check.wanted_draws / max(1, check.plan.coordinates.size) for check in checks)
    least = math.ceil(max(wanted, default=0))
    for check in checks:
        check.least = least


class AskingCheck(Excluding):
    """A check that concludes by itself, once the others have seen enough.

    queries: releases that it has looked at.
    """

    id: str

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        self.claim, self.plan, self.seed = claim, plan, seed
        self.queries = 0

    @property
    def asks(self) -> int:
        """Releases that a pass asks for, about."""
        return 0

    def conclude(self, context: RunContext) -> Outcome | None:
        raise NotImplementedError


def without_privacy(claim: NumbersClaim) -> Reason:
    """Why a check of `[privacy]` has nothing to judge; None where the claim has that table."""
    return NO_PRIVACY if claim.privacy is None else None


def spec_of(
    made: Callable[[NumbersClaim, NumbersPlan, int], Running],
    phase: Phase = Phase.SHARED,
    not_applicable: Callable[[NumbersClaim], Reason] = always_applicable,
) -> CheckSpec:
    """The spec of a check that is made of a claim, the plan of a run, and its seed."""
    return CheckSpec(
        id=made.id,  # type: ignore[attr-defined]
        phase=phase,
        not_applicable=not_applicable,
        make=lambda setting: made(setting.claim, setting.plan, setting.seed),
    )
