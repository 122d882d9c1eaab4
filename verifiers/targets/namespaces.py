"""Whether a process can be started as process 1 of a new PID namespace, as in a container."""

import subprocess
from functools import cache

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
