"""Steps from one input to another, a record at a time: of counts, records and tensors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....run.refusals import Steps
from ..mechanism import NumberMechanism


def steps_between(mechanism: NumberMechanism, refused: Any, answered: Any) -> Steps | None:
    """Neighbours from a refused input to an answered one, or one of its size under replace-one.

    None where no such steps lead anywhere: under replace-one, where no record can be another.
    """
    replaces = mechanism.replaces
    if mechanism.takes in ("counts", "keys"):
        return _moved(refused, answered) if replaces else _counted(refused, answered)
    if isinstance(refused, list):  # of tensors, each record has a part in every one
        each = [_of_records(*pair, replaces) for pair in zip(refused, answered, strict=True)]
        length = each[0].length
        return Steps(length, lambda step: [one.at(step) for one in each]) if length else None
    found = _of_records(refused, answered, replaces)
    return found if found.length else None


def _of_records(refused: NDArray[Any], answered: NDArray[Any], replaces: bool) -> Steps:
    """Records replaced one by one; else all of them removed one by one, and the others added."""
    size = len(refused)
    if replaces:
        other = answered[np.arange(size) % len(answered)]
        return Steps(size, lambda step: np.concatenate([other[:step], refused[step:]]))

    def at(step: int) -> NDArray[Any]:
        return refused[: size - step] if step < size else answered[: step - size]

    return Steps(size + len(answered), at)


def _counted(refused: NDArray[Any], answered: NDArray[Any]) -> Steps:
    """Records removed from cells that have too many, or added where there are too few."""
    apart = answered - refused
    ends = np.cumsum(np.abs(apart))

    def at(step: int) -> NDArray[Any]:
        done = np.clip(step - (ends - np.abs(apart)), 0, np.abs(apart))
        return np.asarray(refused + np.sign(apart) * done)

    return Steps(int(ends[-1]), at)


def _moved(refused: NDArray[Any], answered: NDArray[Any]) -> Steps | None:
    """Records moved one by one, to cells as in the answered counts or, of another total, even."""
    cells, total = refused.size, int(refused.sum())
    if total != int(answered.sum()):
        answered = total // cells + (np.arange(cells) < total % cells)
    less = _counted(refused, np.minimum(refused, answered))
    more = _counted(np.minimum(refused, answered), answered)

    def at(step: int) -> NDArray[Any]:
        return np.asarray(less.at(step) + more.at(step) - more.at(0))

    return Steps(less.length, at) if less.length else None
