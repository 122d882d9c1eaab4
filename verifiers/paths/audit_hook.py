"""The audit hook of a confined process: at an act outside its scratch folder the process ends.

An exception would be swallowed by a target that fails open, with a bare `except`; so the hook
writes one line of JSON and ends the process.

What is seen is what Python itself does. Files and sockets of compiled code are not seen (polars,
dbm, ATTACH in SQL, functions called through ctypes), nor are os.mkfifo, and paths that are relative
to a folder's descriptor in os.open. `ctypes.dlopen` passes: torch, numba, opendp and threadpoolctl
(which scikit-learn calls) load libraries so, while imports of compiled modules do not.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

STOPPED = 86
"""Exit status of a process that the hook has ended."""

DEVICES = ("/dev/null", "/dev/zero")
"""Where everybody may write, as nothing stays there."""

_STREAMS = ("/dev/stdout", "/dev/stderr")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LONGEST = 300  # characters that are told of what was stopped: a line goes into a pipe at once

_LOOK_UPS = {"cc", "fc-list", "file", "gcc", "git", "ld", "ldconfig", "lscpu", "lsb_release"}
_LOOK_UPS |= {"nvidia-smi", "objdump", "sysctl", "system_profiler", "uname"}
"""Programs with which libraries look at the machine: they are told that there is none.

So matplotlib, joblib, platform and ctypes.util can do without, and need not end the search.
"""

_Arguments = tuple[Any, ...]
_exit = os._exit  # the target may replace the one of the module

_PLACES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chflags": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.lockf": ((0, None),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "fcntl.flock": ((0, None),),
    "fcntl.lockf": ((0, None),),
    "shutil.chown": ((0, None),),
    "shutil.copyfile": ((1, None),),
    "shutil.copymode": ((1, None),),
    "shutil.copystat": ((1, None),),
    "shutil.copytree": ((1, None),),
    "shutil.make_archive": ((0, None),),
    "shutil.move": ((0, None), (1, None)),
    "shutil.rmtree": ((0, 1),),
    "shutil.unpack_archive": ((1, None),),
    "tempfile.mkdtemp": ((0, None),),
    "tempfile.mkstemp": ((0, None),),
}
"""Events that change files: where their arguments have a path, and the folder it is relative to.

Locks are among them: one on a file outside could hold up the deployment itself.
"""

_OF_THE_NAME = {"os.link", "os.remove", "os.rename", "os.rmdir", "os.symlink", "shutil.rmtree"}
"""Events that act on a name itself, and not on what a symbolic link points to."""

_PROGRAMS = {
    "os.exec": 1,
    "os.posix_spawn": 1,
    "os.spawn": 2,
    "os.startfile": 0,
    "os.system": 0,
    "pty.spawn": 0,
    "subprocess.Popen": 1,
    "syslog.syslog": 1,
}
"""Events that are never allowed, and which argument is told."""


class AuditHook:
    """What an audit hook of this process and its forks looks for.

    scratch: the folder in which everything is allowed; record: descriptor that a line {"event":
    ..., "what": ...} is written to, once.
    """

    def __init__(self, scratch: Path, record: int) -> None:
        self.record = record
        self._scratch = os.path.realpath(scratch)
        self._forks: int | None = None
        self._judges: dict[str, Callable[[_Arguments], str | None]] = {
            "open": self._opened,
            "os.fork": self._forked,
            "os.forkpty": self._forked,
            "os.kill": self._killed,
            "os.killpg": lambda given: f"process group {given[0]}, signal {given[1]}",
            "socket.__new__": _made_socket,
            "socket.bind": _bound,
            "socket.connect": lambda given: str(given[1]),
            "socket.getaddrinfo": lambda given: f"{given[0]}:{given[1]}",
            "socket.sendmsg": _sent,
            "socket.sendto": _sent,
            "sqlite3.connect": self._connected,
        }
        for event in _PLACES:
            self._judges[event] = self._changed(event)
        for event, place in _PROGRAMS.items():
            self._judges[event] = _names_program(place)

    def install(self) -> None:
        """Looks on from now on, in this process and its forks; it cannot be taken away again."""
        judges, stop = self._judges, self.stop

        def hook(event: str, arguments: _Arguments) -> None:
            judge = judges.get(event)
            if judge is None:
                return
            try:
                told = judge(arguments)
            except (LookupError, OSError, TypeError, ValueError):
                return  # no path, no address: the act itself fails
            if told is None:
                return
            if event == "subprocess.Popen" and _looks_up(arguments):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), told)
            stop(event, told)

        sys.addaudithook(hook)

    def allow_forks(self, number: int) -> None:
        """From here on this process and its forks may fork so many times together, up to 4,096."""
        self._forks, writer = os.pipe()
        os.write(writer, b"-" * number)  # a fork takes one of them, and no two take the same
        os.close(writer)

    def stop(self, event: str, what: str) -> None:
        """Writes what was tried, and ends the process."""
        line = json.dumps({"event": event, "what": what[:_LONGEST]}) + "\n"
        with suppress(OSError):
            os.write(self.record, line.encode())
        _exit(STOPPED)

    def _outside(self, path: Any, folder: Any = None, *, of_the_name: bool = False) -> str | None:
        """Where a path leads, if that is out of the scratch folder; a descriptor is its file."""
        if isinstance(path, int):
            name = _path_of(path)
            if name is None:
                return None
        else:
            name = os.fsdecode(path)
            if isinstance(folder, int) and folder >= 0 and not os.path.isabs(name):
                name = os.path.join(_path_of(folder) or "", name)
        name = os.path.abspath(name) if of_the_name else name
        if of_the_name:
            real = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
        else:
            real = os.path.realpath(name)
        inside = real == self._scratch or real.startswith(self._scratch + os.sep)
        return None if inside or real in DEVICES else real

    def _opened(self, given: _Arguments) -> str | None:
        path, mode, flags = given
        writes = isinstance(mode, str) and bool(set(mode) & set("wax+"))
        if isinstance(path, int) or not (writes or flags & _WRITES):
            return None
        return None if os.fsdecode(path) in _STREAMS else self._outside(path)

    def _changed(self, event: str) -> Callable[[_Arguments], str | None]:
        of_the_name = event in _OF_THE_NAME

        def judge(given: _Arguments) -> str | None:
            for path, folder in _PLACES[event]:
                held = given[folder] if folder is not None and folder < len(given) else None
                told = self._outside(given[path], held, of_the_name=of_the_name)
                if told is not None:
                    return told
            return None

        return judge

    def _connected(self, given: _Arguments) -> str | None:
        database = os.fsdecode(given[0])
        if database in ("", ":memory:"):
            return None
        address = re.fullmatch(r"file:(?://[^/]*)?([^?#]*)(?:\?([^#]*))?.*", database)
        if address is None:
            return self._outside(database)
        path, options = address[1], (address[2] or "").split("&")
        if not path or {"mode=ro", "mode=memory", "immutable=1"} & set(options):
            return None
        return self._outside(path)

    def _forked(self, given: _Arguments) -> str | None:
        if self._forks is None:
            return None
        with suppress(OSError):  # the target has closed what it does not know
            if os.read(self._forks, 1):
                return None
        return "more forks than a run may make"

    def _killed(self, given: _Arguments) -> str | None:
        process, number = given
        if number == 0 or process == os.getpid() or _is_own_child(process):
            return None
        return f"process {process}, signal {number}"


def _names_program(place: int) -> Callable[[_Arguments], str]:
    def judge(given: _Arguments) -> str:
        words = given[place] if place < len(given) else given
        return " ".join(map(str, words)) if isinstance(words, list | tuple) else str(words)

    return judge


def _looks_up(given: _Arguments) -> bool:
    return os.path.basename(os.fsdecode(given[0] or given[1][0])) in _LOOK_UPS


def _made_socket(given: _Arguments) -> str | None:
    """What the filter of system calls refuses would fail without a word: it is told here."""
    import socket

    _, family, kind, _ = given
    streams = {socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", None)}
    if family == -1 or (family in streams and kind in (-1, socket.SOCK_STREAM)):
        return None
    if family == getattr(socket, "AF_UNIX", None) and kind != socket.SOCK_DGRAM:
        return None
    return f"family {int(family)}, type {int(kind)}"


def _bound(given: _Arguments) -> str | None:
    """Passes a port of this machine alone that nobody chose: urllib3 tries one when imported."""
    address = given[1]
    if isinstance(address, tuple) and address[0] in ("::1", "127.0.0.1") and address[1] == 0:
        return None
    return str(address)


def _sent(given: _Arguments) -> str | None:
    return None if given[1] is None else str(given[1])


def _is_own_child(process: int) -> bool:
    if process <= 0 or not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except OSError:
        return False
    return True


def _path_of(descriptor: int) -> str | None:
    """The path of an open file; None of a pipe, and where the system does not tell."""
    try:
        if sys.platform == "darwin":
            import fcntl

            name = fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * 1024)
            return os.fsdecode(name.rstrip(b"\0"))
        name = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
    return name if name.startswith("/") else None
