"""The claimed labels, and costs between other neighbours than the claim's; and correct relatives.

Neighbours differ by a vote that moves (replace-one of a teacher), by a teacher more or less
(add-remove), or by the votes of the several teachers that a record is behind.
"""

from typing import Any

import numpy as np

from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    NoisyArgmax,
)

from .claims import ACCOUNTED, LITTLE_LAPLACE, METERED, SHARP_THRESHOLD
from .deployments import Accounted, Charge, Metered, metered
from .entry import Shelf

SIGMA, SCALE = 10.0, 2.0
gnmax = NoisyArgmax(Gaussian(SIGMA))
sharp = ConfidentGNMax(Gaussian(100), 150.0, Gaussian(20))


def among(claim: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """The claim with other neighbours, or another mechanism."""
    return claim | {"mechanism": claim["mechanism"] | keys}


ADD_REMOVE = {"adjacency": "add-remove"}
OF_THREE = {"unit": "record", "max_teachers": 3}
LITTLE_GUMBEL = among(LITTLE_LAPLACE, name="report-noisy-max", noise="gumbel:2")
TEXTBOOK = among(LITTLE_GUMBEL, noise="exponential:2") | {
    "privacy": {"epsilon": 5.0, "delta": 1e-6, "queries": 10}
}
"""Ten answers at epsilon 1/2 each, which report-noisy-max costs under add-remove."""

shelf = Shelf("neighbours", ("accountant-soundness",), ACCOUNTED)
correct = Shelf("none", (), among(ACCOUNTED, **ADD_REMOVE))


def charges(
    on: Shelf, name: str, effect: str, charge: Charge, mechanism: Any = gnmax, **more: Any
) -> None:
    """Shelves the mechanism with `charge(histogram, orders)` as its accountant."""
    on.makes(name, effect, **more)(lambda seed: Accounted(mechanism, charge, seed))


def pure(epsilon: float) -> Charge:
    """Charges of an epsilon-private answer."""
    return lambda histogram, orders: np.minimum(epsilon, orders * epsilon**2 / 2)


def divergence(p: np.ndarray, q: np.ndarray, orders: np.ndarray) -> Any:
    """Rényi divergences (n,) between two log-laws (o,)."""
    powers = np.outer(orders, p) + np.outer(1 - orders, q)
    return np.logaddexp.reduce(powers, 1) / (orders - 1)


def against(*more: int) -> Charge:
    """The exact cost of an answer against votes with so many more (or fewer) in one class."""

    def charge(histogram: np.ndarray, orders: np.ndarray) -> Any:
        others = histogram + np.concatenate([n * np.eye(histogram.size, dtype=int) for n in more])
        here, *there = (
            gnmax.log_probabilities(votes.astype(float))
            for votes in [histogram, *others[others.min(1) >= 0]]
        )
        return np.max([np.zeros(orders.size), *(divergence(here, q, orders) for q in there)], 0)

    return charge


# -- broken --------------------------------------------------------------------------------------

charges(
    shelf,
    "one-more-or-less-for-moved-votes",
    "Gumbel noise of scale 2 charged 1/2, for one vote more or less, where a moved vote costs 1.",
    pure(1 / SCALE),
    NoisyArgmax(Gumbel(SCALE)),
    claim=LITTLE_GUMBEL,
)
charges(
    shelf,
    "half-of-one-more-or-less",
    "The cost of a teacher more or less is halved once more, as if it were that of a moved vote.",
    lambda histogram, orders: orders / (4 * SIGMA**2),
    claim=among(ACCOUNTED, **ADD_REMOVE),
)
charges(
    shelf,
    "screening-halved-too",
    "Of a teacher more or less the screening is charged half: it costs what a moved vote does.",
    lambda histogram, orders: orders / 2 * (1 / 100**2 + 1 / (2 * 20**2)),
    sharp,
    claim=among(SHARP_THRESHOLD, **ADD_REMOVE),
)
charges(
    shelf,
    "total-never-grows",
    "The exact cost of a teacher less; that one may be added is forgotten.",
    against(-1),
    claim=among(ACCOUNTED, **ADD_REMOVE),
)
charges(
    shelf,
    "record-of-three-as-of-one",
    "A record is behind three teachers, and an answer is charged as where it is behind one.",
    lambda histogram, orders: orders / SIGMA**2,
    claim=among(ACCOUNTED, **OF_THREE),
)


@shelf.makes(
    "textbook-of-moved-votes",
    "Report-noisy-max at 1/scale an answer, the cost of a teacher more or less, claimed for moves.",
    claim=TEXTBOOK,
    checks=("privacy-claim",),
)
def textbook_of_moved_votes(seed: int) -> Any:
    return Textbook(seed)


@shelf.makes(
    "record-of-three-metered-as-one",
    "A budget for records behind three teachers each is spent as if they were behind one.",
    claim=among(METERED, **OF_THREE),
    checks=("budget-enforcement",),
)
def record_of_three_metered_as_one(seed: int) -> Any:
    return metered(seed)


# -- correct -------------------------------------------------------------------------------------


class Textbook(Metered):
    """Report-noisy-max with exponential noise of scale 2: 1/2 an answer, ten of them.

    The budget runs from the first look at the account, as that of `Metered` does.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed, budget=5.0)
        self.mechanism = NoisyArgmax(Exponential(SCALE))

    def epsilon(self, queries: Any, delta: float = 1e-6) -> float:
        return float(queries / SCALE)

    def rdp(self, histogram: np.ndarray, orders: np.ndarray) -> Any:
        return pure(1 / SCALE)(histogram, np.asarray(orders))


correct.makes(
    "textbook-noisy-max",
    "Report-noisy-max at 1/scale an answer, which a teacher more or less costs.",
    claim=among(TEXTBOOK, **ADD_REMOVE),
)(Textbook)
charges(
    correct,
    "one-more-or-less",
    "GNMax charged order / (2 sigma^2), the cost of a teacher more or less.",
    lambda histogram, orders: orders / (2 * SIGMA**2),
)
charges(
    correct,
    "exact-one-more-or-less",
    "The exact cost of these votes against a teacher more or less.",
    against(-1, 1),
)
charges(
    correct,
    "screening-in-full",
    "Of a teacher more or less the answer is charged half, and the screening in full.",
    lambda histogram, orders: orders / 2 * (1 / 100**2 + 1 / 20**2),
    sharp,
    claim=among(SHARP_THRESHOLD, **ADD_REMOVE),
)
charges(
    correct,
    "record-of-three",
    "An answer is charged nine times as of one teacher, as three votes move.",
    lambda histogram, orders: 9 * orders / SIGMA**2,
    claim=among(ACCOUNTED, **OF_THREE),
)


@correct.makes(
    "metered-one-more-or-less",
    "A budget of epsilon 2.65 against a teacher more or less gives twice as many answers.",
    claim=among(METERED, **ADD_REMOVE) | {"privacy": METERED["privacy"] | {"queries": 574}},
)
def metered_one_more_or_less(seed: int) -> Any:
    return metered(seed, charged=0.5)


@correct.makes(
    "metered-record-of-three",
    "A budget for records behind three teachers each: an answer costs nine times as much.",
    claim=among(METERED, **OF_THREE) | {"privacy": METERED["privacy"] | {"queries": 31}},
)
def metered_record_of_three(seed: int) -> Any:
    return metered(seed, charged=9.0)
