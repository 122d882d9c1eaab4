"""What published analyses charge for the query that two worlds are asked."""

import numpy as np
from numpy.typing import ArrayLike

from ...reference.accounting.adjacency import Adjacency
from ...reference.accounting.gnmax import gnmax_data_independent
from ...reference.accounting.knn import knn_data_independent
from ...reference.arrays import Matrix
from .knn_model import PrivateKnn
from .worlds import Worlds, data_dependent, sigma_of


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
    for Private-kNN (Zhu et al. 2020, Theorem 6). Raises ValueError for other noise than Gaussian.
    """
    sigma = sigma_of(worlds)
    if isinstance(worlds, PrivateKnn):
        sampling = worlds.inclusion if worlds.sampling is None else worlds.sampling
        cost = knn_data_independent(sigma, sampling, orders)
    else:
        cost = gnmax_data_independent(sigma, orders)
    return np.stack([cost, cost])
