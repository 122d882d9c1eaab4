"""What travels between a frozen target and its process: an input there, a run back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...reference.arrays import Vector
from ..targets.replies import TargetError
from .steps import Steps
from .tape import Draw, Parting


class NoReleaseError(TargetError):
    """A run that raised, ended its process, or released something of another form."""


@dataclass(frozen=True)
class Ran:
    """One run: the release, a row of numbers; what was drawn, and where it parted from the tape."""

    released: Any
    draws: tuple[Draw, ...]
    partings: tuple[Parting, ...]
    steps: Steps
    modules: tuple[str, ...]

    @property
    def row(self) -> Vector:
        """The numbers released (d,), or the label (1,)."""
        return np.asarray(self.released, dtype=np.float64).reshape(-1)


@dataclass(frozen=True)
class Asked:
    """What to run: an input in its Python form, and its `Release`; see `Tape` and `Steps`.

    turn: from 1, seeds what has no seed of its own where nothing is recorded; refuses: whether a
    label may be a refusal, None where numbers are released.
    """

    values: Any
    release: Any
    recorded: tuple[Draw, ...] | None
    traced: bool
    turn: int
    refuses: bool | None
