"""Which histograms, or data sets, a cost tells apart: a cost without this says nothing."""

from enum import Enum


class Adjacency(Enum):
    """A relation of neighbours, by its name in dp-accounting and in claims.

    Costs of different relations do not add up: a bound for one is none for the other.
    """

    REPLACE_ONE = "replace-one"
    """One record is another, or one teacher votes otherwise: a vote moves to another class."""

    ADD_REMOVE = "add-remove"
    """A data set has one record more, or less; an ensemble one teacher."""
