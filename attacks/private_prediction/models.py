"""Parametric models of the three mechanisms whose teachers are trained on parts of the data.

In place of training all teachers anew for each experiment, one draws their votes from laws that
some trainings have estimated (Chadha et al. 2024, arXiv 2402.09403, sections 5.1 to 5.3).
Neighbouring data sets have one record replaced, so that one teacher votes otherwise. Private-kNN is
in `knn_model`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...reference import Noise, as_histogram, probabilities
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Matrix, Vector
from ..auditing import laws_with_one_vote_fixed
from . import party_votes
from .laws import as_law, as_laws, check_classes


@dataclass(frozen=True, eq=False)
class Pate:
    """PATE (Papernot et al. 2017, 2018): data split at random, a teacher trained on each part.

    Votes are Mult(k, P) here, and Mult(k - 1, P) + Mult(1, P') there.
    teachers: k; law: P (c,), of the vote of a teacher on a random part; altered: P' (c,), of one
    whose part has the altered record. Raises ValueError for what is no law, and for no teachers.
    """

    noise: Noise
    teachers: int
    law: Vector
    altered: Vector
    adjacency: ClassVar[Adjacency] = Adjacency.REPLACE_ONE
    votes_are_fixed: ClassVar[bool] = False
    rarest: ClassVar[float] = 1e-30  # as rare as `laws_with_one_vote_fixed` has digits

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", as_law("law", self.law))
        object.__setattr__(self, "altered", as_law("altered", self.altered))
        check_classes("altered", self.altered.size, self.law.size)
        if self.teachers < 1:
            raise ValueError(f"teachers {self.teachers}: expected at least one")

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.law.size

    @cached_property
    def _laws(self) -> Matrix:
        rows = laws_with_one_vote_fixed(self.noise, self.law, self.teachers)
        return np.stack([self.law @ rows, self.altered @ rows])

    def laws(self) -> Matrix:
        """Laws (2, c) of the label, exact (`laws_with_one_vote_fixed`)."""
        return self._laws

    def votes(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Votes (2, size, c) of both worlds, with the same k - 1 other teachers."""
        others = rng.multinomial(self.teachers - 1, self.law, size)
        return others + _one_vote_of_each([self.law, self.altered], size, rng)


@dataclass(frozen=True, eq=False)
class Capc:
    """CaPC (Choquette-Choo et al. 2021): parties with data of their own, a teacher each.

    Votes are the sum of Mult(1, P^i) here; there one party has the law `altered`.
    parties: P^i (k, c), 0 and 1 where training always ends in the same vote; altered: (c,);
    party: whose record is altered, from 0; samples: votes of the others that `laws` averages over
    where they vary too much to be enumerated, drawn by `seed`. Raises ValueError for what is no
    law, a party that is not there, and fewer than two samples.
    """

    noise: Noise
    parties: Matrix
    altered: Vector
    party: int = 0
    samples: int = 20_000
    seed: int = 0
    adjacency: ClassVar[Adjacency] = Adjacency.REPLACE_ONE
    rarest: ClassVar[float] = 1e-300

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", as_laws("parties", self.parties))
        object.__setattr__(self, "altered", as_law("altered", self.altered))
        check_classes("altered", self.altered.size, self.classes)
        if not 0 <= self.party < len(self.parties):
            raise ValueError(f"party {self.party}: expected 0 to {len(self.parties) - 1}")
        if self.samples < 2:
            raise ValueError(f"samples {self.samples}: expected at least two")

    @property
    def classes(self) -> int:
        """The number of labels."""
        return int(self.parties.shape[1])

    @property
    def votes_are_fixed(self) -> bool:
        """Whether every party always votes alike."""
        return bool(self.parties.max(-1).min() == 1.0 and self.altered.max() == 1.0)

    @property
    def _others(self) -> Matrix:
        return np.delete(self.parties, self.party, axis=0)

    @cached_property
    def _laws_and_errors(self) -> tuple[Matrix, Matrix]:
        """Laws (2, c) and their standard errors: every vote of the altered party is weighed."""
        enumerated = party_votes.outcomes(self._others)
        if enumerated is None:
            rng = np.random.default_rng(self.seed)
            drawn = party_votes.sampled(self._others, self.samples, rng)
            votes, times = np.unique(drawn, axis=0, return_counts=True)
            chances = times / self.samples
        else:
            votes, chances = enumerated
        of_votes = np.zeros((2, *votes.shape))
        both = np.stack([self.parties[self.party], self.altered])
        for label in np.flatnonzero(both.sum(0)):
            one_more = votes + (np.arange(self.classes) == label)
            of_votes += both[:, label, None, None] * probabilities(one_more, self.noise)
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

    def votes(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Votes (2, size, c) of both worlds, with the same votes of the other parties."""
        others = party_votes.sampled(self._others, size, rng)
        return others + _one_vote_of_each([self.parties[self.party], self.altered], size, rng)


@dataclass(frozen=True, eq=False)
class PromptPate:
    """PromptPATE (Duan et al. 2023): prompted teachers that always answer alike.

    here, there: votes (c,) in the two worlds, one vote apart, or the same; noise alone is random.
    Raises ValueError for what is no histogram, and for two that are no neighbours.
    """

    noise: Noise
    here: NDArray[np.int64]
    there: NDArray[np.int64]
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
        if moved.sum() != 0 or np.abs(moved).sum() > 2:
            raise ValueError(
                f"here {self.here.tolist()} and there {self.there.tolist()}: expected at most one "
                "vote moved to another class"
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

    def votes(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Votes (2, size, c): the same in every experiment, a read-only view; rng is not used."""
        both = np.stack([self.here, self.there])
        return np.broadcast_to(both[:, None], (2, size, self.classes))


def _one_vote_of_each(laws: list[Vector], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Votes (worlds, size, c) of one teacher in worlds where its vote has these laws."""
    return np.stack([rng.multinomial(1, law, size) for law in laws])
