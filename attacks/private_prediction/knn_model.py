"""Private-kNN: records that vote with their labels, as neighbours of the query in a sample."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...reference import Noise
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Matrix, Vector
from ..auditing import laws_with_shifts
from .laws import as_law, check_classes


@dataclass(frozen=True, eq=False)
class PrivateKnn:
    """Private-kNN (Zhu et al. 2020), as Chadha et al. 2024 (arXiv 2402.09403) model it, section 6.

    Votes are Mult(k, P) here, and there Mult(k, P) + Ber(nu) (1{y'} - Mult(1, P^last)): where the
    added record is among the nearest, it displaces the last of them. As in the paper, the label
    taken away is drawn apart from the votes, so that a count may be -1.
    neighbours: k; law: P (c,), of the label of one of the nearest; last: P^last (c,), of the k-th;
    inclusion: nu, the probability that the added record votes; label: y', its label; sampling:
    gamma, the probability with which each record is drawn (nu where None). `neighbours.py` has
    these quantities for given records. Data sets differ by one record more.
    Raises ValueError for what is no law, probability or label, and for nu above gamma.
    """

    noise: Noise
    neighbours: int
    law: Vector
    last: Vector
    inclusion: float
    label: int
    sampling: float | None = None
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

    @cached_property
    def _laws(self) -> Matrix:
        labels = np.flatnonzero(self.last)
        one_vote = np.eye(self.classes, dtype=np.int64)
        shifts = np.concatenate([one_vote[:1] * 0, one_vote[self.label] - one_vote[labels]])
        without, *displaced = laws_with_shifts(self.noise, self.law, self.neighbours, shifts)
        there = (1.0 - self.inclusion) * without
        return np.stack([without, there + self.inclusion * (self.last[labels] @ displaced)])

    def laws(self) -> Matrix:
        """Laws (2, c) of the label, exact (`laws_with_shifts`)."""
        return self._laws

    def votes(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Votes (2, size, c) of both worlds, with the same k neighbours but for one."""
        here = rng.multinomial(self.neighbours, self.law, size)
        moved = -rng.multinomial(1, self.last, size)
        moved[:, self.label] += 1
        included = rng.random(size) < self.inclusion
        return np.stack([here, here + included[:, None] * moved])
