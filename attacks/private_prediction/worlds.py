"""One query in two neighbouring worlds: the exact laws of its label, and experiments in both."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from ...reference import Gaussian, Noise
from ...reference.accounting.adjacency import Adjacency
from ...reference.accounting.divergences import renyi_divergence
from ...reference.accounting.gnmax import as_orders, gnmax_data_dependent
from ...reference.arrays import Matrix
from ..auditing import Counts

_DRAWS_AT_ONCE = 1 << 19
_COSTS_AT_ONCE = 1 << 20


class Worlds(Protocol):
    """One query in two neighbouring worlds: "here" without the altered record, "there" with it.

    In every array of both, the first row is here and the second there.
    """

    @property
    def noise(self) -> Noise:
        """The noise on each count."""

    @property
    def classes(self) -> int:
        """The number of labels, c."""

    @property
    def adjacency(self) -> Adjacency:
        """How the two data sets differ."""

    @property
    def votes_are_fixed(self) -> bool:
        """Whether every experiment has the same votes: noise alone is random."""

    @property
    def rarest(self) -> float:
        """The probability below which `laws` have no digits."""

    def laws(self) -> Matrix:
        """Laws (2, c) of the label, over votes and noise."""

    def votes(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Votes (2, size, c) drawn anew, of the same other teachers in both worlds.

        Each pair of rows is a pair of neighbouring histograms, or twice the same one.
        """


def divergences(worlds: Worlds, orders: ArrayLike) -> Matrix:
    """Exact Rényi divergences (2, n) at orders (n,) in nats: here || there, and there || here.

    Labels rarer than `worlds.rarest` are taken to come that often.
    """
    logs = np.log(np.maximum(worlds.laws(), worlds.rarest))
    return renyi_divergence(logs, logs[::-1], orders)


def experiments(worlds: Worlds, size: int, rng: np.random.Generator) -> Counts:
    """Labels of `size` experiments a world, counted; drawn from the exact laws as one multinomial.

    As soon done for 10^9 as for ten. It is the statistics that such counts put to the test, never
    the code that votes, draws noise and takes the largest: `run_experiments` runs that.
    """
    _check_size(size)
    laws = worlds.laws()
    here, there = (rng.multinomial(size, law / law.sum()) for law in laws)
    return Counts(here, there)


def run_experiments(worlds: Worlds, size: int, rng: np.random.Generator) -> Counts:
    """Labels of `size` experiments a world, counted: votes drawn anew, noise added, the largest.

    The two worlds are independent. Memory stays below 100 MiB whatever the size. Of ten classes a
    label takes 2 microseconds of one core with the votes of `Pate`, 1.6 of `PrivateKnn`, 0.2 of
    `PromptPate`, 0.7 to 60 of `Capc`: by how many parties have laws of their own.
    """
    _check_size(size)
    counts = np.zeros((2, worlds.classes), dtype=np.int64)
    step = max(1, _DRAWS_AT_ONCE // worlds.classes)
    for start in range(0, size, step):
        part = min(step, size - start)
        both = worlds.votes(2 * part, rng)
        for world, votes in enumerate((both[0, :part], both[1, part:])):  # of other teachers
            labels = (votes + worlds.noise.sample(rng, votes.shape)).argmax(-1)
            counts[world] += np.bincount(labels, minlength=worlds.classes)
    return Counts(counts[0], counts[1])


def data_dependent(
    worlds: Worlds, orders: ArrayLike, size: int, rng: np.random.Generator
) -> Matrix:
    """Rényi cost (2, n) by Theorem 6 of Papernot et al. 2018, at orders (n,) above 1, in nats.

    Row 0 bounds D(here || there), row 1 D(there || here). The theorem bounds D_a(M(h) || M(h')) at
    a fixed h, for every neighbour h', by a cost(h). Of random votes with neighbours h, h' in either
    world, M's laws are the averages of M(h) and M(h'), and exp((a - 1) D_a(P || Q)), the sum of
    p^a q^(1 - a), is jointly convex, so that
    D_a(P || Q) <= 1/(a - 1) log E exp((a - 1) cost(h)) with h from the world on the left.
    The mean is taken over `size` sampled votes: an estimate of the bound where the votes are
    random, exact where they are fixed. That votes may be the same in both worlds is not used: an
    analysis does not know which record was altered. Raises ValueError for other noise than
    Gaussian, and for Private-kNN, whose neighbours the theorem does not have.
    """
    sigma, a = sigma_of(worlds), as_orders(orders)
    if worlds.adjacency is not Adjacency.REPLACE_ONE:
        raise ValueError(
            f"data-dependent analysis between {worlds.adjacency.value} neighbours: expected "
            f"{Adjacency.REPLACE_ONE.value}; use data_independent"
        )
    if not (a > 1.0).all():
        raise ValueError(f"order {a[~(a > 1.0)][0]:g}: expected a number above 1")
    _check_size(size)
    parts: list[Matrix] = []
    step = max(1, _COSTS_AT_ONCE // max(a.size, worlds.classes))
    for start in range(0, size, step):
        votes = worlds.votes(min(step, size - start), rng)
        parts.append(np.stack([_log_sum(of_one, sigma, a) for of_one in votes]))
    return np.asarray((logsumexp(parts, axis=0) - np.log(size)) / (a - 1.0))


def _log_sum(votes: np.ndarray, sigma: float, orders: Matrix) -> Matrix:
    """Log of the sum over votes (size, c) of exp((a - 1) cost), at each order a."""
    histograms, times = np.unique(-np.sort(-votes, axis=-1), axis=0, return_counts=True)
    costs = gnmax_data_dependent(histograms, sigma, orders)
    return np.asarray(logsumexp((orders - 1.0) * costs, axis=0, b=times[:, None]))


def sigma_of(worlds: Worlds) -> float:
    """The scale of Gaussian noise. Raises ValueError for any other noise."""
    if not isinstance(worlds.noise, Gaussian):
        raise ValueError(f"noise {worlds.noise}: expected gaussian, which the analyses are of")
    return worlds.noise.scale


def _check_size(size: int) -> None:
    if size < 1:
        raise ValueError(f"size {size}: expected at least one")
