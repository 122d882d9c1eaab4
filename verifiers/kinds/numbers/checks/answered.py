"""What a target answers to altered inputs: releases, of which a part is judged, or refusals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....findings.note import Note
from ....text import counted
from ..evidence.moved import MovedTooFar


@dataclass(frozen=True)
class Answered:
    """Releases of an altered input.

    numbers (n, k): those that are looked at. along (n, 2): the projection of all numbers on the
    direction of the record, and that of their sizes on its sizes, which bounds what floats lose.
    """

    numbers: Matrix
    along: Matrix | None


@dataclass(frozen=True)
class Seen:
    """Numbers released (n, k) at coordinates (k,), beside the exact ones (k,) of the neighbour.

    lost (k,): how far floats may carry a sum; half (n, k): half the width of what rounds to each.
    """

    coordinates: NDArray[np.int64]
    released: Matrix
    exact: Vector
    lost: Vector
    half: Matrix

    def wagers(self, noise: NumberNoise, allowed: float) -> MovedTooFar:
        """Evidence of moves beyond what is allowed."""
        evidence = MovedTooFar(noise, self.exact.size)
        evidence.observe(self.released, self.exact, allowed + self.lost, self.half)
        return evidence


def _others(count: int) -> str:
    inputs = counted(count, "other input", "other inputs")
    return f" and {inputs} like it" if count else ""


def said_of(refused: list[tuple[str, Note]]) -> tuple[Note, ...]:
    """Warnings of altered inputs, by name, one for each thing that the target said of them."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, why in refused:
        names.setdefault((why.code, why.message), []).append(name)
    return tuple(
        Note(
            code,
            f"{each[0]}{_others(len(each) - 1)} {'are' if len(each) > 1 else 'is'} refused: {why}",
            {"inputs": len(each)},
        )
        for (code, why), each in names.items()
    )
