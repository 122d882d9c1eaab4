"""What `dpassay chain` prints of one measure, on its own people and on one's own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from pydantic import Field

from ..findings.document import Document

if TYPE_CHECKING:  # they load scipy.stats
    from ...attacks.inference.linkage import Linkage
    from ...attacks.inference.measures import Estimate


class Figure(Document):
    """One figure; its ends are null where it has no interval."""

    part: str = Field(description="The part of the chain.")
    of: str = Field(description="What is measured.")
    measure: str
    value: float
    low: float | None = Field(description="The lower end of a 95 % interval.")
    high: float | None

    @classmethod
    def told(cls, part: str, of: str, measure: str, value: "float | Estimate") -> Self:
        """The figure, with its interval where the value has one."""
        if isinstance(value, float):
            return cls(part=part, of=of, measure=measure, value=value, low=None, high=None)
        ends = {"value": value.value, "low": value.low, "high": value.high}
        return cls(part=part, of=of, measure=measure, **ends)


def linkage_figures(
    found: "Linkage | None",
) -> Iterator[tuple[str, str, str, "float | Estimate"]]:
    """The figures of a table's columns, none without a table."""
    if found is None:
        return
    what = f"{len(found.columns)} columns"
    yield "linkage", what, "rows alone", found.alone / found.rows
    yield "linkage", what, "smallest group", float(found.least)
    if found.pair:
        yield "linkage", " and ".join(found.pair), "rows alone", found.pair_alone / found.rows
    if found.strangers is not None:
        yield "linkage", "people outside half the table", "match one row", found.strangers
