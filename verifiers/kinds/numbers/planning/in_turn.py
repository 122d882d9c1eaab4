"""An input that differs from the typical one in one number, which are asked in turn.

Deployments that keep noise until a number changes give the others again.
"""

from typing import Any

import numpy as np

from .....reference.arrays import Matrix
from .asked import Asked
from .bounds import Bounds
from .plan import NumbersPlan

TURNS = 30
"""Calls for one release, of the typical input and of the other one by turns."""

_WORDS = "typical but for one number"


def turns(claim: Any, plan: NumbersPlan) -> int:
    """How many calls a run asks in turn: none in a run of few, nor where one number is released."""
    takes = getattr(claim.mechanism, "takes", None)
    fits = takes in ("counts", "records", "tensors") and claim.mechanism.width > 1
    return TURNS if fits and plan.share == 1.0 else 0


def changed_in_one(claim: Any, asked: Asked) -> Asked:
    """The input with one number changed, within the bounds: the first count, or of one record."""
    mechanism = claim.mechanism
    if mechanism.takes == "counts":
        values: Any = np.array(asked.values)
        values[0] += 1
    elif mechanism.takes == "records":
        values = _nearer(np.array(asked.values), Bounds.of(mechanism))
    else:
        first, *others = asked.values
        flat = np.array(first).reshape(len(first), -1)
        values = [_nearer(flat, Bounds.of(mechanism)).reshape(np.shape(first)), *others]
    return Asked.of(mechanism.release, values, mechanism.aggregation.exact(values), _WORDS)


def _nearer(records: Matrix, bounds: Bounds) -> Matrix:
    """The records, of which the first number of the first lies nearer to 0, or at another end."""
    number = records[0, 0]
    moved = 0.5 * (number + bounds.nearest)
    moved = np.trunc(moved) if bounds.whole else moved
    records[0, 0] = moved if moved != number else bounds.end(-1.0 if number > 0.0 else 1.0)
    if bounds.order is not None and moved == number:
        records[0, 0] = number  # an end of a norm lies beyond it for records that have more
    return records
