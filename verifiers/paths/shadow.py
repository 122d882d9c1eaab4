"""A copy of a Python target in a process of its own, whose decisions are counted."""

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing import Pipe
from time import monotonic
from typing import Any, Self

from ..targets.replies import one_line
from .asked import CallSeen, Loaded, Rehearsal
from .decision import Decision
from .left_out import LeftOut
from .scratch import Scratch

_LOADING = 20.0  # seconds that an import may take
_RUN = 30.0  # seconds of the calls of one run
_LOOK = 0.2  # seconds between two looks at whether the run is over
_LONGEST = 180.0  # seconds of all runs: beyond, nothing at all is steered, so that nothing found
# depends on how fast a machine is


class Shadow:
    """Runs calls on the copy; a context manager that ends it. Raises LeftOut with the reason.

    spec: of a Python target; release: how inputs travel; secrets: names of environment variables
    that it is not given; refuses: whether a label may be a refusal, None where no labels are
    released; stopped: whether nobody waits for it any more.
    """

    def __init__(
        self,
        spec: str,
        release: Any,
        secrets: Sequence[str] = (),
        *,
        refuses: bool | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._release, self._refuses, self._is_over = release, refuses, stopped
        self._scratch = Scratch(spec, secrets).__enter__()
        self._connection, theirs = Pipe()
        self._record, record = os.pipe()
        self.executions, self.trouble, self._began = 0, "", monotonic()
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    f"{__package__}.child",
                    str(theirs.fileno()),
                    str(record),
                    str(self._scratch.folder),
                    self._scratch.spec,
                ],
                pass_fds=[theirs.fileno(), record],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self._scratch.cwd,
                env=self._scratch.environment,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(record)
        try:
            loaded = self._received(_LOADING)
            assert isinstance(loaded, Loaded)
            if loaded.why is not None:
                raise LeftOut(self._as_written(loaded.why))
        except BaseException:
            self.close()
            raise
        self.layers = loaded.layers
        self.decisions: tuple[Decision, ...] = loaded.decisions
        self.constants, self.shares = loaded.constants, loaded.shares
        self.hints = loaded.hints

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _as_written(self, why: str) -> str:
        """Why the copy could not be loaded, in terms of what was copied."""
        told = why.replace(f"{self._scratch.copied_to}{os.sep}", "")
        withheld = [name for name in self._scratch.withheld if name in told]
        if withheld:
            told += f"; {withheld[0]} is not passed to the copy, as it looks like a secret"
        return told

    def redact(self) -> None:
        """Forgets the source of the decisions, so that no report can show it."""
        self.decisions = tuple(replace(each, text="") for each in self.decisions)

    def close(self) -> None:
        """Ends the process, and removes its folder."""
        self._connection.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # and what the target started
        self._process.wait()
        os.close(self._record)
        self._scratch.__exit__(None, None, None)

    def run(self, calls: Sequence[tuple[Any, int]], noise: int) -> list[CallSeen]:
        """What each of some calls takes; one list where all run, fewer where one ends the process.

        noise: seeds the generators that the target holds. Raises LeftOut where the copy did what is
        forbidden, or takes too long.
        """
        if monotonic() - self._began > _LONGEST:
            raise LeftOut(f"its copy takes longer than {_LONGEST:g} s for some thousand calls")
        self.executions += len(calls)
        self._connection.send(Rehearsal(tuple(calls), self._release, noise, _RUN, self._refuses))
        found = self._received(2.0 * _RUN)
        self.trouble = "" if isinstance(found, list) else one_line(str(found))
        return found if isinstance(found, list) else []

    def _received(self, seconds: float) -> Any:
        try:
            until = monotonic() + seconds
            while not self._connection.poll(_LOOK):
                if self._is_over():
                    raise LeftOut("the run was over before the search")
                if monotonic() > until:
                    raise LeftOut(f"its copy gave no answer within {seconds:g} s")
            found = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise LeftOut(self._stopped() or "its copy ended") from None
        stopped = self._stopped()
        if stopped is not None:
            raise LeftOut(stopped)
        return found

    def _stopped(self) -> str | None:
        """What the copy did that is forbidden, from its record; None where it did nothing."""
        os.set_blocking(self._record, False)
        try:
            line = os.read(self._record, 1 << 12).split(b"\n")[0]
            told = json.loads(line)
        except (BlockingIOError, ValueError):
            return None
        return one_line(
            f"its copy was ended at {told['event']} {told['what']}, as it may change nothing "
            "outside its own folder"
        )
