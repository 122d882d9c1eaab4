"""A filter of system calls (seccomp): no network, no local sockets, no programs in compiled code.

On Linux for x86_64 and aarch64. Refused calls fail with EACCES. TCP and UNIX stream sockets can be
made, as urllib3 and others do when they are imported, but nothing is done with them: so the audit
hook sees, and tells, what a target tries to reach. Pairs of sockets work, for asyncio and
multiprocessing.

Not covered: what io_uring would do (it is refused as a whole), and sockets that were open before.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Sequence
from typing import NamedTuple

from .system_calls import give_up_privileges, is_linux, is_refused, system_call

CALLS = "seccomp"

_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_LOAD, _EQUALS, _AT_LEAST, _HAS_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_OTHER_ABI = 0x40000000  # numbers of x32 on x86_64, which are other names of the same calls

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_DGRAM = 1, 2
_KINDS_OF_SOCKETS = 0xF
_IPPROTO_TCP = 6
_MSG_FASTOPEN = 0x20000000  # connects by sending


class _Machine(NamedTuple):
    """Numbers of system calls, and how the kernel calls the machine (linux/audit.h)."""

    audited_as: int
    seccomp: int
    socket: int
    socketpair: int
    sendto: int
    sendmsg: int
    sendmmsg: int
    refused: tuple[int, ...]  # connect, bind, listen, execve, execveat, io_uring_setup


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 317, 41, 53, 44, 46, 307, (42, 49, 50, 59, 322, 425)),
    "aarch64": _Machine(0xC00000B7, 277, 198, 199, 206, 211, 269, (203, 200, 201, 221, 281, 425)),
}

_Step = tuple[int, int, int, int]
"""An instruction: what, how many to skip if it holds and if not, and its number."""


def is_known() -> bool:
    """Whether the numbers of this machine's system calls are known here."""
    return is_linux() and platform.machine() in _MACHINES


def refuse_calls() -> tuple[str, ...]:
    """Filters the system calls of this process and its forks. Returns the layer, tried, or none."""
    if not is_known():
        return ()
    machine = _MACHINES[platform.machine()]
    steps = b"".join(struct.pack("<HBBI", *step) for step in _program(machine))
    kept = ctypes.create_string_buffer(steps, len(steps))
    described = struct.pack("@HP", len(steps) // 8, ctypes.addressof(kept))
    try:
        give_up_privileges()
        system_call(
            machine.seccomp,
            _SET_MODE_FILTER,
            _ALL_THREADS,
            ctypes.create_string_buffer(described, len(described)),
        )
    except OSError:
        return ()
    # of the layers this one alone knows UDP
    return (CALLS,) if is_refused("socket", _AF_INET, _SOCK_DGRAM, 0) else ()


def _program(machine: _Machine) -> list[_Step]:
    refuse: _Step = (_RETURN, 0, 0, _REFUSE)
    steps: list[_Step] = [
        (_LOAD, 0, 0, 4),  # the machine
        (_EQUALS, 1, 0, machine.audited_as),
        refuse,
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, 0, 1, _OTHER_ABI),
        refuse,
    ]
    for call in machine.refused:
        steps += _of_call(call, [refuse])
    steps += _of_call(
        machine.socket,
        [
            *_only_stream(),
            *_only(0, (_AF_UNIX, _AF_INET, _AF_INET6)),
            *_only(2, (0, _IPPROTO_TCP)),
            (_RETURN, 0, 0, _ALLOW),
        ],
    )
    steps += _of_call(machine.socketpair, [*_only_stream(), (_RETURN, 0, 0, _ALLOW)])
    without_address = [*_only(4, (0,)), *_only(4, (0,), upper=True), (_RETURN, 0, 0, _ALLOW)]
    steps += _of_call(machine.sendto, without_address)
    for call, flags in ((machine.sendmsg, 2), (machine.sendmmsg, 3)):
        has_flag = (_HAS_BIT, 0, 1, _MSG_FASTOPEN)
        steps += _of_call(call, [_argument(flags), has_flag, refuse, (_RETURN, 0, 0, _ALLOW)])
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _of_call(number: int, body: list[_Step]) -> list[_Step]:
    """What is decided of one call; the body returns, or else is skipped."""
    return [(_EQUALS, 0, len(body), number), *body]


def _argument(place: int, *, upper: bool = False) -> _Step:
    """Loads the lower or the upper 32 bits of an argument."""
    return (_LOAD, 0, 0, 16 + 8 * place + 4 * upper)


def _only(place: int, allowed: Sequence[int], *, upper: bool = False) -> list[_Step]:
    """Refuses the call unless an argument has one of these values."""
    compared = [(_EQUALS, len(allowed) - n, 0, value) for n, value in enumerate(allowed)]
    return [_argument(place, upper=upper), *compared, (_RETURN, 0, 0, _REFUSE)]


def _only_stream() -> list[_Step]:
    """Refuses datagrams: an address of its own goes with each."""
    return [
        _argument(1),
        (_AND, 0, 0, _KINDS_OF_SOCKETS),
        (_EQUALS, 1, 0, _SOCK_STREAM),
        (_RETURN, 0, 0, _REFUSE),
    ]
