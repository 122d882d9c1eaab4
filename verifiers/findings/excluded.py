"""What a pass excludes: one record, made by the check that passes."""

from pydantic import Field

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


class Measured(Document):
    """What the answers left of a quantity: an interval that covers it, whenever the run stopped."""

    what: str = Field(description="The quantity, such as the scale of the noise.")
    low: float
    high: float | None = Field(description="Null where no value was too large.")
    confidence: Probability
