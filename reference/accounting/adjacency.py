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
    """One record is another, or one teacher votes otherwise: a vote moves to another class."""

    ADD_REMOVE = "add-remove"
    """A data set has one record more, or less; an ensemble one teacher."""


def between(adjacency: Adjacency) -> Callable[[Cost], Cost]:
    """Marks a function that gives a cost with the neighbours that the cost is between.

    Where it takes a `neighbourhood`, with those that it is between unless another is given.
    """

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
