"""Parametric models of the three mechanisms whose teachers are trained on parts of the data.

In place of training all teachers anew for each experiment, one draws their votes from laws that
some trainings have estimated (Chadha et al. 2024, arXiv 2402.09403, sections 5.1 to 5.3).
Neighbouring data sets have one record replaced, so that one teacher votes otherwise. Of a group of
records, each is in a teacher of its own: several records in one teacher move one vote, as one does.
Private-kNN is in `knn_model`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...reference import Noise, as_histogram, probabilities
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Integers, Matrix, Vector
from ..auditing import laws_with_one_vote_fixed, laws_with_shifts
from .laws import (
    as_law,
    as_laws,
    check_classes,
    check_records,
    few_outcomes,
    group_outcomes,
    outcomes,
    sampled,
)


@dataclass(frozen=True, eq=False)
class Pate:
    """PATE (Papernot et al. 2017, 2018): data split at random, a teacher trained on each part.

    Votes are Mult(k, P) here, and Mult(k - m, P) + Mult(m, P') there.
    teachers: k; law: P (c,), of the vote of a teacher on a random part; altered: P' (c,), of one
    whose part has an altered record; records: m altered ones, in as many teachers. Raises
    ValueError for what is no law, for no teachers, and for more records than teachers.
    """

    noise: Noise
    teachers: int
    law: Vector
    altered: Vector
    records: int = 1
    adjacency: ClassVar[Adjacency] = Adjacency.REPLACE_ONE
    votes_are_fixed: ClassVar[bool] = False
    rarest: ClassVar[float] = 1e-30  # as rare as `laws_with_one_vote_fixed` has digits

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", as_law("law", self.law))
        object.__setattr__(self, "altered", as_law("altered", self.altered))
        check_classes("altered", self.altered.size, self.law.size)
        if self.teachers < 1:
            raise ValueError(f"teachers {self.teachers}: expected at least one")
        check_records(self.records, self.teachers)

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.law.size

    @cached_property
    def _laws(self) -> Matrix:
        if self.records == 1:
            rows = laws_with_one_vote_fixed(self.noise, self.law, self.teachers)
            return np.stack([self.law @ rows, self.altered @ rows])
        votes, chances = group_outcomes(self.altered, self.records)
        nothing = np.zeros((1, self.classes), dtype=np.int64)
        others = self.teachers - self.records
        here = laws_with_shifts(self.noise, self.law, self.teachers, nothing)[0]
        return np.stack([here, chances @ laws_with_shifts(self.noise, self.law, others, votes)])

    def laws(self) -> Matrix:
        """Laws (2, c) of the label, exact (`laws_with_shifts`).

        Raises ValueError where the votes of the altered teachers come out in too many ways.
        """
        return self._laws

    def votes(self, size: int, rng: np.random.Generator) -> Integers:
        """Votes (2, size, c) of both worlds, with the same k - m other teachers."""
        others = rng.multinomial(self.teachers - self.records, self.law, size)
        both = (self.law, self.altered)
        return others + np.stack([rng.multinomial(self.records, law, size) for law in both])


@dataclass(frozen=True, eq=False)
class Capc:
    """CaPC (Choquette-Choo et al. 2021): parties with data of their own, a teacher each.

    Votes are the sum of Mult(1, P^i) here; there one party has the law `altered`, or several do.
    parties: P^i (k, c), 0 and 1 where training always ends in the same vote; altered: (c,), of
    several parties (m, c); party: whose record is altered, from 0, or the m different ones whose
    records are; samples: votes of the others that `laws` averages over where they vary too much to
    be enumerated, drawn by `seed`. Raises ValueError for what is no law, a party that is not there
    or there twice, and fewer than two samples.
    """

    noise: Noise
    parties: Matrix
    altered: Vector | Matrix
    party: int | tuple[int, ...] = 0
    samples: int = 20_000
    seed: int = 0
    adjacency: ClassVar[Adjacency] = Adjacency.REPLACE_ONE
    rarest: ClassVar[float] = 1e-300

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", as_laws("parties", self.parties))
        several = isinstance(self.party, tuple)
        altered = (as_laws if several else as_law)("altered", self.altered)
        object.__setattr__(self, "altered", altered)
        check_classes("altered", altered.shape[-1], self.classes)
        for party in self.altered_parties:
            if not 0 <= party < len(self.parties):
                raise ValueError(f"party {party}: expected 0 to {len(self.parties) - 1}")
        if several and not len(altered) == len(self.altered_parties) == len(
            set(self.altered_parties)
        ):
            raise ValueError(
                f"parties {list(self.altered_parties)} altered, with {len(altered)} laws: expected "
                "different ones, and a law of each"
            )
        if self.samples < 2:
            raise ValueError(f"samples {self.samples}: expected at least two")

    @property
    def classes(self) -> int:
        """The number of labels."""
        return int(self.parties.shape[1])

    @property
    def altered_parties(self) -> tuple[int, ...]:
        """The places of the parties whose records are altered."""
        return self.party if isinstance(self.party, tuple) else (self.party,)

    @property
    def records(self) -> int:
        """How many records are altered, each of another party."""
        return len(self.altered_parties)

    @property
    def votes_are_fixed(self) -> bool:
        """Whether every party always votes alike."""
        return bool(self.parties.max(-1).min() == 1.0 and self.altered.max(-1).min() == 1.0)

    @property
    def others(self) -> Matrix:
        """Laws (k - m, c) of the parties that are as they were."""
        return np.delete(self.parties, self.altered_parties, axis=0)

    @property
    def _both(self) -> tuple[Matrix, Matrix]:
        """Laws (m, c) of the altered parties, here and there."""
        return self.parties[list(self.altered_parties)], np.atleast_2d(self.altered)

    @cached_property
    def _laws_and_errors(self) -> tuple[Matrix, Matrix]:
        """Laws (2, c) and their standard errors: the altered parties' votes are weighed."""
        enumerated = outcomes(self.others)
        if enumerated is None:
            rng = np.random.default_rng(self.seed)
            drawn = sampled(self.others, self.samples, rng)
            votes, times = np.unique(drawn, axis=0, return_counts=True)
            chances = times / self.samples
        else:
            votes, chances = enumerated
        of_votes = np.zeros((2, *votes.shape))
        for world, own in enumerate(self._both):
            for more, chance in zip(*few_outcomes(own), strict=True):
                of_votes[world] += chance * probabilities(votes + more, self.noise)
        laws = np.asarray(chances @ of_votes)
        if enumerated is not None:
            return laws, np.zeros(laws.shape)
        variances = chances @ (of_votes - laws[:, None]) ** 2
        return laws, np.sqrt(variances / (self.samples - 1))

    def laws(self) -> Matrix:
        """Laws (2, c) of the label: exact where the votes of the other parties can be enumerated.

        They can where at most 20,000 histograms may come, as where all laws are 0 and 1. Otherwise
        an average of Q(H) over `samples` votes of the others, the same in both worlds, as no
        generating function factors over labels; `standard_errors` says how far off. The divergence
        of sampled laws is a little too large in the mean, as divergences are convex.
        """
        return self._laws_and_errors[0]

    def standard_errors(self) -> Matrix:
        """Standard errors (2, c) of `laws`; zeros where they are exact."""
        return self._laws_and_errors[1]

    def votes(self, size: int, rng: np.random.Generator) -> Integers:
        """Votes (2, size, c) of both worlds, with the same votes of the other parties."""
        others = sampled(self.others, size, rng)
        return others + np.stack([sampled(own, size, rng) for own in self._both])


@dataclass(frozen=True, eq=False)
class PromptPate:
    """PromptPATE (Duan et al. 2023): prompted teachers that always answer alike.

    here, there: votes (c,) in the two worlds, one vote apart, or the same; noise alone is random;
    records: how many are altered, and votes at most apart. Raises ValueError for what is no
    histogram, and for two that are no neighbours.
    """

    noise: Noise
    here: Integers
    there: Integers
    records: int = 1
    adjacency: ClassVar[Adjacency] = Adjacency.REPLACE_ONE
    votes_are_fixed: ClassVar[bool] = True
    rarest: ClassVar[float] = 1e-300

    def __post_init__(self) -> None:
        for name in ("here", "there"):
            votes = as_histogram(getattr(self, name))
            votes.setflags(write=False)
            object.__setattr__(self, name, votes)
        check_classes("there", self.there.size, self.here.size)
        moved = self.there - self.here
        check_records(self.records, int(self.here.sum()))
        if moved.sum() != 0 or np.abs(moved).sum() > 2 * self.records:
            some = "one vote" if self.records == 1 else f"{self.records} votes"
            raise ValueError(
                f"here {self.here.tolist()} and there {self.there.tolist()}: expected at most "
                f"{some} moved to another class"
            )

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.here.size

    @cached_property
    def _laws(self) -> Matrix:
        return np.asarray(probabilities(np.stack([self.here, self.there]), self.noise))

    def laws(self) -> Matrix:
        """Laws (2, c) of the label: Q(H), exact."""
        return self._laws

    def votes(self, size: int, rng: np.random.Generator) -> Integers:
        """Votes (2, size, c): the same in every experiment, a read-only view; rng is not used."""
        both = np.stack([self.here, self.there])
        return np.broadcast_to(both[:, None], (2, size, self.classes))
