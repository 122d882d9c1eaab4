"""What a pass excludes: one record, made by the check that passes."""

import math
from collections.abc import Iterable

from pydantic import Field

from ..text import four_digits
from .codes import codes
from .document import Count, Document, Probability
from .note import Fields

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
        return ", ".join(f"{name} {_shown(value)}" for name, value in sizes)

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


def _shown(size: object) -> str:
    if isinstance(size, int | float) and not isinstance(size, bool):
        return four_digits(size)
    return str(size)


class Measured(Document):
    """What the answers left of a quantity: an interval that covers it, whenever the run stopped."""

    what: str = Field(description="The quantity, such as the scale of the noise.")
    low: float
    high: float | None = Field(description="Null where no value was too large.")
    confidence: Probability
