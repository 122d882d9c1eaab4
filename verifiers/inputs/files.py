"""Reading files that a user names: bounded, and never waiting for what will not come."""

import os
import selectors
import stat
import sys
import time
from pathlib import Path

MOST_BYTES = 64_000_000
"""No file of histograms or labels is longer."""

_WRITER_SECONDS = 5.0  # that a pipe of a name may take to be opened by who writes to it
_PART = 1 << 20


def found_from(path: str, folder: Path | None) -> str:
    """A path from the working directory, or from `folder` where it leads nowhere from there."""
    try:
        if folder is None or Path(path).exists() or not (folder / path).exists():
            return path
    except (OSError, ValueError):  # no name of a file: reading it says why
        return path
    return str(folder / path)


class ReadingError(ValueError):
    """A file that cannot be read; the message says why, and leaves its name to the caller."""


def read_bytes(path: str | None, most: int = MOST_BYTES, *, again: bool = False) -> bytes:
    """All bytes of the file at `path`, at most `most`; None is standard input.

    Pipes are read to their end, those of a process substitution among them; one that has a name is
    given five seconds for somebody to open it for writing. again: the file will be read once more,
    so that a pipe will not do. Raises ReadingError for what cannot be opened, has no end (a
    device), or is longer.
    """
    try:
        if path is None:
            if sys.stdin is None:
                raise ReadingError("it is closed")
            return _content(sys.stdin.fileno(), most, named=False)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            kind = os.fstat(descriptor).st_mode
            if stat.S_ISBLK(kind) or (stat.S_ISCHR(kind) and not os.isatty(descriptor)):
                raise ReadingError("it is a device: expected a file")
            if stat.S_ISDIR(kind):
                raise ReadingError("it is a folder: expected a file")
            if again and not stat.S_ISREG(kind):
                raise ReadingError("it is read more than once: expected a regular file")
            named = stat.S_ISFIFO(kind)
            os.set_blocking(descriptor, not named)
            return _content(descriptor, most, named)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ReadingError(error.strerror or str(error)) from None
    except ValueError as error:  # a zero byte in its name among them
        raise error if isinstance(error, ReadingError) else ReadingError(str(error)) from None


def _content(descriptor: int, most: int, named: bool) -> bytes:
    """Everything up to the end. named: a pipe that does not block, nor end before it has begun."""
    found = bytearray()
    patience = time.monotonic() + _WRITER_SECONDS
    begun = not named
    while len(found) <= most:
        try:
            part = os.read(descriptor, _PART)
        except BlockingIOError:  # somebody has it open for writing, and wrote nothing yet
            begun = True
            _await(descriptor)
            continue
        if part:
            begun = True
            found += part
        elif begun:
            return bytes(found)
        elif time.monotonic() > patience:
            raise ReadingError(
                f"it is a pipe that nobody opened for writing within {_WRITER_SECONDS:g} s: "
                "expected a file"
            )
        else:
            time.sleep(0.02)
    raise ReadingError(f"it is longer: expected at most {most:,} bytes")


def _await(descriptor: int) -> None:
    """Returns once there is something to read, or the writer has gone."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        selector.select()
