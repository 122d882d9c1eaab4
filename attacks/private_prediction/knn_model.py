"""Private-kNN: records that vote with their labels, as neighbours of the query in a sample."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...reference import Noise
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Integers, Matrix, Vector
from ..auditing import laws_with_shifts
from .laws import as_law, check_classes, check_records, group_outcomes


@dataclass(frozen=True, eq=False)
class PrivateKnn:
    """Private-kNN (Zhu et al. 2020), as Chadha et al. 2024 (arXiv 2402.09403) model it, section 6.

    Votes are Mult(k, P) here, and there Mult(k, P) + Ber(nu) (1{y'} - Mult(1, P^last)): where the
    added record is among the nearest, it displaces the last of them. As in the paper, the label
    taken away is drawn apart from the votes, so that a count may be -1. Of m equal records, of
    which J vote, it is Mult(k, P) + J 1{y'} - Mult(J, P^last).
    neighbours: k; law: P (c,), of the label of one of the nearest; last: P^last (c,), of the k-th;
    inclusion: nu, the probability that the added record votes; label: y', its label; sampling:
    gamma, the probability with which each record is drawn (nu where None); group: the law (m + 1,)
    of J, None for one record, whose law is (1 - nu, nu). `neighbours.py` has these quantities for
    given records. Data sets differ by the added records.
    Raises ValueError for what is no law, probability or label, and for nu above gamma.
    """

    noise: Noise
    neighbours: int
    law: Vector
    last: Vector
    inclusion: float
    label: int
    sampling: float | None = None
    group: Vector | None = None
    adjacency: ClassVar[Adjacency] = Adjacency.ADD_REMOVE
    votes_are_fixed: ClassVar[bool] = False
    rarest: ClassVar[float] = 1e-30  # as rare as `laws_with_shifts` has digits

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", as_law("law", self.law))
        object.__setattr__(self, "last", as_law("last", self.last))
        check_classes("last", self.last.size, self.law.size)
        if self.neighbours < 1:
            raise ValueError(f"neighbours {self.neighbours}: expected at least one")
        if not 0.0 <= self.inclusion <= 1.0:
            raise ValueError(f"inclusion {self.inclusion:g}: expected a probability")
        if self.group is not None:
            object.__setattr__(self, "group", as_law("group", self.group))
            check_records(self.records, self.neighbours)
        if not 0 <= self.label < self.classes:
            raise ValueError(f"label {self.label}: expected 0 to {self.classes - 1}")
        if self.sampling is not None and not self.inclusion <= self.sampling <= 1.0:
            raise ValueError(
                f"sampling {self.sampling:g}: expected a probability, at least the inclusion "
                f"{self.inclusion:g}"
            )

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.law.size

    @property
    def records(self) -> int:
        """How many records are added."""
        return 1 if self.group is None else self.group.size - 1

    @property
    def voting(self) -> Vector:
        """Probabilities (m + 1,) that 0 to m of the added records vote."""
        one = np.array([1.0 - self.inclusion, self.inclusion])
        return one if self.group is None else self.group

    @cached_property
    def _laws(self) -> Matrix:
        one_vote = np.eye(self.classes, dtype=np.int64)
        shifts, chances = [one_vote[:1] * 0], [self.voting[:1]]
        for number in range(1, self.records + 1):
            displaced, chance = group_outcomes(self.last, number)
            shifts.append(number * one_vote[self.label] - displaced)
            chances.append(self.voting[number] * chance)
        laws = laws_with_shifts(self.noise, self.law, self.neighbours, np.concatenate(shifts))
        return np.stack([laws[0], np.concatenate(chances) @ laws])

    def laws(self) -> Matrix:
        """Laws (2, c) of the label, exact (`laws_with_shifts`).

        Raises ValueError where the displaced votes come out in too many ways.
        """
        return self._laws

    def votes(self, size: int, rng: np.random.Generator) -> Integers:
        """Votes (2, size, c) of both worlds, with the same k neighbours but for those displaced."""
        here = rng.multinomial(self.neighbours, self.law, size)
        included = rng.choice(self.records + 1, size, p=self.voting)
        moved = -rng.multinomial(included, self.last)
        moved[:, self.label] += included
        return np.stack([here, here + moved])
