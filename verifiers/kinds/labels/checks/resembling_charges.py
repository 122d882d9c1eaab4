"""Explains a charge that is too small by a known fraction or part of the published bound."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .....reference import Laplace
from .....reference.accounting.analyses import answer_data_independent
from .....reference.accounting.confident import threshold_data_independent
from .....reference.accounting.lnmax import lnmax_data_independent
from .....reference.accounting.pure import pure_data_independent
from ..mechanism import LabelsMechanism

_NEAR = 0.01  # largest relative difference at any order
_PUBLISHED = "the published data-independent bound"

Charges = NDArray[np.float64]


def resembled(claim: LabelsMechanism, orders: Charges, charges: Charges) -> str | None:
    """What charges (n,) at orders (n,) resemble, in words; None where nothing known is near."""
    for known, words in _known(claim, orders):
        if np.all(np.abs(charges - known) <= _NEAR * known):
            return words
    return None


def _known(claim: LabelsMechanism, orders: Charges) -> Iterator[tuple[Charges, str]]:
    """Known wrong charges (n,), each with its name."""
    scale = claim.noise.scale
    answer = answer_data_independent(claim.noise, orders)
    if isinstance(claim.noise, Laplace):
        answer = lnmax_data_independent(1.0 / scale, orders)
        yield (
            pure_data_independent(1.0 / scale, orders),
            "gamma for two gamma: as for one count, where a moved vote changes two",
        )
    published = answer
    if claim.threshold_noise is not None:
        screen = threshold_data_independent(claim.threshold_noise.scale, orders)
        published = answer + screen
        yield answer, "the published bound of an answer, without that of the screening"
        yield screen, "the published bound of the screening, without that of an answer"
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
            yield fraction * published, f"{words} {_PUBLISHED}"
    for order, bound in zip(orders, published, strict=True):
        yield np.full(orders.size, bound), f"{_PUBLISHED} of order {order:g}, at every order"
