"""The accountant: costs of many histograms at many orders at once, and one by one."""

from collections.abc import Iterator

import numpy as np

from dpassay.reference import ConfidentGNMax, Gaussian, digit_histograms
from dpassay.reference.accounting.confident import confident_cost

from .timing import in_turn

Row = tuple[str, str, str, str]

HISTOGRAMS, ALONE = 10_000, 200
ORDERS = np.geomspace(1.1, 500.0, 100)


def rows() -> Iterator[Row]:
    votes = np.resize(digit_histograms(), (HISTOGRAMS, 10))
    mechanism = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))
    together, alone = in_turn(
        lambda: confident_cost(votes, mechanism, ORDERS),
        lambda: [confident_cost(row, mechanism, ORDERS) for row in votes[:ALONE]],
        rounds=3,
    )
    each, one = together / HISTOGRAMS, alone / ALONE
    yield (
        f"data-dependent costs, {HISTOGRAMS:,} histograms x {ORDERS.size} orders",
        f"{HISTOGRAMS * ORDERS.size / together:,.0f} costs/s",
        f"a loop over histograms: {ORDERS.size / one:,.0f} costs/s",
        f"{one / each:.1f}",
    )
