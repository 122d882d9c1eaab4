"""What a charge for a query must cover: the query as a whole, or its screening and its answer.

Under `charges = "realised"` a query of Confident-GNMax is two mechanisms in turn: the screening,
and the answer where the screening passes, whose noise is another. A refusal pays for the first, an
answer for both, and each must be paid for: for every order and neighbour, with P and Q the laws of
the outcome, E_Q[(P/Q)^order exp(-(order - 1) charge)] <= 1 then, so that what is released within a
budget of realised charges costs no more (docs/explanation/realised-charges.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from flint import arb

from .....reference import ConfidentGNMax, Histogram
from .....reference.accounting.certified import enclosed_law, enclosed_screening
from .....reference.accounting.confident import log_screening
from .....reference.arrays import Matrix
from .....reference.mechanisms import ClaimedMechanism
from ....run.charged_orders import ChargedOrders
from ....targets import Charge, Target
from ..accountant_claim import Charges

_STEPS = np.arange(-4.0, 4.5, 0.5)
"""Distances of the largest count from the threshold at which the screening is charged, over its
noise: its costliest histograms, at one order or another, are among them."""


PartName = Literal["query", "screening", "answer"]


@dataclass(frozen=True)
class ChargedPart:
    """A part of a query, by its law, with what is charged for it.

    of: what it is; log_law: log-probabilities (k, o) of its outcomes for histograms
    (k, c); enclosed: balls around the probabilities of the same outcomes for one histogram.
    """

    of: PartName
    log_law: Callable[[Any], Matrix]
    enclosed: Callable[[Sequence[int]], list[arb]]
    charge: Charge

    @property
    def words(self) -> str:
        """What is charged for it, as messages say."""
        return _WORDS[self.of]

    @property
    def ending(self) -> str:
        """What it is, at the end of a cause; nothing for a query as a whole."""
        return "" if self.of == "query" else f" for the {self.of}"


_WORDS: dict[PartName, str] = {
    "query": "",
    "screening": " to a refusal, which pays for the screening,",
    "answer": " more to an answer than to a refusal, which pays for the answer,",
}


def charged_parts(
    mechanism: ClaimedMechanism,
    charges: Charges | None,
    orders: ChargedOrders,
    target: Target,
    votes: Histogram,
) -> list[ChargedPart]:
    """Asks what is charged for a query of a histogram (c,), for each part by itself.

    Raises as `ChargedOrders.charge`.
    """
    if charges != "realised" or not isinstance(mechanism, ConfidentGNMax):
        enclosed = partial(enclosed_law, mechanism=mechanism)
        charge = orders.charge(target, votes)
        return [ChargedPart("query", mechanism.log_probabilities, enclosed, charge)]
    refused = orders.charge(target, votes, answered=False)
    answered = orders.charge(target, votes, answered=True)
    answer = mechanism.answering
    return [
        ChargedPart(
            "screening",
            partial(log_screening, mechanism=mechanism),
            partial(enclosed_screening, mechanism=mechanism),
            refused,
        ),
        ChargedPart(
            "answer",
            answer.log_probabilities,
            partial(enclosed_law, mechanism=answer),
            _difference(answered, refused),
        ),
    ]


def _difference(answered: Charge, refused: Charge) -> Charge:
    """What the answer is charged, at the orders of both, and no less for all rounding."""
    orders, here, there = np.intersect1d(answered.orders, refused.orders, return_indices=True)
    whole = answered.costs[here]
    rounding = 4.0 * np.finfo(np.float64).eps * whole
    return Charge(orders, np.maximum(whole - refused.costs[there] + rounding, 0.0))


def near_threshold(mechanism: ConfidentGNMax, classes: int, teachers: int) -> Iterator[Histogram]:
    """Histograms (c,) of all teachers whose largest count is near the threshold, or below, above.

    The other votes are spread evenly, so that the largest count is that of one class where it can.
    """
    least = -(-teachers // classes)
    counts = mechanism.threshold + _STEPS * mechanism.threshold_noise.scale
    for most in np.unique(np.clip(counts.round(), least, teachers).astype(np.int64)).tolist():
        left, others = teachers - most, classes - 1
        yield np.array([most, *((left + k) // others for k in range(others))], dtype=np.int64)
