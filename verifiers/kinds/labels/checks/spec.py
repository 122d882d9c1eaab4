"""What the gate knows of a check before it is made: when it applies, needs what, runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from ..claim import Claim
from ..planning.plan import Plan, Stream
from .base import Life


class Phase(Enum):
    """The parts of a run, in their order, of which each check concludes in one."""

    OPENING = auto()
    """Before there is a plan."""
    LABELS = auto()
    """While labels are gathered: by evidence, looked at throughout."""
    LIVES = auto()
    """Once they are gathered, the claim is not refuted, and the target may be restarted."""
    ATTACK = auto()
    """After that, on the labels gathered."""
    AUDIT = auto()
    """Whatever the labels showed."""
    ACCOUNTING = auto()
    """Last, as a budget may be used up."""
    CLAIM = auto()
    """Whatever became of the target: what can be said of the claim alone."""


@dataclass(frozen=True)
class Setting:
    """What a check is made of.

    kept: what a caching deployment has answered, as it grows; before: what it had answered to the
    contract's calls. In the phases that do without, there is no plan.
    """

    claim: Claim
    seed: int
    plan_or_none: Plan | None
    kept: Mapping[tuple[int, ...], int]
    before: Mapping[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """The plan, where there is one."""
        assert self.plan_or_none is not None
        return self.plan_or_none


Lacking = str | None


@dataclass(frozen=True, kw_only=True)
class CheckSpec:
    """One check. There are no defaults: a new one decides everything.

    phase: in which it concludes; lacks: why a claim leaves no room for it, None where it does;
    lacks_in: the same of a plan; needs: whether what it finds rests on labels of a stream, a
    superset, None for a check that sees no labels and is made when its phase comes; named: place
    among the checks that fail together; make: a new life of it.
    """

    id: str
    phase: Phase
    lacks: Callable[[Claim], Lacking]
    lacks_in: Callable[[Plan], Lacking]
    needs: Callable[[Plan, int, Stream], bool] | None
    named: int
    make: Callable[[Setting], Life]


def lacks_nothing(_: object) -> Lacking:
    """Of a check that every claim, or every plan, has room for."""
    return None


def needs_twins(check: str) -> Callable[[Plan, int, Stream], bool]:
    """Whether a stream is one of the two that a check compares."""

    def needs(plan: Plan, at: int, _: Stream) -> bool:
        twins = plan.twins.get(check)
        return twins is not None and at in (twins.base, twins.twin)

    return needs


NO_TWINS = "no two inputs that max_queries has room to compare are related as this check needs"
TOO_FEW = "left out, as there are few queries"
NO_PRIVACY = "the claim has no [privacy]"
CACHED = "answers are cached: each label is of another histogram"
