"""What was not looked at: the faults of which a run, or a plan, says nothing, and why.

The counterpart of what passes exclude, made of the table of codes and of what the checks came to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from ..text import counted
from .codes import Code, codes
from .document import Document
from .excluded import Excluded
from .note import Note

_UNSIZED = "size-not-named"
_ABSENT = "not-of-this-kind"
_IMPLIED = {
    "scale-too-small": ("noise-missing",),
    "noise-reused": ("answers-kept",),
    "law-unexplained": ("claim-may-not-describe",),
}
"""The utmost cases of faults that are excluded from a size on: no noise, copies alone, and a law
that no known fault describes."""


class NotLookedAt(Document):
    """A fault that the checks may miss, however large it is."""

    code: str = Field(description="Of the fault, from the table of codes.")
    check: str = Field(description="The check that would see it.")
    why: Note = Field(
        description="Why that check says nothing of it: the reason for which it did not pass, or "
        "size-not-named where it passed."
    )

    @property
    def fault(self) -> str:
        """The fault, in a few words."""
        return codes()[self.code].title


@dataclass(frozen=True)
class Seeing:
    """What a check sees, or would see as planned.

    lacking: why it sees nothing, None where it sees; failed: whether it found a fault, or the
    target did wrong in it, so that it had the power to.
    """

    check: str
    excludes: tuple[Excluded, ...] = ()
    lacking: Note | None = None
    failed: bool = False


def not_looked_at(
    kind: str, claim: Mapping[str, Any], seeing: Iterable[Seeing]
) -> tuple[NotLookedAt, ...]:
    """The faults that no check excludes or has found, in the order of the table of codes.

    Of a fault that several checks would see, one that passed is named, else the first of its row.

    kind: of what is released, by its name; claim: its tables; seeing: all checks of the kind.
    """
    there = {one.check: one for one in seeing if one.lacking is None or one.lacking.code != _ABSENT}
    excluded = {entry.code for one in there.values() for entry in one.excludes}
    excluded |= {implied for code in excluded for implied in _IMPLIED.get(code, ())}
    found = []
    for code in codes().values():
        would = [there[check] for check in code.checks if check in there]
        looked = code.id in excluded or any(one.failed for one in would)
        if not would or looked or not _may_come(code, kind, claim):
            continue
        named = min(would, key=lambda one: one.lacking is not None)
        if named.lacking is None and code.proof:
            continue  # one occurrence shows it
        unsized = Note(_UNSIZED, "the check passed, and its pass names no size of this fault")
        found.append(NotLookedAt(code=code.id, check=named.check, why=named.lacking or unsized))
    return tuple(found)


def told_in_a_line(found: Sequence[NotLookedAt]) -> str | None:
    """How many faults were not looked at, in a line; None where there are none."""
    unsized = sum(one.why.code == _UNSIZED for one in found)
    told = []
    if len(found) > unsized:
        told.append(f"{counted(len(found) - unsized, 'fault', 'faults')} not looked at")
    if unsized:
        told.append(f"{counted(unsized, 'fault', 'faults')} looked for, of no stated size")
    return ", ".join(told) or None


def by_reason(
    found: Iterable[NotLookedAt],
) -> list[tuple[tuple[str, str], list[NotLookedAt]]]:
    """The faults by check and reason, those that the check passed last."""
    groups: dict[tuple[str, str], list[NotLookedAt]] = {}
    for one in sorted(found, key=lambda one: one.why.code == _UNSIZED):
        groups.setdefault((one.check, one.why.message), []).append(one)
    return list(groups.items())


def _may_come(code: Code, kind: str, claim: Mapping[str, Any]) -> bool:
    """Whether a run on this kind of release, under this claim, may find the fault."""
    if code.what != "defect" or (code.kinds is not None and kind not in code.kinds):
        return False
    return code.needs is None or _has(claim, code.needs)


def _has(table: Mapping[str, Any], key: str) -> bool:
    """Whether a claim, or a table in it, gives a key another value than false."""
    inner = (value for value in table.values() if isinstance(value, Mapping))
    given = table.get(key)
    return (given is not None and given is not False) or any(_has(one, key) for one in inner)
