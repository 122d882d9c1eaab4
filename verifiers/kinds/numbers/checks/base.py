"""A check of numbers that sees every draw."""

import math
from abc import abstractmethod
from collections.abc import Collection, Iterable
from typing import Any, Self

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....claims.tables import Gate
from ....run.checks import EvidenceCheck, Setting
from ..planning.asked import Asked, Draws
from ..planning.plan import NumbersPlan

BY_INTERVAL = "a pass needs the whole anytime-valid interval within it, over all these inputs"


class NumberCheck(EvidenceCheck):
    """A check that gathers evidence from releases against their law.

    law: the mechanism, as the reference has it; gate: the precision that is asked for; share: of
    `false_alarm`; draws: numbers that it has looked at; wanted_draws: those that a pass needs;
    roles: of the inputs that are answered; least: releases that a run takes until all checks pass,
    0 where that is not told; evidence: has a `log_e_value`.
    """

    unit = "draws"
    plan: NumbersPlan
    evidence: Any
    wanted_draws: int = 0
    least = 0

    def __init__(self, law: Any, gate: Gate, share: float, plan: NumbersPlan, seed: int) -> None:
        self.law, self.gate, self.share, self.plan, self.seed = law, gate, share, plan, seed
        self.draws = 0
        self.roles: tuple[str, ...] = tuple(asked.role for asked in plan.inputs)
        self.noise: NumberNoise = law.noise
        self.begin()

    def begin(self) -> None:
        """Makes what it keeps of the draws."""

    @classmethod
    def make(cls, setting: Setting) -> Self:
        claim = setting.claim
        share = claim.kind.checks.shares[cls.id]
        return cls(claim.mechanism.law, claim.gate, share, setting.plan, setting.seed)

    @property
    def queries(self) -> int:
        return self.draws

    @property
    def log_e_value(self) -> float:
        return float(self.evidence.log_e_value)

    def answered(self, roles: Collection[str]) -> None:
        """Is told, before any release, the roles of the inputs that are answered."""
        self.roles = tuple(roles)

    @abstractmethod
    def observe(self, draws: Draws) -> None:
        """Takes fresh releases."""

    @property
    def confidence(self) -> float:
        """With which an interval of what is not refuted covers it, at every number of draws."""
        return 1.0 - math.exp(-self.log_threshold)

    def samples_needed(self) -> int:
        return max(0, self.wanted_draws - self.draws)


class ForeseenCheck(NumberCheck):
    """A check of which it can be said beforehand, call by call, when it has seen enough."""

    @property
    @abstractmethod
    def wanted(self) -> Vector:
        """What a pass takes (k,), of each kind of draws that the check counts."""

    @abstractmethod
    def foreseen(self, asked: Asked, size: int) -> Vector:
        """What so many releases of an input add to each (k,), in expectation."""


def tell_least(made: Iterable[object]) -> None:
    """Tells the checks of numbers among those made how many releases a run takes at least.

    Until all of them pass.
    """
    checks = [check for check in made if isinstance(check, NumberCheck)]
    wanted = (check.wanted_draws / max(1, check.plan.coordinates.size) for check in checks)
    least = math.ceil(max(wanted, default=0))
    for check in checks:
        check.least = least
