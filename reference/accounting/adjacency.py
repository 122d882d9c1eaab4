"""Which histograms, or data sets, a cost tells apart: a cost without this says nothing."""

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

Cost = TypeVar("Cost", bound=Callable[..., Any])


class Adjacency(Enum):
    """A relation of neighbours, by its name in dp-accounting and in claims.

    Costs of different relations do not add up: a bound for one is none for the other.
    """

    REPLACE_ONE = "replace-one"
    """One teacher votes otherwise: a vote moves from one class to another."""

    ADD_REMOVE = "add-remove"
    """A data set has one record more, or less."""


def between(adjacency: Adjacency) -> Callable[[Cost], Cost]:
    """Marks a function that gives a cost with the neighbours that the cost is between."""

    def mark(cost: Cost) -> Cost:
        cost.adjacency = adjacency  # type: ignore[attr-defined]
        return cost

    return mark


def adjacency_of(cost: Callable[..., Any]) -> Adjacency:
    """The neighbours between which `cost` is one. Raises ValueError for an unmarked function."""
    found = getattr(cost, "adjacency", None)
    if not isinstance(found, Adjacency):
        raise ValueError(f"{cost!r}: does not say between which neighbours it is a cost")
    return found
