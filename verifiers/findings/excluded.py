"""What a pass excludes, one record each, and of which faults a run, or a plan, says nothing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from ..text import counted, four_digits
from .codes import Code, codes
from .document import Count, Document, Probability
from .note import Fields, Note

SURE_TO_SEE = 0.99
"""Probability with which a fault that a pass excludes would have been seen, unless it is told."""


PROVED = 1.0
"""Probability with which a fault is seen that is proved, and not told from draws."""


class Excluded(Document):
    """A fault that a check would have seen, had the deployment had it.

    It is foreseen: it follows from the claim, the budget, the seed, and from which inputs were
    answered, and from no answer. So a plan has it, and a report of a run that was answered as
    planned has the same.
    """

    code: str = Field(description="Of the fault, from the table of codes.")
    size: Fields = Field(description="How large the fault is, by the fields of its code.")
    where: tuple[str, ...] = Field(
        description="The inputs that are looked at for it; the method says whether each of them "
        "would show it by itself."
    )
    queries: Count = Field(
        description="Planned, or expected, to be looked at for it, of all inputs together: labels, "
        "numbers or releases, as the check counts."
    )
    probability: Probability = Field(
        description="With which it would have been seen, or would at least not have passed."
    )
    false_alarm: Probability = Field(
        description="Probability, at most, with which a correct deployment fails the check."
    )
    method: str = Field(description="How the probability is known.")

    @property
    def fault(self) -> str:
        """The fault, in a few words."""
        return codes()[self.code].title

    @property
    def size_in_words(self) -> str:
        """How large the fault is, such as `factor 0.95`, by the names of its fields."""
        sizes = ((name.replace("_", " "), value) for name, value in self.size.items())
        return ", ".join(f"{name} {_size_text(value)}" for name, value in sizes)

    @property
    def sureness(self) -> str:
        """The probability, with its distance from 1 where that is small."""
        left = 1.0 - self.probability
        return f"1 - {left:.2g}" if 0.0 < left < 1e-3 else f"{self.probability:.3g}"

    def as_text(self) -> str:
        """The entry in a phrase; the probability is told where it is less than `SURE_TO_SEE`."""
        inputs = f"{len(self.where):,} inputs" if len(self.where) > 1 else ""
        sure = self.probability >= SURE_TO_SEE
        known = "" if sure else f"probability {self.sureness}"
        told = ", ".join(filter(None, (self.size_in_words, inputs, known)))
        return f"{self.fault}: {told}" if told else self.fault


def would_show(excludes: Iterable[Excluded]) -> str:
    """What a pass would have seen, at the end of its message; empty where it excludes nothing."""
    faults = "; ".join(one.as_text() for one in excludes)
    return f"; with probability {SURE_TO_SEE:g} it would have shown: {faults}" if faults else ""


def sharpest(entries: Iterable[Excluded]) -> Excluded | None:
    """Of the entries of the first one's fault, that of the smallest size; None without any."""
    found = list(entries)
    alike = [one for one in found if one.code == found[0].code]
    return min(alike, key=_distance, default=None)


def _distance(entry: Excluded) -> float:
    """How far a fault of this size is from none: a factor from 1, another number from 0."""
    numbers = {name: size for name, size in entry.size.items() if isinstance(size, int | float)}
    factor = numbers.get("factor")
    return abs(factor - 1.0) if factor is not None else abs(next(iter(numbers.values()), math.inf))


def _size_text(size: object) -> str:
    if isinstance(size, int | float) and not isinstance(size, bool):
        return four_digits(size)
    return str(size)


class Measured(Document):
    """What the answers left of a quantity: an interval that covers it, whenever the run stopped."""

    what: str = Field(description="The quantity, such as the scale of the noise.")
    low: float
    high: float | None = Field(description="Null where no value was too large.")
    confidence: Probability


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

    Args:
        kind: of what is released, by its name.
        claim: its tables.
        seeing: all checks of the kind.
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


def unseen_line(found: Sequence[NotLookedAt]) -> str | None:
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
