"""Landlock: the Linux kernel lets a process write in one folder alone, also in compiled code.

No root is needed. Numbers are those of linux/landlock.h, which are alike on all machines. Not
covered by any version so far: reading (it is not asked for here), chmod, chown, utime and
attributes, UDP, and UNIX sockets by path.
"""

import ctypes
import os
import struct
from contextlib import suppress
from pathlib import Path

from .audit_hook import DEVICES
from .system_calls import give_up_privileges, is_linux, is_refused, libc, system_call

FILES, TCP, SIGNALS = "Landlock for files", "Landlock for TCP", "Landlock for signals"

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASKS_VERSION = 1
_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))  # folders, files, sockets, links, devices
_REFER = 1 << 13  # into another folder; of version 1 always refused
_TRUNCATE = 1 << 14
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_AF_INET, _SOCK_STREAM = 2, 1


def version() -> int:
    """The version of Landlock in this kernel; 0: it has none, or it is switched off."""
    if not is_linux():
        return 0
    try:
        return system_call(_CREATE_RULESET, None, 0, _ASKS_VERSION)
    except OSError:
        return 0


def restrict(scratch: Path) -> tuple[str, ...]:
    """From now on this thread, and what it starts, writes in `scratch` alone.

    Threads that run already are not restricted. Returns the layers that were tried and hold.
    """
    held = version()
    if held == 0:
        return ()
    try:
        _restrict(scratch, held)
    except OSError:
        return ()
    return _layers_that_hold(scratch, held)


def _restrict(scratch: Path, held: int) -> None:
    writes = _WRITE_FILE | _MAKE_AND_REMOVE | (_REFER if held >= 2 else 0)
    writes |= _TRUNCATE if held >= 3 else 0
    asked = struct.pack("<Q", writes)
    if held >= 4:
        asked += struct.pack("<Q", _BIND_AND_CONNECT)
    if held >= 6:
        asked += struct.pack("<Q", _ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = system_call(_CREATE_RULESET, ctypes.create_string_buffer(asked), len(asked), 0)
    try:
        _allow(rules, scratch, writes)
        for device in DEVICES:
            with suppress(FileNotFoundError):
                _allow(rules, Path(device), writes & (_WRITE_FILE | _TRUNCATE))
        give_up_privileges()
        system_call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: Path, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, place))
        system_call(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)


def _layers_that_hold(scratch: Path, held: int) -> tuple[str, ...]:
    """Tries what is forbidden, past Python and without an effect should it be allowed."""
    layers = []
    outside = is_refused("open", b"/dev/full", os.O_WRONLY | os.O_CLOEXEC)
    inside = is_refused("open", os.fsencode(scratch), os.O_TMPFILE | os.O_WRONLY, 0o600)
    if outside and not inside:
        layers.append(FILES)
    if held >= 4 and _is_tcp_refused():
        layers.append(TCP)
    if held >= 6 and libc().kill(os.getppid(), 0) != 0:
        layers.append(SIGNALS)
    return tuple(layers)


def _is_tcp_refused() -> bool:
    """Whether no port can be taken, not even any that is free on this machine alone."""
    made: int = libc().socket(_AF_INET, _SOCK_STREAM, 0)
    if made < 0:
        return False
    address = struct.pack("=H", _AF_INET) + struct.pack("!H4s8x", 0, bytes([127, 0, 0, 1]))
    try:
        refused: bool = libc().bind(made, address, len(address)) != 0
        return refused
    finally:
        os.close(made)
