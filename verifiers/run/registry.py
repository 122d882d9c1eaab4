"""The checks of a kind of release: their ids, shares and classes, in the order of a report.

Shares and ids are imported at every start of pytest and of the command line, so the classes are
named here, and loaded when needed.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.util import resolve_name
from typing import TYPE_CHECKING, Any

from ..findings.note import Note

if TYPE_CHECKING:
    from ..findings.excluded import Excluded
    from .checks import Check, Reason


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
    """A check: its id, its share of `false_alarm`, and its class.

    share: 0 where a failure is a proof, not a statistic; check: "file:Class", the file from the
    registry's package; otherwise: the class in its place for claims that it does not apply to;
    absent: why this kind never has it, where it has no class; least: what its pass must exclude,
    None where a pass is of a proof or of the form of replies; judges_noise: whether its failure
    refutes the noise that is claimed; rests_on_noise: whether its pass speaks of that noise, and so
    says nothing where it is refuted.
    """

    id: str
    share: float
    check: str = ""
    otherwise: str = ""
    absent: Note | None = None
    least: Least | None = None
    judges_noise: bool = False
    rests_on_noise: bool = False

    def within(self, package: str) -> "Entry":
        """The entry with the whole names of its files, which lie in a package."""
        check, otherwise = (
            resolve_name(place, package) if place else "" for place in (self.check, self.otherwise)
        )
        return replace(self, check=check, otherwise=otherwise)

    @property
    def classes(self) -> "list[type[Check]]":
        """The classes of its checks, which are loaded. Raises ValueError for one of another id."""
        found: list[type[Check]] = []
        for place in filter(None, (self.check, self.otherwise)):
            file, name = place.split(":")
            made: type[Check] = getattr(import_module(file), name)
            if made.id != self.id:
                raise ValueError(f"{place} has the id {made.id}, and its line says {self.id}")
            found.append(made)
        return found


class Registry:
    """The checks of one kind, and how they share its `false_alarm`.

    package: where the files of the checks lie; simplest_share: of the search for the simplest input
    that still shows a violation. The probability that a correct deployment fails any check is at
    most the sum of all shares (union bound), which is 1.
    """

    def __init__(self, package: str, entries: tuple[Entry, ...], simplest_share: float) -> None:
        self.entries = tuple(entry.within(package) for entry in entries)
        self.simplest_share = simplest_share
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
    def classes(self) -> "tuple[type[Check], ...]":
        """Those of all checks, in the order of a report."""
        return tuple(made for entry in self.entries for made in entry.classes)

    def applicable(self, claim: Any, plan: Any = None) -> "list[type[Check]]":
        """The checks that there is room for in a claim, and in its plan where there is one."""
        return [check for check in self.classes if _reason(check, claim, plan) is None]

    def lacking(self, claim: Any, plan: Any = None) -> dict[str, Note]:
        """The checks that there is no room for: check id -> why.

        Of two that share an id, each for other claims, one that there is room for is enough.
        """
        found = {entry.id: entry.absent for entry in self.entries if entry.absent is not None}
        there = {check.id for check in self.applicable(claim, plan)}
        for check in self.classes:
            reason = _reason(check, claim, plan)
            if reason is not None and check.id not in there:
                found.setdefault(check.id, reason)
        return found


def _reason(check: "type[Check]", claim: Any, plan: Any) -> "Reason":
    by_claim = check.not_applicable_to(claim)
    if by_claim is not None or plan is None:
        return by_claim
    return check.not_applicable_in(plan)
