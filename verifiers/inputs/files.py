"""Reading files that a user names, up to a size, without waiting forever for a pipe."""

import os
import selectors
import stat
import sys
import time
from pathlib import Path

from .input_error import RowsError

ENCODING = "utf-8-sig"  # spreadsheets write a byte-order mark first

MOST_BYTES = 64_000_000
"""Longest file of histograms or labels."""

_WRITER_SECONDS = 5.0  # within which a named pipe must be opened for writing
_PART = 1 << 20


def found_from(path: str, folder: Path | None) -> str:
    """`path` if it exists from the working directory, else the path from `folder` if that does."""
    try:
        if folder is None or Path(path).exists() or not (folder / path).exists():
            return path
    except (OSError, ValueError):  # not the name of a file: reading it will say why
        return path
    return str(folder / path)


class ReadingError(RowsError):
    """A file that cannot be read; the message names it and says why."""

    code = "file-unreadable"


def read_bytes(path: str | None, most: int = MOST_BYTES, *, again: bool = False) -> bytes:
    """The bytes of the file at `path`, None for standard input; most: bytes allowed.

    Pipes are read to their end; a named one must be opened for writing within five seconds.
    again: the file will be read a second time, so that a pipe is refused. Raises ReadingError for
    a file that cannot be opened, is too long, or is a device or folder.
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
    except (OSError, ValueError) as error:  # a zero byte in its name among them
        why = getattr(error, "strerror", None) or error
        raise ReadingError(f"{_named(path)}: {why}") from None


def read_text(path: str | None, most: int = MOST_BYTES, *, again: bool = False) -> str:
    """As `read_bytes`, as text without a byte-order mark; ReadingError too where it is no UTF-8."""
    try:
        return read_bytes(path, most, again=again).decode(ENCODING)
    except UnicodeDecodeError:
        raise ReadingError(f"{_named(path)}: not UTF-8 text") from None


def _named(path: str | None) -> str:
    return "standard input" if path is None else path


def _content(descriptor: int, most: int, named: bool) -> bytes:
    """The bytes up to the end; named: whether it is a named pipe, perhaps without a writer yet."""
    found = bytearray()
    patience = time.monotonic() + _WRITER_SECONDS
    begun = not named
    while len(found) <= most:
        try:
            part = os.read(descriptor, _PART)
        except BlockingIOError:  # it is open for writing, and nothing was written yet
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
