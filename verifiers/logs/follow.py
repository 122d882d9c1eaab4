"""Where a log that grows is read on: a file, standard input, or a server that hands out rows."""

import os
import selectors
import stat
import sys
from collections.abc import Iterable
from typing import Any, Protocol

from ..inputs.log_file import LINE_BYTES, shown_path
from ..inputs.release_log import LogError, Row, RowReader
from ..targets import shown_spec

_SECONDS = 30.0  # that a server may take to hand out rows
_LOOK = 0.5  # seconds that are waited for a pipe to say something

_NO_FILE = (
    "no file, and what it says cannot be read again: expected a file, or - for standard input "
    "(dpassay monitor - ... < PIPE)"
)


class Source(Protocol):
    """A log that is read on from a place, after the rows that were given so far."""

    ended: bool
    """Whether no more can come."""
    trouble: str | None
    """Why nothing can be read for now, where that may pass."""

    @property
    def place(self) -> str | None:
        """As text; None at the beginning, and where nothing can be read again."""

    def rows(self, most: int) -> list[Row]:
        """The next rows, about so many at most; none where nothing has come.

        Raises LogError for a row that cannot be read, once those before it have been given.
        """

    def close(self) -> None:
        """Reads no more."""


class FileSource:
    """A file that grows by whole lines. once: its last line counts although it has no end yet."""

    def __init__(self, path: str, reader: RowReader, place: str | None, once: bool) -> None:
        self.path, self.reader, self.once = path, reader, once
        self._offset, self._number = _numbers(place)
        self.ended = False
        self.trouble: str | None = None
        try:
            if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
                raise LogError(f"{path}: {_NO_FILE}")  # unopened: a pipe waits for its writer
            self._file = open(path, "rb")  # noqa: SIM115 - read on for months
        except OSError as error:
            raise LogError(f"{path}: {error.strerror or error}") from None
        try:
            self._check()
            if self._offset and _decoded(self._file.readline(LINE_BYTES), path) != reader.header:
                raise LogError(f"{path}: it begins otherwise than the log that was read so far")
            self._file.seek(self._offset)
        except OSError:
            self._file.close()
            raise LogError(f"{path}: {_NO_FILE}") from None
        except LogError:
            self._file.close()
            raise

    @property
    def place(self) -> str | None:
        """See `Source`: bytes and lines read."""
        return f"{self._offset} {self._number}"

    def rows(self, most: int) -> list[Row]:
        """See `Source.rows`."""
        found: list[Row] = []
        while len(found) < most:
            line = self._file.readline(LINE_BYTES)
            whole = line.endswith(b"\n") or (bool(line) and self.once)
            if not whole:
                if len(line) == LINE_BYTES:
                    raise LogError(f"{self.path}: a line is longer than {LINE_BYTES:,} bytes")
                self._file.seek(self._offset)  # the rest of the line is still to be written
                self.ended = self.once
                self._check()
                break
            try:
                text = _decoded(line, self.path)
                row = self.reader.row(text, f"{self.path}, line {self._number + 1}")
            except LogError:
                if not found:
                    raise
                self._file.seek(self._offset)
                break
            self._offset += len(line)
            self._number += 1
            if row is not None:
                found.append(row)
        return found

    def close(self) -> None:
        """See `Source.close`."""
        self._file.close()

    def _check(self) -> None:
        """Raises LogError where the file is not the one that was read, or lacks what was read."""
        here = os.fstat(self._file.fileno())
        try:
            there = os.stat(self.path)
        except OSError:
            there = here  # moved away: its writer may still have it open
        if here.st_size < self._offset:
            raise LogError(
                f"{self.path}: it is shorter than what was read of it, {self._offset:,} bytes: "
                "expected the same log, or another --state"
            )
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            raise LogError(
                f"{self.path}: another file has taken its place: a log that is rotated is best "
                "piped to -"
            )


class PipeSource:
    """Standard input: what comes is new, and it cannot be read again."""

    place: str | None = None

    def __init__(self, reader: RowReader) -> None:
        self.reader, self._number = reader, 0
        self._begun = b""
        self._wrong: LogError | None = None
        self.ended = False
        self.trouble: str | None = None

    def rows(self, most: int) -> list[Row]:
        """See `Source.rows`: all that has come, waiting a moment for it."""
        del most  # what was taken from a pipe is gone, so that nothing of it may wait
        if self._wrong is not None:
            raise self._wrong
        with selectors.DefaultSelector() as selector:
            try:
                selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
                if not selector.select(_LOOK):
                    return []
            except PermissionError:
                pass  # a file, which always has something to say
        part = os.read(sys.stdin.fileno(), 1 << 20)
        self.ended = not part
        *lines, self._begun = (self._begun + part).split(b"\n")
        if self.ended and self._begun:
            lines, self._begun = [*lines, self._begun], b""
        if len(self._begun) > LINE_BYTES:
            raise LogError(f"{shown_path('-')}: a line is longer than {LINE_BYTES:,} bytes")
        return self._parsed(lines)

    def _parsed(self, lines: Iterable[bytes]) -> list[Row]:
        """Rows up to the first that cannot be read, which is raised when the next are asked for."""
        found: list[Row] = []
        for line in lines:
            self._number += 1
            try:
                place = f"{shown_path('-')}, line {self._number}"
                row = self.reader.row(_decoded(line, "-"), place)
            except LogError as error:
                if not found:
                    raise
                self._wrong = error
                break
            if row is not None:
                found.append(row)
        return found

    def close(self) -> None:
        """See `Source.close`: standard input stays open."""


class ServerSource:
    """`GET URL?cursor=PLACE`, answered by `{"rows": [...], "cursor": "..."}`, polled.

    A row is an object as JSON Lines has them. The cursor is the server's own; without rows it
    stays. A server that cannot be reached is asked again. once: ends where no row has come.
    """

    def __init__(self, url: str, reader: RowReader, place: str | None, once: bool) -> None:
        import httpx

        self.url, self.reader, self.place, self.once = url, reader, place, once
        self.ended = False
        self.trouble: str | None = None
        try:
            httpx.URL(url)
        except (httpx.InvalidURL, ValueError):
            raise LogError(f"{shown_spec(url)}: no address of a server") from None
        self._client = httpx.Client(timeout=_SECONDS, trust_env=False)

    def rows(self, most: int) -> list[Row]:
        """See `Source.rows`: those of one reply."""
        del most  # a reply is as long as its server makes it, and its cursor is after all of it
        import httpx

        shown = shown_spec(self.url)
        try:
            asked = {} if self.place is None else {"cursor": self.place}
            reply = self._client.get(self.url, params=asked)
            reply.raise_for_status()
        except httpx.HTTPError as error:
            if self.once:
                raise LogError(f"{shown}: {error}") from None
            self.trouble = f"{shown}: {error}; it is asked again"
            return []
        self.trouble = None
        tables, cursor = _handed_out(reply, shown)
        rows = [self.reader.of_table(t, f"{shown}, row {i}") for i, t in enumerate(tables, 1)]
        self.place = cursor
        self.ended = self.once and not rows
        return rows

    def close(self) -> None:
        """See `Source.close`."""
        self._client.close()


def source_of(log: str, reader: RowReader, place: str | None, once: bool) -> Source:
    """From a LOG as typed. Raises LogError."""
    if log == "-":
        return PipeSource(reader)
    if log.lower().startswith(("http://", "https://")):
        return ServerSource(log, reader, place, once)
    return FileSource(log, reader, place, once)


def _handed_out(reply: Any, shown: str) -> tuple[list[dict[str, Any]], str]:
    """The rows and the cursor of a server's reply. Raises LogError."""
    try:
        found = reply.json()
        tables, cursor = found["rows"], str(found["cursor"])
    except (ValueError, KeyError, TypeError, RecursionError):
        tables, cursor = None, ""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise LogError(f'{shown}: expected {{"rows": [{{...}}, ...], "cursor": "..."}}')
    return tables, cursor


def _numbers(place: str | None) -> tuple[int, int]:
    """Bytes and lines that were read of a file. Raises LogError for the place in another log."""
    words = (place or "0 0").split()
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        raise LogError("--state: what was read so far was no file: expected the same log")
    return int(words[0]), int(words[1])


def _decoded(line: bytes, path: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise LogError(f"{shown_path(path)}: not UTF-8 text") from None
