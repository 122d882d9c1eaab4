"""Who attacks: which record is added, and which queries are asked.

Chadha et al. 2024 (arXiv 2402.09403), section 4.1, have three adversaries, each a crafter and a
distinguisher. The crafter adds a record: a natural one comes from the data, a poisoned one has a
wrong label. The distinguisher asks queries: natural ones are asked once each, an adversarial one
again and again.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...reference.arrays import Integers, Matrix
from .theory import Worlds, divergences

_CHOICE_ORDER = 2.0  # at which an adversary compares what there is to choose from


class Adversary(Enum):
    """The three adversaries of Chadha et al. 2024, by the names of the paper."""

    NAT_MIAQ = "nat-miaq"
    """Adds the query itself with its true label, and asks it again and again."""
    POIS_MIAQ = "pois-miaq"
    """Adds the query itself with a wrong label, and asks it again and again."""
    POIS_MINQ = "pois-minq"
    """Adds one record with a wrong label, and asks every natural query once."""

    @property
    def adds(self) -> str:
        """The record that it adds, in words, where it repeats a query."""
        return f"the query itself, with {'a wrong' if self.poisons else 'its true'} label"

    @property
    def poisons(self) -> bool:
        """Whether the added record has a wrong label."""
        return self is not Adversary.NAT_MIAQ

    @property
    def repeats(self) -> bool:
        """Whether one query is asked again and again."""
        return self is not Adversary.POIS_MINQ


@dataclass(frozen=True)
class WorldsQuery:
    """A query that an adversary asks, in both worlds of the record that was added for it.

    query: its number; score: by which an adversary that may choose prefers it to others. Where
    worlds are estimated, the score comes from other trainings than they do, as the largest of many
    estimates is too large.
    """

    query: int
    worlds: Worlds
    score: float


@dataclass(frozen=True)
class Attack:
    """What an adversary does.

    crafted: the record that it adds, in words; asked: each query that it may ask; records: how
    often it adds the record; tried: the prompts that it chose from, the one it adds among them.
    One that asks again and again takes the worst of the queries.
    """

    adversary: Adversary
    crafted: str
    asked: tuple[WorldsQuery, ...]
    records: int = 1
    tried: tuple["Attack", ...] = ()

    @property
    def worst(self) -> WorldsQuery:
        """The query with the highest score."""
        return max(self.asked, key=lambda query: query.score)


def asked(query: int, worlds: Worlds, chosen_by: Worlds | None = None) -> WorldsQuery:
    """A query that is asked in two worlds, with the score that `chosen_by` (or `theory`) gives."""
    return WorldsQuery(query, worlds, score_of(worlds if chosen_by is None else chosen_by))


def score_of(worlds: Worlds) -> float:
    """The larger divergence of two worlds, at order 2."""
    return float(divergences(worlds, [_CHOICE_ORDER]).max())


def wrong_labels(votes: Matrix | Integers, truths: Integers) -> Integers:
    """The wrong label (m,) with most votes (m, c), the likeliest to win by one more."""
    wrong = votes.astype(np.float64)
    wrong[np.arange(len(truths)), truths] = -1.0
    return np.asarray(wrong.argmax(-1))


def evenly_by_consensus(histograms: Integers, number: int) -> Integers:
    """The places of queries, evenly from the one on which teachers agree least to the opposite."""
    order = histograms.max(-1).argsort(kind="stable")
    places = np.linspace(0, len(order) - 1, min(number, len(order)))
    return np.asarray(order[np.unique(places.round().astype(np.int64))])
