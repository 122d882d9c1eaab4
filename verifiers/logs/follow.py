"""Where a log that grows is read on: a file, standard input, or a server that hands out rows."""

import os
import sys
from typing import Any, Protocol

from ..inputs.release_log import LINE_BYTES, LogError, Row, RowReader, shown_path
from ..targets import shown_spec

_SECONDS = 30.0  # that a server may take to hand out rows


class Source(Protocol):
    """A log that is read on from a place, after the rows that were given so far."""

    @property
    def place(self) -> str | None:
        """As text; None at the beginning, and where nothing can be read again."""

    def rows(self, most: int) -> list[Row]:
        """The next rows, at most so many; none where nothing has come. Raises LogError."""

    @property
    def ended(self) -> bool:
        """Whether no more can come."""

    def close(self) -> None:
        """Reads no more."""


class FileSource:
    """A file that grows by whole lines. once: its last line counts although it has no end yet."""

    def __init__(self, path: str, reader: RowReader, place: str | None, once: bool) -> None:
        self.path, self.reader, self.once = path, reader, once
        offset, number = (int(part) for part in (place or "0 0").split())
        self._offset, self._number = offset, number
        self.ended = False
        try:
            self._file = open(path, "rb")  # noqa: SIM115 - read on for months
            if os.fstat(self._file.fileno()).st_size < offset:
                self._file.close()
                raise LogError(
                    f"{path}: it is shorter than what was read of it, {offset:,} bytes: expected "
                    "the same log, or another --state"
                )
            self._file.seek(offset)
        except OSError as error:
            raise LogError(f"{path}: {error.strerror or error}") from None

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
                break
            row = self.reader.row(_decoded(line, self.path), self._next_place())
            self._offset += len(line)
            self._number += 1
            if row is not None:
                found.append(row)
        return found

    def _next_place(self) -> str:
        return f"{self.path}, line {self._number + 1}"

    def close(self) -> None:
        """See `Source.close`."""
        self._file.close()


class PipeSource:
    """Standard input: what comes is new, and it cannot be read again."""

    place: str | None = None

    def __init__(self, reader: RowReader) -> None:
        self.reader, self._number = reader, 0
        self._begun = b""
        self.ended = False

    def rows(self, most: int) -> list[Row]:
        """See `Source.rows`: waits for something to come, and gives all of it."""
        del most  # what was taken from a pipe is gone, so that nothing of it may wait
        part = os.read(sys.stdin.fileno(), 1 << 20)
        self.ended = not part
        *lines, self._begun = (self._begun + part).split(b"\n")
        if self.ended and self._begun:
            lines, self._begun = [*lines, self._begun], b""
        found = []
        for line in lines:
            self._number += 1
            row = self.reader.row(_decoded(line, "-"), f"{shown_path('-')}, line {self._number}")
            if row is not None:
                found.append(row)
        return found

    def close(self) -> None:
        """See `Source.close`: standard input stays open."""


class ServerSource:
    """`GET URL?cursor=PLACE`, answered by `{"rows": [...], "cursor": "..."}`, polled.

    A row is an object as JSON Lines has them. The cursor is the server's own; without rows it
    stays. once: ends where no row has come.
    """

    def __init__(self, url: str, reader: RowReader, place: str | None, once: bool) -> None:
        import httpx

        self.url, self.reader, self.place, self.once = url, reader, place, once
        self.ended = False
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
            found: dict[str, Any] = reply.json()
            tables, cursor = found["rows"], found["cursor"]
        except httpx.HTTPError as error:
            raise LogError(f"{shown}: {error}") from None
        except (ValueError, KeyError, TypeError):
            raise LogError(f'{shown}: expected {{"rows": [...], "cursor": "..."}}') from None
        rows = [self.reader.of_table(t, f"{shown}, row {i}") for i, t in enumerate(tables, 1)]
        self.place = str(cursor)
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


def _decoded(line: bytes, path: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise LogError(f"{shown_path(path)}: not UTF-8 text") from None
