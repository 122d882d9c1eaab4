"""A Python target whose noise is frozen: runs of it that share their draws."""

import pickle
import subprocess
import sys
from multiprocessing import Pipe
from typing import Any, Self

from ..targets.replies import NoReplyError
from .ran import Asked, Ran
from .tape import Draw

_START_SECONDS = 120.0  # each run loads the deployment anew


class FrozenTarget:
    """Runs a target in forks of a process of its own; a context manager that ends it.

    spec: a Python spec; release: how inputs and releases travel; timeout: seconds of a call;
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
            asked = Asked(values, self._release, recorded, traced, self.runs, self._refuses)
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
