"""System calls that Python has no function for, through ctypes; on Linux alone."""

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any

_NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS, in linux/prctl.h


@cache
def libc() -> Any:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def is_linux() -> bool:
    """Whether the calls of this room are those of this system."""
    return sys.platform == "linux" and sys.byteorder == "little"


def system_call(number: int, *given: Any) -> int:
    """What a system call returns; whole numbers are passed on as 64 bits. Raises OSError."""
    sized = [ctypes.c_long(each) if isinstance(each, int) else each for each in given]
    libc().syscall.restype = ctypes.c_long
    found: int = libc().syscall(ctypes.c_long(number), *sized)
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found


def give_up_privileges() -> None:
    """No program that is run from here on gains rights: Linux asks for it first. Raises OSError."""
    zero = ctypes.c_ulong(0)
    if libc().prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), zero, zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def is_refused(name: str, *given: Any) -> bool:
    """Whether a function of the C library, which returns a descriptor, is not permitted.

    A descriptor that it returns is closed again.
    """
    found = getattr(libc(), name)(*given)
    if found >= 0:
        os.close(found)
        return False
    return ctypes.get_errno() in (errno.EACCES, errno.EPERM)
