"""What is verified where no target is given: a correct noisy histogram of bundled data."""

import tomllib

import numpy as np
from numpy.typing import NDArray

from ....reference.numbers import Releases, sample
from ...targets import InProcessTarget
from .claim import NumbersClaim, parse_numbers_claim

_CLAIM = """
[mechanism]
name = "noisy-histogram"
noise = "discrete-laplace:1"
adjacency = "add-remove"
cells = 10

[privacy]
epsilon = 1.0
delta = 1e-9
queries = 1
"""


def embedded_numbers_claim() -> NumbersClaim:
    """How often each digit occurs in a data set, under epsilon 1 for one record more or less."""
    return parse_numbers_claim(tomllib.loads(_CLAIM))


def reference_target(claim: NumbersClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism, with secure noise."""
    aggregation = claim.mechanism.aggregation

    def aggregate(values: NDArray[np.generic], size: int) -> Releases:
        return sample(aggregation, values, size)

    return InProcessTarget(aggregate, again=lambda: aggregate, release=claim.release)
