"""The checks of a kind of release: their ids, shares and files, in the order of a report.

Shares and ids are imported at every start of pytest and of the command line, so the rest about a
check, its spec, is in its own file and loaded when needed.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..findings.note import Note
from .phase import Phase

if TYPE_CHECKING:
    from ..findings.excluded import Excluded

Reason = Note | None
"""Why there is no room for a check; None where there is."""


@dataclass(frozen=True)
class Setting:
    """What a check is made of; plan: there is none in the phases before and without it."""

    claim: Any
    seed: int
    plan_or_none: Any

    @property
    def plan(self) -> Any:
        """The plan, where there is one."""
        assert self.plan_or_none is not None
        return self.plan_or_none


def always_applicable(_: object) -> Reason:
    """There is always room for the check."""
    return None


@dataclass(frozen=True, kw_only=True)
class CheckSpec:
    """What a run knows of a check before it is made.

    phase: in which it concludes; make: a check for a run; not_applicable: why a claim leaves no
    room for it.
    """

    id: str
    phase: Phase
    make: Callable[[Any], Any]
    not_applicable: Callable[[Any], Reason] = always_applicable


NO_PRIVACY = Note("no-privacy-claimed", "the claim has no [privacy]")


@dataclass(frozen=True)
class Least:
    """What a pass of a check must exclude at least: a fault so large, or a smaller one.

    field: of the size of what is excluded (`Excluded.size`), empty where any fault will do; most:
    that size, infinite where any will do. A scale is told by its factor, which is so far from 1.
    """

    field: str = ""
    most: float = math.inf

    @property
    def in_words(self) -> str:
        """The fault that a pass must exclude, in words."""
        if math.isinf(self.most):
            return "a fault of any size"
        if self.field == "factor":
            return f"a scale that is off by {self.most:.3g} of it or less"
        return f"a fault of {self.field.replace('_', ' ')} {self.most:g} or less"

    @property
    def any_size(self) -> bool:
        """Whether a fault of any size will do."""
        return math.isinf(self.most)

    def met_by(self, excludes: Iterable["Excluded"]) -> bool:
        """Whether a pass that excludes these may be one.

        Only faults with this field count, but where none has it: these are seen whole.
        """
        found = list(excludes)
        sized = [one.size[self.field] for one in found if self.field in one.size]
        return any(self._distance(size) <= self.most for size in sized) if sized else bool(found)

    def _distance(self, size: float) -> float:
        return abs(1.0 - size if self.field == "factor" else size)


@dataclass(frozen=True)
class Entry:
    """A check: its id, its share of `false_alarm`, and its files.

    share: 0 where a failure is a proof, not a statistic; files: each with `SPECS`; several if the
    id stands for several checks, one of which applies to a claim; absent: why this kind never has
    it, where it has no file; least: what its pass must exclude, None where a pass is of a proof or
    of the form of replies; judges_noise: whether its failure refutes the noise that is claimed;
    rests_on_noise: whether its pass speaks of that noise, and so says nothing where it is refuted.
    """

    id: str
    share: float
    files: tuple[str, ...] = ()
    absent: Note | None = None
    least: Least | None = None
    judges_noise: bool = False
    rests_on_noise: bool = False


class Registry:
    """The checks of one kind, and how they share its `false_alarm`.

    package: where the files of the checks lie; simplest_share: of the search for the simplest input
    that still shows a violation. The probability that a correct deployment fails any check is at
    most the sum of all shares (union bound), which is 1.
    """

    def __init__(self, package: str, entries: tuple[Entry, ...], simplest_share: float) -> None:
        self.package, self.entries, self.simplest_share = package, entries, simplest_share
        self.shares: Mapping[str, float] = {entry.id: entry.share for entry in entries}
        assert math.isclose(sum(self.shares.values()) + simplest_share, 1.0)

    def entry(self, check: str) -> Entry:
        """The entry of a check, by its id; an empty one of a check that has none."""
        return next((entry for entry in self.entries if entry.id == check), Entry(check, 0.0))

    @property
    def ids(self) -> tuple[str, ...]:
        """All checks, in the order of a report."""
        return tuple(self.shares)

    @cached_property
    def specs(self) -> tuple[CheckSpec, ...]:
        """The specs of all checks, in the order of a report."""
        found: list[CheckSpec] = []
        for entry in self.entries:
            for file in entry.files:
                module = import_module(f"{self.package}.{file}")
                specs = [spec for spec in module.SPECS if spec.id == entry.id]
                if not specs:
                    raise ValueError(f"{self.package}.{file} has no spec of {entry.id}")
                found += specs
        return tuple(found)

    def applicable(self, claim: Any) -> list[CheckSpec]:
        """The checks that a claim has room for, in the order of a report."""
        return [spec for spec in self.specs if spec.not_applicable(claim) is None]

    def lacking(self, claim: Any) -> dict[str, Note]:
        """The checks that a claim leaves no room for: check id -> why."""
        found = {entry.id: entry.absent for entry in self.entries if entry.absent is not None}
        for spec in self.specs:
            reason = spec.not_applicable(claim)
            if reason is not None:
                found.setdefault(spec.id, reason)
        return found
