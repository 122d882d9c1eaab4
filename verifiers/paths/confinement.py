"""Confines the process in which a copy of a target is run: it changes nothing outside one folder.

It is a guard against what an ordinary deployment does (a ledger, a lock, a port, a mail), and no
defence against a hostile target. Reading is not prevented: it sees the files that the user sees.
Three layers fill each other's gaps, where the system has them:

- an audit hook, on every system: what Python does; it ends the process with a record;
- Landlock (Linux 5.13; TCP 6.7; signals 6.12): files that compiled code writes;
- seccomp (Linux on x86_64 and aarch64): sockets and programs of compiled code.

What the kernel refuses fails with a PermissionError and without a record: the target may go on.
Among it are locks and semaphores of multiprocessing, which are files in /dev/shm. On macOS there is
the hook alone, so that compiled code, as polars or dbm, writes where it wants. No layer prevents
chmod, chown and utime of compiled code.
"""

import math
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

from . import call_filter, landlock
from .audit_hook import STOPPED, AuditHook

HOOK = "audit hook"

_FORKS = 64
"""Forks that a run may make, with those of its forks: of a pool of workers, not of a fork bomb."""

_FILE_BYTES = 1 << 28
"""Length of a file that a run may write."""

_hook: AuditHook | None = None


def confine(scratch: Path, record: int) -> tuple[str, ...]:
    """From now on this process and its forks change nothing outside `scratch`.

    What Python tries there ends the process, or the fork that tried it, with status `STOPPED`: the
    record tells, whatever the others answer. To be called once, before the target is imported and
    before threads are started. Returns the layers that were tried and hold. Raises RuntimeError if
    it is too late. scratch: an existing folder; record: descriptor, best of a pipe, to which
    {"event": ..., "what": ...} is written then.
    """
    global _hook  # noqa: PLW0603 - an audit hook is the whole process's, for ever
    if _hook is not None or threading.active_count() > 1:
        raise RuntimeError("confine: called twice, or after threads have been started")
    scratch = scratch.resolve()
    sys.dont_write_bytecode = True
    _hook = AuditHook(scratch, record)
    _stop_spawned_processes(_hook)
    _hook.install()
    hook = (HOOK,) if _holds(_hook, scratch) else ()
    return (*hook, *landlock.restrict(scratch), *call_filter.refuse_calls())


def limit(seconds: float, bytes: int) -> None:
    """Limits this process, a fork in which a run is made. To be called after `confine`.

    Forks have the same limits each, and may together fork 64 times; on macOS memory is not limited.
    seconds: of CPU time of all threads, rounded up, after which SIGXCPU kills it; bytes: of memory
    beyond what the process has, reserved address space apart.
    """
    if _hook is not None:
        _hook.allow_forks(_FORKS)
    _lower(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds), 1)
    if sys.platform == "linux":
        _lower(resource.RLIMIT_DATA, _data_bytes() + bytes)
    _lower(resource.RLIMIT_FSIZE, _FILE_BYTES)
    _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, value: int, more: int = 0) -> None:
    """Sets a limit, for good, unless a lower one is set already; more: until the hard limit."""
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or value + more < hard:
        resource.setrlimit(kind, (value, value + more))


def _data_bytes() -> int:
    """Private memory of this process as RLIMIT_DATA counts it; 0 where it is not told."""
    try:
        told = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next((int(n.split()[1]) for n in told.splitlines() if n.startswith("VmData:")), 0) * 1024


def _stop_spawned_processes(hook: AuditHook) -> None:
    """Programs that multiprocessing starts raise no audit event: they are ended here."""
    import _posixsubprocess

    def stop(*given: Any) -> None:
        hook.stop("subprocess.Popen", str(given[0]))

    _posixsubprocess.fork_exec = stop  # type: ignore[assignment]


def _holds(hook: AuditHook, scratch: Path) -> bool:
    """Whether a fork that tells of a write outside is ended, without a record of it."""
    tried = os.fork()
    if tried == 0:
        hook.record = -1
        sys.audit("open", str(scratch.parent / "tried"), "w", os.O_WRONLY)
        os._exit(0)
    _, status = os.waitpid(tried, 0)
    return os.waitstatus_to_exitcode(status) == STOPPED
