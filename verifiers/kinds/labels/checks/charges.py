"""What is charged for a query, part by part, and which known wrong charges that resembles.

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

from .....reference import ConfidentGNMax, Histogram, Laplace
from .....reference.accounting.analyses import answer_data_independent, knn_data_independent
from .....reference.accounting.certified import enclosed_law, enclosed_screening
from .....reference.accounting.gnmax import threshold_data_independent
from .....reference.accounting.neighbourhood import MOVED_VOTE, ONE_MORE_OR_LESS, Neighbourhood
from .....reference.accounting.pure import lnmax_data_independent, pure_data_independent
from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import ClaimedMechanism
from ....findings.note import Note
from ....run.charged_orders import ChargedOrders
from ....targets import Charge, Target
from ..claim import Charges
from ..mechanism import LabelsMechanism

TOO_LOW = "charge-too-low"
"""The code of a charge that is less than the cost, where no more is known of it."""

_NEAR = 0.01  # largest relative difference, at any order, of a charge from one that is known
_PUBLISHED = "the published data-independent bound"
_FEWER = {
    ONE_MORE_OR_LESS: 'one vote more or less, as under adjacency = "add-remove"',
    MOVED_VOTE: "one moved vote, where a record moves several",
}
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
            mechanism.log_screening,
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


def resembled(claim: LabelsMechanism, part: ChargedPart) -> Note | None:
    """What the charge for a part resembles; None where nothing known is near."""
    costs, orders = part.charge.costs, part.charge.orders
    answer, screen = _published(claim, orders, claim.neighbourhood)
    bound = {"query": answer + screen, "screening": screen, "answer": answer}[part.of]
    for known, note in _known(claim, orders, answer, screen, bound):
        finite = np.isfinite(known)  # of some published bounds the computation fails at low orders
        near = np.abs(costs[finite] - known[finite]) <= _NEAR * known[finite]
        if near.all() and np.array_equal(costs[~finite], known[~finite]):
            return note
    return _less_beyond(part, bound)


def _less_beyond(part: ChargedPart, bound: Vector) -> Note | None:
    """A charge that is the published bound up to an order, and one share of it beyond."""
    share = part.charge.costs / bound
    whole = np.abs(share - 1.0) <= _NEAR
    last = int(np.argmin(whole)) - 1  # the last order before the first that is not charged in full
    if last < 0 or np.ptp(share[last + 1 :]) > _NEAR * share[-1]:
        return None
    order, beyond = float(part.charge.orders[last]), float(share[-1])
    message = f"{_PUBLISHED} up to order {order:g}, and {beyond:.3g} of it beyond"
    return Note("high-orders-undercharged", message, {"up_to_order": order, "fraction": beyond})


def _known(
    claim: LabelsMechanism, orders: Vector, answer: Vector, screen: Vector, published: Vector
) -> Iterator[tuple[Vector, Note]]:
    """Known wrong charges (n,), each with its name; published: of the part that is charged."""
    scale, near = claim.noise.scale / claim.heaviest, claim.neighbourhood
    if isinstance(claim.noise.unrounded, Laplace) and near == MOVED_VOTE:
        yield (
            pure_data_independent(1.0 / scale, orders),
            Note(
                "one-count-charged",
                "gamma for two gamma: as for one count, where a moved vote changes two",
            ),
        )
    if claim.refuses:
        message = "the published bound of an answer, without that of the screening"
        yield answer, Note("screening-not-charged", message)
        message = "the published bound of the screening, without that of an answer"
        yield screen, Note("answer-not-charged", message)
    for other, words in _FEWER.items():
        if other.l1 < near.l1:
            note = Note(
                "fewer-votes-charged", f"{_PUBLISHED} of {words}", {"counts_moved": other.l1}
            )
            yield np.add(*_published(claim, orders, other)), note
    if claim.sampled is not None:
        drawn = claim.sampled.amount
        share = drawn if claim.sampled.drawn is None else min(1.0, drawn / claim.teachers)
        yield (
            knn_data_independent(scale, share, orders),
            Note(
                "other-sampling-charged",
                "as for Poisson sampling between data of one record more or less",
            ),
        )
    if claim.heaviest > 1:
        light = claim.model_copy(update={"weights": None})
        note = Note("weights-not-charged", f"{_PUBLISHED} of a teacher of weight 1")
        yield np.add(*_published(light, orders, near)), note
    fractions = {
        "half of": 1 / 2,
        "a quarter of": 1 / 4,
        "1/scale^2 of": 1 / scale**2,
        "1/scale of": 1 / scale,
        "1/classes of": 1 / claim.classes,
        "1/teachers of": 1 / claim.teachers,
    }
    for words, fraction in fractions.items():
        if fraction < 1 - _NEAR:
            note = Note(TOO_LOW, f"{words} {_PUBLISHED}", {"fraction": fraction})
            yield fraction * published, note
    for order, bound in zip(orders.tolist(), published, strict=True):
        message = f"{_PUBLISHED} of order {order:g}, at every order"
        yield np.full(orders.size, bound), Note("one-order-charged", message, {"charged": order})


def _published(
    claim: LabelsMechanism, orders: Vector, neighbourhood: Neighbourhood
) -> tuple[Vector, Vector]:
    """Published bounds (n,) of an answer, of Laplace noise not the best known, and of a screen.

    Of the heaviest teacher, whose votes are one vote where noise is measured in them.
    """
    noise = claim.noise.times(1.0 / claim.heaviest)
    if isinstance(noise, Laplace):
        answer = lnmax_data_independent(1.0 / noise.scale, orders, neighbourhood)
    else:
        answer = answer_data_independent(noise, orders, neighbourhood)
    if claim.threshold_noise is None:
        return answer, np.zeros_like(answer)
    scale = claim.threshold_noise.scale / claim.heaviest
    return answer, threshold_data_independent(scale, orders, neighbourhood)
