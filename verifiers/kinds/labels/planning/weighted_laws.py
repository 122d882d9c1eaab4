"""Faults of aggregators that weigh their teachers otherwise than claimed."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from ....findings.note import Note
from ..claim import LabelsClaim
from ..weighted import each_weight
from .faults import Fault
from .laws import Law, mechanism_law

_WEIGHT = 3.0  # of each wager, as those on single teachers

Weights = NDArray[np.float64]


def faults_of_weights(claim: LabelsClaim) -> list[Fault]:
    """Ways to get the claimed weights wrong; none where no weights are claimed."""
    weights = claim.mechanism.weights
    if weights is None:
        return []
    right = each_weight(weights).astype(np.float64)
    mean = float(right.mean())
    swapped = np.repeat([float(w) for _, w in weights[::-1]], [n for n, _ in weights])
    turned = each_weight(weights[::-1]).astype(np.float64)
    ways = {
        "left out": ("weights left out: each teacher's vote counted once", np.ones(right.size)),
        "squared": ("weights applied twice", right**2),
        "over their mean": (
            "weights divided by their mean, so that they sum to the teachers",
            right / mean,
        ),
        "over their sum": (
            "weights divided by their sum, so that they sum to 1",
            right / right.sum(),
        ),
        "groups reversed": ("weights of the groups in the reverse order", swapped),
        "teachers reversed": ("weights given to the teachers in the reverse order", turned),
        "inverse": ("the inverse of the weights", 1.0 / right),
    }
    return [
        Fault(Note("weights-differ", words, {"weights": how}), _weighing(claim, other), _WEIGHT)
        for how, (words, other) in ways.items()
        if not np.array_equal(other, right)
    ]


def _weighing(claim: LabelsClaim, weight: Weights) -> Law:
    """The law where the teachers have these weights (teachers,)."""
    right = mechanism_law(claim.mechanism.mechanism())
    votes = _votes_of(claim)

    def law(histograms: Matrix) -> Matrix:
        found = np.zeros_like(histograms)
        for row, histogram in zip(found, histograms.astype(np.int64), strict=True):
            np.add.at(row, votes(tuple(histogram.tolist())), weight)
        return right(found)

    return law


def _votes_of(claim: LabelsClaim) -> Callable[[tuple[int, ...]], NDArray[np.int64]]:
    """From the weighted votes of an input to the class of each teacher (teachers,)."""
    assert claim.inputs is not None
    asked = claim.inputs.asked
    return lambda key: np.array(asked[key].votes, dtype=np.int64)
