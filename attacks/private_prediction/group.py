"""Group privacy: what a bound for several altered records says of one (Chadha et al., appendix D).

An adversary who alters m records proves D_b(A(S) || A(S')) >= L for data sets m records apart. That
refutes every claim for one record from which group privacy would follow a smaller divergence.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...reference.arrays import Matrix, Vector


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
