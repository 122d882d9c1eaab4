"""What `dpassay chain` measures, figure by figure, on its own people and on one's own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from ..findings.document import Document

if TYPE_CHECKING:  # they load scipy.stats
    from ...attacks.inference.linkage import Linkage
    from ...attacks.inference.measures import Estimate
    from ...attacks.inference.through_answers import EndToEnd

Measured = tuple[str, str, str, "float | Estimate"]
"""Part of the chain, what is measured, the measure and its value."""


def column_and_value(hidden: str) -> tuple[str, str]:
    """What `--hidden` names. Raises ValueError."""
    column, separator, value = hidden.partition("=")
    if not separator:
        raise ValueError(f"--hidden {hidden[:60]!r}: expected COLUMN=VALUE")
    return column, value


class Figure(Document):
    """One figure; its ends are null where it has no interval."""

    part: str = Field(description="The part of the chain.")
    of: str = Field(description="What is measured.")
    measure: str
    value: float
    low: float | None = Field(description="The lower end of a 95 % interval.")
    high: float | None

    @classmethod
    def of_measured(cls, measured: Measured) -> Self:
        """The figure, with its interval where the value has one."""
        part, of, measure, value = measured
        if isinstance(value, float):
            return cls(part=part, of=of, measure=measure, value=value, low=None, high=None)
        ends = {"value": value.value, "low": value.low, "high": value.high}
        return cls(part=part, of=of, measure=measure, **ends)


def votes_figures(attacks: Mapping[str, Any], *, advantage: bool = False) -> Iterator[Measured]:
    """The figures of attacks by name on the votes themselves."""
    for name, one in attacks.items():
        yield "attribute from votes", name, "area", one.auc
        yield "attribute from votes", name, "recall", one.recall
        yield "attribute from votes", name, "false alarms", one.false_positive_rate
        yield "attribute from votes", name, "precision", one.precision.value
        if advantage:
            yield "attribute from votes", name, "advantage", one.advantage.value


def answers_figures(through: "Iterable[EndToEnd]", how: str = "") -> Iterator[Measured]:
    """The figures of attacks through answers; how: they came about, in words."""
    for end in through:
        what = f"{end.cell.queries} answers{how}"
        yield "attribute through answers", what, "votes misplaced", end.misplaced
        yield "attribute through answers", what, "area", end.through.auc
        yield "attribute through answers", what, "epsilon", end.epsilon


def linkage_figures(found: "Linkage | None") -> Iterator[Measured]:
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
