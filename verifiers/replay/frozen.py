"""A Python target whose noise is frozen: runs of it that share their draws, and what they give."""

import pickle
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Any, Self

import numpy as np

from ...reference.arrays import Vector
from ..targets.replies import NoReplyError, TargetError
from .steps import LineTrace
from .tape import Draw, Parting


class NoReleaseError(TargetError):
    """A run that raised, ended its process, or released something of another form."""


@dataclass(frozen=True)
class Ran:
    """One run: the release, a row of numbers; what was drawn, and where it parted from the tape."""

    released: Any
    draws: tuple[Draw, ...]
    partings: tuple[Parting, ...]
    steps: LineTrace
    modules: tuple[str, ...]

    @property
    def row(self) -> Vector:
        """The numbers released (d,), or the label (1,)."""
        return np.asarray(self.released, dtype=np.float64).reshape(-1)


@dataclass(frozen=True)
class FrozenCall:
    """What to run: an input in its Python form, and its `Release`; see `Tape` and `LineTrace`.

    turn: from 1, seeds what has no seed of its own where nothing is recorded; refuses: whether a
    label may be a refusal, None where numbers are released.
    """

    values: Any
    release: Any
    recorded: tuple[Draw, ...] | None
    traced: bool
    turn: int
    refuses: bool | None


_START_SECONDS = 120.0  # each run loads the deployment anew


class FrozenTarget:
    """Runs a target in forks of a process of its own; a context manager that ends it.

    Args:
        spec: a Python spec.
        release: how inputs and releases travel.
        timeout: seconds of a call.
        refuses: whether a label may be a refusal, None where numbers are released.
    """

    def __init__(
        self, spec: str, release: Any, timeout: float, *, refuses: bool | None = None
    ) -> None:
        self.spec, self._release, self._seconds = spec, release, timeout + _START_SECONDS
        self._refuses = refuses
        self._connection, theirs = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.child", str(theirs.fileno()), spec],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self.runs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def run(
        self, values: Any, recorded: tuple[Draw, ...] | None = None, *, traced: bool = False
    ) -> Ran:
        """One release of an input, with draws of its own, or the recorded ones.

        traced: follows the lines of the target, which takes longer. Raises Refused or
        NoReleaseError for what the input ends in, TargetError for what says nothing of the input.
        """
        self.runs += 1
        try:
            asked = FrozenCall(values, self._release, recorded, traced, self.runs, self._refuses)
            self._connection.send(asked)
            if not self._connection.poll(self._seconds):
                raise NoReplyError(f"{self.spec} gave no answer within {self._seconds:g} s")
            found = pickle.loads(self._connection.recv_bytes())
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise NoReplyError(f"{self.spec}: its process ended") from None
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Ran)
        return found
