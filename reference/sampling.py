"""How an answer's teachers are drawn from all of them: the laws of the sampled counts."""

from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from .arrays import Integers, Matrix, Vector


class Way(Enum):
    """A way to draw a part of the teachers, by its name in claims."""

    POISSON = "poisson"
    """Each teacher with the same probability, apart from the others."""

    FIXED = "fixed"
    """So many different teachers, any as likely as any other."""

    WITH_REPLACEMENT = "with-replacement"
    """So many draws of one teacher: some vote twice, others never."""


@dataclass(frozen=True)
class Sampling:
    """A part of the teachers, drawn anew for each answer.

    amount: the probability of each teacher for `Way.POISSON`, else how many are drawn. Raises
    ValueError for a probability that is not between 0 and 1, or a number that is not whole.
    """

    way: Way
    amount: float

    def __post_init__(self) -> None:
        if self.way is Way.POISSON:
            if not 0.0 < self.amount < 1.0:
                raise ValueError(f"sampling {self}: expected a probability between 0 and 1")
        elif self.amount < 1 or not float(self.amount).is_integer():
            raise ValueError(f"sampling {self}: expected a whole number from 1")

    def __str__(self) -> str:
        return f"{self.way.value}:{self.amount:g}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The sampling that `text` such as `poisson:0.1` or `fixed:50` names; `str` gives it back.

        Raises ValueError naming the text and what is allowed.
        """
        name, _, amount = text.partition(":")
        try:
            return cls(Way(name), float(amount))
        except ValueError:
            raise ValueError(
                f"sampling {text[:60]!r}: expected poisson:Q with a probability Q between 0 and 1, "
                "fixed:K or with-replacement:K with a whole number K from 1"
            ) from None

    @property
    def drawn(self) -> int | None:
        """How many votes an answer is of; None where that is random."""
        return None if self.way is Way.POISSON else int(self.amount)

    def check_total(self, total: int) -> None:
        """Raises ValueError where so many votes are too few to draw from."""
        least = self.amount if self.way is Way.FIXED else 1
        if self.way is not Way.POISSON and total < least:
            raise ValueError(f"histogram of {total} votes: {self} draws from at least {least:g}")

    def sample(self, votes: Integers, size: int, rng: np.random.Generator) -> Integers:
        """Sampled counts (size, c) of a histogram (c,). Raises ValueError for too few votes."""
        total = int(votes.sum())
        self.check_total(total)
        if self.drawn is None:
            return rng.binomial(votes, self.amount, (size, votes.size))
        if self.way is Way.FIXED:
            return rng.multivariate_hypergeometric(votes, self.drawn, size, method="marginals")
        return rng.multinomial(self.drawn, votes / total, size)

    def log_weights(self, counts: Vector, total: int) -> Matrix:
        """Log-probabilities (n, m) that 0, 1, ... of so many votes (n,) are drawn, each apart.

        Counts of a class are binomial for Poisson sampling and independent. So they are for a fixed
        number of teachers, and Poisson with replacement, once it is given that all classes together
        have `drawn` votes: what `log_of_total` is the probability of.
        """
        most = int(counts.max()) if self.way is not Way.WITH_REPLACEMENT else int(self.amount)
        drawn = np.arange(min(most, int(self.amount) if self.drawn else most) + 1)
        if self.way is Way.WITH_REPLACEMENT:
            return _log_poisson(drawn.astype(np.float64), self.amount * counts[:, None] / total)
        return _log_binomial(drawn.astype(np.float64), counts[:, None], self._share(total))

    def log_of_total(self, drawn: Vector, total: int) -> Vector:
        """Log-probabilities that all classes together have `drawn` votes, before that is given."""
        if self.way is Way.WITH_REPLACEMENT:
            return _log_poisson(drawn, np.asarray(self.amount))
        return _log_binomial(drawn, np.asarray(float(total)), self._share(total))

    def _share(self, total: int) -> float:
        return self.amount if self.way is Way.POISSON else self.amount / total


def _log_binomial(drawn: Vector, of: Vector, share: float) -> Matrix:
    from scipy.special import gammaln, xlog1py, xlogy

    left = of - drawn
    inside = np.maximum(left, 0.0)
    found = gammaln(of + 1.0) - gammaln(drawn + 1.0) - gammaln(inside + 1.0)
    found = found + xlogy(drawn, share) + xlog1py(inside, -share)
    return np.asarray(np.where((left < 0) | (drawn < 0), -np.inf, found))


def _log_poisson(drawn: Vector, mean: Vector) -> Matrix:
    from scipy.special import gammaln, xlogy

    inside = np.maximum(drawn, 0.0)
    found = xlogy(inside, mean) - mean - gammaln(inside + 1.0)
    return np.asarray(np.where(drawn < 0, -np.inf, found))
