"""One query in two neighbouring worlds: its exact laws, experiments, and what analyses charge.

An adversary who alters m records proves a divergence of data sets m records apart, which refutes
every claim for one record from which a smaller one would follow (Chadha et al., appendix D).
"""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from ...reference import Gaussian, Noise
from ...reference.accounting.adjacency import Adjacency
from ...reference.accounting.analyses import knn_data_independent
from ...reference.accounting.divergences import renyi_divergence
from ...reference.accounting.gnmax import (
    as_orders,
    gaussian_data_dependent,
    gnmax_data_independent,
    log_q_union,
)
from ...reference.arrays import Matrix, Vector
from ..auditing import Counts, counts_of_laws
from .knn_model import PrivateKnn

_DRAWS_AT_ONCE = 1 << 19


class Worlds(Protocol):
    """One query in two neighbouring worlds: "here" without the altered record, "there" with it.

    Or with several of them: then the worlds are not neighbours, but so many steps apart.

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
        """How the two data sets differ, in each record that is altered."""

    @property
    def records(self) -> int:
        """How many records are altered."""

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

        Each pair of rows is a pair of histograms that differ by the altered records, or twice the
        same one.
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
    return counts_of_laws(worlds.laws(), size, rng)


def run_experiments(worlds: Worlds, size: int, rng: np.random.Generator) -> Counts:
    """Labels of `size` experiments a world, counted: votes drawn anew, noise added, the largest.

    The two worlds are independent. Memory stays below 100 MiB whatever the size. Of ten classes a
    label takes 2 microseconds of one core with the votes of `Pate`, 1.6 of `PrivateKnn`, 0.2 of
    `PromptPate`, 0.7 to 60 of `Capc`: by how many parties have laws of their own.
    """
    if size < 1:
        raise ValueError(f"{size} experiments: expected at least one")
    counts = np.zeros((2, worlds.classes), dtype=np.int64)
    step = max(1, _DRAWS_AT_ONCE // worlds.classes)
    for start in range(0, size, step):
        part = min(step, size - start)
        both = worlds.votes(2 * part, rng)
        for world, votes in enumerate((both[0, :part], both[1, part:])):  # of other teachers
            labels = (votes + worlds.noise.sample(rng, votes.shape)).argmax(-1)
            counts[world] += np.bincount(labels, minlength=worlds.classes)
    return Counts(counts[0], counts[1])


def per_record(bounds: ArrayLike, orders: ArrayLike, records: int) -> tuple[Vector, Matrix]:
    """Orders (n,) and the costs (..., n) of one record that bounds for several refute, in nats.

    bounds: lower bounds (..., n) of the divergence at orders (n,) between data sets `records`
    apart. With c the least whole number for which 2^c >= records: whoever has a cost e at order
    2^c b for one record has at most 3^c e at order b for 2^c of them, if 2^c b >= 2^(c + 1)
    (Mironov 2017, arXiv 1702.07476v3, Proposition 2). So a bound L at order b refutes any cost
    below L / 3^c at order 2^c b. The paper prints the number of records, m, in place of c: that
    holds too, since m <= 2^m, and is far weaker (one record: twice the order, a third of the cost).
    Raises ValueError for fewer records than one, and for an order below 2 where there are several.
    """
    at, share = group_share(orders, records)
    return at, np.asarray(bounds, dtype=np.float64) * share


def group_share(orders: ArrayLike, records: int) -> tuple[Vector, float]:
    """The orders (n,) at which one record is charged, and its share 1 / 3^c: see `per_record`."""
    steps = (_checked(records) - 1).bit_length()
    found = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if not (found >= least_order(records)).all():
        low = found[~(found >= least_order(records))][0]
        raise ValueError(f"order {low:g}: expected at least 2 for a group")
    return found * 2.0**steps, 1.0 / 3.0**steps


def least_order(records: int) -> float:
    """The least order of a group's cost for which group privacy says something."""
    return 2.0 if _checked(records) > 1 else 1.0


def per_record_if_gaussian(bounds: ArrayLike, records: int) -> Matrix:
    """Costs (...) of one record, at the same orders, that refute a claim of Gaussian noise.

    Of a Gaussian mechanism, m altered records move the mean m times as far, which costs m^2 as much
    at every order. The claim that is refuted is thus that of a Gaussian mechanism, such as
    order / sigma^2 of the votes, and no other. bounds: (...), for `records` altered. Raises
    ValueError for fewer records than one.
    """
    return np.asarray(bounds, dtype=np.float64) / float(_checked(records)) ** 2


def _checked(records: int) -> int:
    if records < 1:
        raise ValueError(f"records {records}: expected at least one")
    return records


_COSTS_AT_ONCE = 1 << 20


def theory(worlds: Worlds, orders: ArrayLike, size: int, rng: np.random.Generator) -> Matrix:
    """The analysis (2, n) that deployments of the mechanism use, at orders (n,), in nats.

    Data-dependent, but for Private-kNN, whose analysis by subsampling is data-independent.
    """
    if worlds.adjacency is Adjacency.ADD_REMOVE:
        return data_independent(worlds, orders)
    return data_dependent(worlds, orders, size, rng)


def data_independent(worlds: Worlds, orders: ArrayLike) -> Matrix:
    """Rényi cost (2, n) whatever the votes, the same in both directions; orders (n,).

    A Gaussian mechanism on two counts (Papernot et al. 2018, Proposition 8), under Poisson sampling
    for Private-kNN (Zhu et al. 2020, Theorem 6). Of m altered records each count moves by m at
    most, which costs m^2 as much; of samples the cost is also at most what group privacy makes of
    one record's (Mironov 2017, Proposition 2). Raises ValueError for other noise than Gaussian.
    """
    sigma, records = _sigma_of(worlds), worlds.records
    cost = gnmax_data_independent(sigma / records, orders)
    if isinstance(worlds, PrivateKnn):
        cost = np.minimum(cost, _of_samples(worlds, sigma, as_orders(orders)))
    return np.stack([cost, cost])


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
    analysis does not know which record was altered. Of several records the theorem starts from
    the data-independent cost of all. Raises ValueError for other noise than
    Gaussian, and for Private-kNN, whose neighbours the theorem does not have.
    """
    sigma, a = _sigma_of(worlds), as_orders(orders)
    if worlds.adjacency is not Adjacency.REPLACE_ONE:
        raise ValueError(
            f"data-dependent analysis between {worlds.adjacency.value} neighbours: expected "
            f"{Adjacency.REPLACE_ONE.value}; use data_independent"
        )
    if not (a > 1.0).all():
        raise ValueError(f"order {a[~(a > 1.0)][0]:g}: expected a number above 1")
    if size < 1:
        raise ValueError(f"size {size}: expected at least one sampled vote")
    parts: list[Matrix] = []
    step = max(1, _COSTS_AT_ONCE // max(a.size, worlds.classes))
    for start in range(0, size, step):
        votes = worlds.votes(min(step, size - start), rng)
        parts.append(np.stack([_log_sum(of_one, sigma, worlds.records, a) for of_one in votes]))
    return np.asarray((logsumexp(parts, axis=0) - np.log(size)) / (a - 1.0))


def _log_sum(votes: np.ndarray, sigma: float, records: int, orders: Matrix) -> Matrix:
    """Log of the sum over votes (size, c) of exp((a - 1) cost), at each order a."""
    histograms, times = np.unique(-np.sort(-votes, axis=-1), axis=0, return_counts=True)
    # the theorem takes any cost that the noise has whatever the votes: that of a group as well
    costs = gaussian_data_dependent(log_q_union(histograms, sigma), sigma / records, orders)
    return np.asarray(logsumexp((orders - 1.0) * costs, axis=0, b=times[:, None]))


def _of_samples(worlds: PrivateKnn, sigma: float, orders: Matrix) -> Matrix:
    """The cost (n,) of records of which each is drawn by chance, infinite where none is known."""
    sampling = worlds.inclusion if worlds.sampling is None else worlds.sampling
    known = orders >= least_order(worlds.records)
    found = np.full(orders.shape, np.inf)
    if known.any():
        at, share = group_share(orders[known], worlds.records)
        found[known] = knn_data_independent(sigma, sampling, at) / share
    return found


def _sigma_of(worlds: Worlds) -> float:
    """The scale of Gaussian noise. Raises ValueError for any other noise."""
    if not isinstance(worlds.noise, Gaussian):
        raise ValueError(f"noise {worlds.noise}: expected gaussian, which the analyses are of")
    return worlds.noise.scale
