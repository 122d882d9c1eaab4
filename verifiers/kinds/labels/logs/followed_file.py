"""Follows a file as it grows, and checks that it is still the file that was read."""

import hashlib
import io
import os
import stat
import time

from ....inputs.input_error import RowsError
from ....inputs.log_file import LINE_BYTES, shown_path
from ....inputs.release_log import LogError, Row, RowReader

BLOCK = 1 << 20
"""Bytes that are read at a time."""

_LAST = 65_536  # bytes before the place that are compared at every read
_SECONDS = 600.0  # between comparisons of all that was read

_NO_FILE = (
    "not a regular file, so it cannot be read again: expected a file, or - for standard input "
    "(dpassay monitor - ... < PIPE)"
)


class Source:
    """A growing log, read from a place on.

    place: as text, None at the beginning, or if nothing can be read again; ended: whether no more
    rows can come; trouble: why nothing can be read for now, if the reason may pass; unread: words
    on the last line, if it has no end and so was not read.
    """

    place: str | None = None
    ended = False
    trouble: str | None = None
    unread: str | None = None

    def rows(self, most: int) -> list[Row]:
        """The next rows, about `most` or fewer; none if no rows have come.

        Raises RowsError for a row that cannot be read, after the rows before it were returned.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Closes the source."""


def row_of(reader: RowReader, line: bytes, path: str, place: str) -> Row | None:
    """The row of a line of the file at `path`, if it is one of a row. Raises RowsError."""
    try:
        return reader.row(line.decode(), place)
    except UnicodeDecodeError:
        raise LogError(f"{shown_path(path)}: not UTF-8 text") from None


def unread_text(line: bytes, place: str) -> str | None:
    """Why a last line without an end is not read: its label may be cut, as 11 to 1."""
    if not line:
        return None
    return (
        f"{place}: left unread: its {len(line):,} bytes do not end in a newline, so that part of "
        "the line may be missing"
    )


class OtherFileError(LogError):
    """A file that does not begin with what was read before."""

    code = "state-unusable"


class FileSource(Source):
    """A file that grows by whole lines. A last line without an end is not read.

    Its place is the number of bytes and lines read, and the SHA-256 of these bytes, which is
    compared with the file at the start and every ten minutes; its last bytes are at every read.
    Raises RowsError, or OtherFileError if the file is not the one that was read up to `place`.
    """

    def __init__(self, path: str, reader: RowReader, place: str | None, once: bool) -> None:
        self.path, self.reader, self.once = path, reader, once
        self._hash, self._last, self._compared = hashlib.sha256(), b"", time.monotonic()
        try:
            if os.path.isdir(path):
                raise LogError(f"{path}: it is a folder: expected a file", code="file-unreadable")
            if not stat.S_ISREG(os.stat(path).st_mode):
                # unopened: a pipe waits for its writer
                raise LogError(f"{path}: {_NO_FILE}", code="file-unreadable")
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - read on for months
        except OSError as error:
            raise LogError(f"{path}: {error.strerror or error}") from None
        try:
            self._begin(place or f"0 0 {self._hash.hexdigest()}")
        except BaseException:
            self._file.close()
            raise

    def rows(self, most: int) -> list[Row]:
        found: list[Row] = []
        taken: list[bytes] = []
        wrong: RowsError | None = None
        self.unread = None
        self._file.seek(self._offset)
        file = io.BufferedReader(self._file, BLOCK)  # a new one has nothing stale in it
        while len(found) < most and wrong is None:
            line = file.readline(LINE_BYTES)
            place = f"{self.path}, line {self._number + len(taken) + 1}"
            if not line.endswith(b"\n"):
                self.ended = self.once
                self.unread = unread_text(line, place)
                if len(line) == LINE_BYTES:
                    wrong = LogError(f"{place}: it is longer than {LINE_BYTES:,} bytes")
                break
            try:
                row = row_of(self.reader, line, self.path, place)
            except RowsError as error:
                wrong = error
                break
            taken.append(line)
            found += [] if row is None else [row]
        file.detach()
        self._compare()  # before rows are returned, or errors raised, that another file may have
        if not found:
            if wrong is not None:
                raise wrong
            self._check_name()
        self._take(taken)
        return found

    def close(self) -> None:
        self._file.close()

    def _begin(self, place: str) -> None:
        """Goes to the place, and checks that what is before it was read."""
        offset, number, digest = place.split()
        self._offset, self._number = int(offset), int(number)
        self._compare()
        self._hash, self._last = self._read_again()
        if self._hash.hexdigest() != digest:
            raise self._another()
        self._take([])

    def _take(self, lines: list[bytes]) -> None:
        """Records that lines were read."""
        text = b"".join(lines)
        self._hash.update(text)
        self._last = (self._last + text)[-_LAST:]
        self._offset += len(text)
        self._number += len(lines)
        self.place = f"{self._offset} {self._number} {self._hash.hexdigest()}"

    def _compare(self) -> None:
        """Raises OtherFileError if the file no longer holds what was read."""
        size = os.fstat(self._file.fileno()).st_size
        if size < self._offset:
            raise OtherFileError(
                f"{self.path}: it is shorter than what was read of it, {self._offset:,} bytes: "
                "expected the same log, or another --state"
            )
        here = self._offset - len(self._last)
        if os.pread(self._file.fileno(), len(self._last), here) != self._last:
            raise self._another()
        if time.monotonic() - self._compared > _SECONDS:
            if self._read_again()[0].digest() != self._hash.digest():
                raise self._another()
            self._compared = time.monotonic()

    def _read_again(self) -> tuple["hashlib._Hash", bytes]:
        """The SHA-256 of the bytes before the place, and the last of these."""
        found, last, at = hashlib.sha256(), b"", 0
        while at < self._offset:
            block = os.pread(self._file.fileno(), min(BLOCK, self._offset - at), at)
            if not block:
                break  # the file got shorter, and the digest will differ
            found.update(block)
            last, at = (last + block)[-_LAST:], at + len(block)
        return found, last

    def _check_name(self) -> None:
        """Raises RowsError if the path now names another file; this one was read to its end."""
        here = os.fstat(self._file.fileno())
        try:
            there = os.stat(self.path)
        except OSError:
            self.trouble = f"{self.path}: no longer there: the opened file is still followed"
            return
        self.trouble = None
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            left = f"; {self.unread}" if self.unread else ""
            raise LogError(
                f"{self.path}: another file has taken its place, after the {self._number:,} lines "
                f"that were read{left}: pipe a log that is rotated to -",
                code="file-unreadable",
            )

    def _another(self) -> OtherFileError:
        return OtherFileError(
            f"{self.path}: its first {self._offset:,} bytes are no longer those that were read: "
            "it was replaced or rewritten: expected the same log, or another --state"
        )
