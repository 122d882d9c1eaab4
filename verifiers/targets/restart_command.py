"""How what dpassay asks is started again: the commands of `[gate]`, and PID namespaces.

`restart` is for what dpassay did not start, `fresh_state` empties a store of kept answers.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from typing import IO

from ...reference.clock import check_clock, seconds_left
from .replies import NotOffered, Target, TargetError, one_line

_SECONDS = 120.0
_WORDS = 4096  # bytes at the end of an output in which the last line is looked for


class GateCommand:
    """Runs a command of the claim, split by shlex and without a shell, until it returns.

    Processes that it leaves behind are left alone.

    Raises ValueError for a text that is no command.

    Args:
        key: of the command in the claim.
        done: its effect, in words for messages.
        seconds: that it may take.
        table: of the claim, where the key stands.
    """

    def __init__(
        self, command: str, key: str, done: str, seconds: float, table: str = "gate"
    ) -> None:
        self._words = command_words(command)
        self._done, self._seconds = done, seconds
        self.name = f"{key} = {one_line(repr(command))} in [{table}]"

    def look_up(self) -> None:
        """Raises TargetError where its program cannot be found, before a run begins."""
        program = self._words[0]
        if shutil.which(program) is None:
            raise TargetError(
                f"{self.name}: {one_line(repr(program))} was not found, or may not be run: "
                "expected a program on PATH, or the path of one",
                code="target-option-wrong",
            )

    def run(self) -> None:
        """Runs the command once. Raises TargetError unless it ends with status 0 in time."""
        with tempfile.TemporaryFile() as output:  # a pipe would wait for whatever it leaves running
            status = self._status(output)
            if status != 0:
                words = last_line(output)
                raise TargetError(
                    f"{self.name} ended with status {status}" + (words and f": {words}"),
                    code="target-not-started",
                )

    def _status(self, output: IO[bytes]) -> int:
        try:
            child = subprocess.Popen(
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C ends the run, and not what was restarted
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            message = f"{self.name} cannot be started: {why}"
            raise TargetError(message, code="target-not-started") from None
        try:
            return child.wait(min(self._seconds, seconds_left()))
        except BaseException as ended:
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if not isinstance(ended, subprocess.TimeoutExpired):
                raise
            check_clock()
            raise TargetError(
                f"{self.name} did not end within {self._seconds:g} s: expected a command that "
                f"returns once {self._done}",
                code="target-not-started",
            ) from None


class RestartCommand(GateCommand):
    """The command `restart`, which may take two minutes."""

    def __init__(self, command: str) -> None:
        super().__init__(command, "restart", "the target has been restarted", _SECONDS)


class FreshStateCommand(GateCommand):
    """The command `fresh_state`, which empties a store of kept answers; timeout: in seconds."""

    def __init__(self, command: str, timeout: float) -> None:
        done = "the store of kept answers is empty"
        super().__init__(command, "fresh_state", done, timeout)


class RunsAlready:
    """A deployment that the run did not start: a command of `[gate]`, if any, restarts it."""

    _command: RestartCommand | None

    @property
    def no_restart(self) -> str | None:
        """See `Target.no_restart`."""
        return "name a command as restart in [gate]" if self._command is None else None

    def restart(self) -> str | None:
        """See `Target.restart`: by the claim's command."""
        if self._command is None:
            raise NotOffered("it cannot be restarted without a command, restart in [gate]")
        self._command.run()
        return None

    def restart_contained(self) -> None:
        """Its process is none of the run's."""
        raise NotOffered("the run did not start it")


def begin_anew(target: Target, command: GateCommand | None) -> None:
    """Empties what a target keeps, by a command and by a restart, whichever there is.

    Raises TargetError where one of them fails.
    """
    if command is not None:
        command.run()
    if target.no_restart is None:
        target.restart()


def command_words(command: str) -> list[str]:
    """The argument list of a command. Raises ValueError with one line."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"{one_line(repr(command))}: {str(error).lower()}") from None
    if not words or not words[0]:
        raise ValueError(f"{one_line(repr(command))}: expected a command")
    return words


def last_line(output: IO[bytes]) -> str:
    """The last line that a process has written to a file, cut; empty where there is none."""
    length = output.seek(0, os.SEEK_END)
    output.seek(max(0, length - _WORDS))
    lines = output.read().decode(errors="replace").strip().splitlines()
    return one_line(lines[-1]) if lines else ""


_UNSHARE = ("unshare", "--pid", "--fork", "--kill-child")
# as the same user, so that a target can use its files; a user namespace only where needed
_USERS: tuple[tuple[str, ...], ...] = ((), ("--user", "--map-current-user"))
_PROC: tuple[tuple[str, ...], ...] = (("--mount-proc",), ())
_PROBE_SECONDS = 5.0


@cache
def first_of_a_namespace() -> tuple[str, ...] | None:
    """The prefix of a command that runs it as process 1 of a PID namespace; None: not allowed."""
    for user in _USERS:
        for proc in _PROC:
            words = (*_UNSHARE, *user, *proc)
            if _is_allowed(words):
                return words
    return None


def _is_allowed(words: tuple[str, ...]) -> bool:
    try:
        tried = subprocess.run(
            [*words, "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0
