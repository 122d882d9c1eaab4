"""A target in one child process for the whole run, spoken to in JSON Lines."""

import contextlib
import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from ...reference import Histogram
from ...reference.clock import check_clock, seconds_left
from .json_target import JsonTarget
from .labels import LABELS
from .numbers import NumberRelease
from .release import Release
from .replies import (
    REPLY_BYTES,
    CallError,
    NoReplyError,
    NotOffered,
    TargetError,
    one_line,
    parse_reply,
    shown_bytes,
)
from .restart_command import RestartCommand, first_of_a_namespace, last_line

_START_SECONDS = 120.0  # importing a deployment may load its models
_END_SECONDS = 10.0  # that a process may take to end by itself, and its tools to write
_A_LOOK = 0.02
_DEATH_SECONDS = 2.0  # that a process may take to end after its output has
_ANOTHER_ID = "its process id was another one, so a seed made of it would not show"


class ProcessTarget(JsonTarget):
    """A child process that is sent one request at a time, each with a deadline.

    Raises TargetError when the child cannot be started.

    Args:
        command: the child's argument list.
        timeout: seconds per call.
        loads: the Python spec to load, where the child is our own worker.
        restart: the command that restarts what the child is a client of.
        release: what it releases.
    """

    def __init__(
        self,
        command: Sequence[str],
        timeout: float,
        loads: str | None = None,
        restart: RestartCommand | None = None,
        release: Release = LABELS,
    ) -> None:
        super().__init__(timeout, restart, release)
        self._words, self._loads = list(command), loads
        self._patience = 0.0
        self._start()

    @classmethod
    def python(
        cls,
        spec: str,
        timeout: float,
        restart: RestartCommand | None = None,
        release: Release = LABELS,
    ) -> "ProcessTarget":
        """A Python target in a fresh interpreter. Raises TargetError when it cannot be loaded."""
        worker = [sys.executable, "-m", "dpassay.verifiers.targets.worker", spec]
        if isinstance(release, NumberRelease):
            worker.append(release.word)
        return cls(worker, timeout, loads=spec, restart=restart, release=release)

    @property
    def python_spec(self) -> str | None:
        """The spec that our worker loads, None for any other program."""
        return self._loads

    @property
    def is_our_worker(self) -> bool:
        """A Python target is loaded by our worker."""
        return self._loads is not None

    def asked(self, histogram: Histogram, size: int) -> dict[str, Any]:
        """Our own worker is told the dtype of an input too."""
        request, release = super().asked(histogram, size), self._release
        if self.is_our_worker and isinstance(release, NumberRelease):
            request |= release.typed(histogram)
        return request

    @property
    def no_restart(self) -> str | None:
        """The run started it."""
        return None

    def restart(self) -> str | None:
        """Ends the child and starts the same command; raises as the constructor does.

        Our own worker is replaced within its process, so that it keeps its process id.
        """
        if self._command is not None:
            self._command.run()
        if self._loads is not None and self._replace_worker(self._loads):
            return None
        self.close()
        self._start()
        return _ANOTHER_ID

    def restart_contained(self) -> None:
        if self._loads is not None:
            raise NotOffered("a Python target keeps its process id when it is restarted")
        before = first_of_a_namespace()
        if before is None:
            raise NotOffered("this system allows no PID namespaces")
        self.close()
        self._start(before)

    def let_end(self) -> None:
        """From now on a child may end by itself once its input has, and write what it writes then.

        One that once took more than some seconds is not waited for again.
        """
        self._patience = _END_SECONDS if hasattr(os, "waitid") else 0.0

    def close(self) -> None:
        """Ends the child, and what it started."""
        if self._patience and self._child.returncode is None:
            self._await_end()
        self._kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _await_end(self) -> None:
        """Ends the child's input, and waits until it has ended, which is not reaped yet.

        What it started is known by its id as long as it is there.
        """
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        until, ended = time.monotonic() + self._patience, os.WEXITED | os.WNOWAIT | os.WNOHANG
        while os.waitid(os.P_PID, self._child.pid, ended) is None:
            if time.monotonic() > until:
                self._patience = 0.0
                return
            time.sleep(_A_LOOK)

    def line(self, request: bytes, call: str) -> bytes:
        self._refuse_unasked(call)
        deadline = time.monotonic() + min(self._timeout, seconds_left())
        self._send(request + b"\n", deadline, call)
        return self._line(deadline, self._timeout, call)

    def _replace_worker(self, spec: str) -> bool:
        """Whether the worker replaced itself with a new interpreter that has loaded `spec`."""
        self._answered.clear()
        try:
            self._refuse_unasked("restart")
            deadline = time.monotonic() + min(self._timeout, seconds_left())
            self._send(json.dumps({"call": "restart"}).encode() + b"\n", deadline, "restart")
            deadline = time.monotonic() + min(_START_SECONDS, seconds_left())
            ready = parse_reply(self._line(deadline, _START_SECONDS, "restart"), "restart")
        except TargetError:
            return False
        return ready.get("ready") == spec

    def _start(self, before: Sequence[str] = ()) -> None:
        """Starts the command; before: words that are prepended to it."""
        self._pending = b""
        self._answered.clear()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        try:
            self._child = subprocess.Popen(
                [*before, *self._words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C ends the run, which then ends the child
            )
        except (OSError, ValueError) as error:
            self._errors.close()
            why = error.strerror if isinstance(error, OSError) else error
            command = one_line(shlex.join(self._words))
            message = f"exec:{command}: cannot be started: {why}"
            raise TargetError(message, code="target-not-started") from None
        assert self._child.stdin is not None
        os.set_blocking(self._child.stdin.fileno(), False)  # a child may never read
        if self._loads is not None:
            self._await_ready(self._loads)

    def _await_ready(self, spec: str) -> None:
        call = f"loading {spec}"
        try:
            deadline = time.monotonic() + min(_START_SECONDS, seconds_left())
            ready = parse_reply(self._line(deadline, _START_SECONDS, call), call)
            if "error" in ready:
                raise TargetError(one_line(ready["error"]), str(ready["code"]))
        except BaseException:
            self.close()
            raise

    def _refuse_unasked(self, call: str) -> None:
        """Raises TargetError for output between two calls: it would pass for the next reply."""
        assert self._child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            if selector.select(0):
                self._pending += os.read(self._child.stdout.fileno(), 1 << 16)
        if self._pending:
            raise TargetError(
                f"the target printed {shown_bytes(self._pending)} on stdout before {call}: "
                "expected one line per call, and nothing unasked",
                code="reply-malformed",
            )

    def _send(self, request: bytes, deadline: float, call: str) -> None:
        assert self._child.stdin is not None
        left = memoryview(request)  # a slice of bytes is a copy: of 40 MB, in 64 KB steps, seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdin, selectors.EVENT_WRITE)
            while left:
                self._wait(selector, deadline, self._timeout, call)
                try:
                    left = left[os.write(self._child.stdin.fileno(), left) :]
                except OSError:
                    raise NoReplyError(f"{call}: {self._death()}") from None

    def _line(self, deadline: float, seconds: float, call: str) -> bytes:
        assert self._child.stdout is not None
        chunks = [self._pending]
        length = len(self._pending)
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while b"\n" not in chunks[-1]:
                self._wait(selector, deadline, seconds, call)
                chunks.append(os.read(self._child.stdout.fileno(), 1 << 16))
                if not chunks[-1]:
                    raise NoReplyError(f"{call}: {self._death()}")
                length += len(chunks[-1])
                if length > REPLY_BYTES:
                    self._kill()
                    raise CallError(call, f"returned more than {REPLY_BYTES >> 20} MB")
        line, _, self._pending = b"".join(chunks).partition(b"\n")
        return line

    def _wait(
        self, selector: selectors.BaseSelector, deadline: float, seconds: float, call: str
    ) -> None:
        if not selector.select(max(0.0, deadline - time.monotonic())):
            self._kill()
            check_clock()  # if the run's own time is over, the target is not to blame
            words = last_line(self._errors)
            message = f"; the last line of its stderr: {words}" if words else ""
            raise TargetError(
                f"{call} gave no answer within {seconds:g} s (timeout in [gate]){message}",
                code="target-too-slow",
            )

    def _kill(self) -> None:
        """Kills the child and its own children: it leads their session."""
        if self._child.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._child.pid, signal.SIGKILL)

    def _death(self) -> str:
        """How the child ended, with the last line of its stderr."""
        try:
            ended = f"the target's process ended with status {self._child.wait(_DEATH_SECONDS)}"
        except subprocess.TimeoutExpired:
            self._kill()
            ended = "the target closed its stdout"
        words = last_line(self._errors)
        return f"{ended}: {words}" if words else ended
