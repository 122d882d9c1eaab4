"""Private-kNN: teachers are the neighbours found in a random sample of the records."""

import numpy as np
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from numpy.typing import ArrayLike

from ..arrays import Matrix
from .gnmax import as_orders


def knn_data_independent(sigma: float, sampling: float, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of one query, records drawn with probability `sampling`, orders (n,).

    sigma: of the noise on each count; neighbours: data sets with one record more or less, unlike
    those of every other cost here. Where k records vote, one more among them displaces the k-th, so
    that two counts change by one each, sqrt(2) in all: a Gaussian mechanism under Poisson sampling
    (Zhu et al. 2020, Private-kNN, Theorem 6), computed by `dp-accounting`; order / sigma^2 where
    all records are drawn. Raises ValueError for a probability outside (0, 1].
    """
    if not 0 < sampling <= 1:
        raise ValueError(f"sampling {sampling:g}: expected a probability above 0")
    a = as_orders(orders)
    accountant = RdpAccountant(a.tolist())
    accountant.compose(PoissonSampledDpEvent(sampling, GaussianDpEvent(sigma / np.sqrt(2.0))))
    return np.asarray(accountant.rdp, dtype=np.float64)
