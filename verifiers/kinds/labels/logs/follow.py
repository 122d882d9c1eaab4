"""Where a log that grows is read on: a file, standard input, or a server that hands out rows."""

import os
import selectors
import sys
from collections.abc import Iterable
from typing import Any, Protocol

from ....inputs.log_file import LINE_BYTES, shown_path
from ....inputs.release_log import LogError, Row, RowReader
from ....targets import shown_spec
from .followed_file import FileSource
from .lines import decoded, left_unread

_SECONDS = 30.0  # that a server may take to hand out rows
_LOOK = 0.5  # seconds that are waited for a pipe to say something


class Source(Protocol):
    """A log that is read on from a place, after the rows that were given so far."""

    ended: bool
    """Whether no more can come."""
    trouble: str | None
    """Why nothing can be read for now, where that may pass."""
    unread: str | None
    """What is left of the log, in words, where its last line has no end."""

    @property
    def place(self) -> str | None:
        """As text; None at the beginning, and where nothing can be read again."""

    def rows(self, most: int) -> list[Row]:
        """The next rows, about so many at most; none where nothing has come.

        Raises LogError for a row that cannot be read, once those before it have been given.
        """

    def close(self) -> None:
        """Reads no more."""


class PipeSource:
    """Standard input: what comes is new, and it cannot be read again."""

    place: str | None = None

    def __init__(self, reader: RowReader) -> None:
        self.reader, self._number = reader, 0
        self._begun = b""
        self._wrong: LogError | None = None
        self.ended = False
        self.trouble: str | None = None
        self.unread: str | None = None

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
        last = f"{shown_path('-')}, line {self._number + len(lines) + 1}"
        self.unread = left_unread(self._begun, last)
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
                row = self.reader.row(decoded(line, "-"), place)
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
        self.unread: str | None = None
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
    if _is_url(log):
        return ServerSource(log, reader, place, once)
    if log.endswith(".parquet"):
        raise LogError(
            f"{log}: a file of Parquet does not grow by lines: dpassay verify --log judges it"
        )
    return FileSource(log, reader, place, once)


def log_name(log: str) -> str:
    """What a state calls a LOG, in which no secrets stand."""
    if log == "-":
        return shown_path(log)
    return shown_spec(log) if _is_url(log) else os.path.abspath(log)


def may_go_on(name: str, before: str) -> bool:
    """Whether what was read as one log may go on as another: files may, whose content decides."""
    return name == before or (os.path.isabs(name) and os.path.isabs(before))


def _is_url(log: str) -> bool:
    return log.lower().startswith(("http://", "https://"))


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
