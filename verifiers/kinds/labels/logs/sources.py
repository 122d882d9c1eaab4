"""Sources of a growing log: a file, standard input, or a server that returns rows."""

import os
import selectors
import sys

from ....inputs.input_error import RowsError
from ....inputs.log_file import LINE_BYTES, shown_path
from ....inputs.release_log import LogError, Row, RowReader
from ....targets import shown_spec
from .followed_file import BLOCK, FileSource, Source, row_of, unread_text

_SECONDS = 30.0  # that a server may take to return rows
_LOOK = 0.5  # seconds to wait for input from a pipe


class PipeSource(Source):
    """Standard input, which cannot be read again and stays open."""

    def __init__(self, reader: RowReader) -> None:
        self.reader, self._number = reader, 0
        self._begun = b""
        self._wrong: RowsError | None = None

    def rows(self, most: int) -> list[Row]:
        """All that has come, after a short wait."""
        del most  # what was read from a pipe is gone, so all of it is returned
        if self._wrong is not None:
            raise self._wrong
        with selectors.DefaultSelector() as selector:
            try:
                selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
                if not selector.select(_LOOK):
                    return []
            except PermissionError:
                pass  # a regular file, which is always readable
        part, name = os.read(sys.stdin.fileno(), BLOCK), shown_path("-")
        self.ended = not part
        *lines, self._begun = (self._begun + part).split(b"\n")
        self.unread = unread_text(self._begun, f"{name}, line {self._number + len(lines) + 1}")
        if len(self._begun) > LINE_BYTES:
            raise LogError(f"{name}: a line is longer than {LINE_BYTES:,} bytes")
        found: list[Row] = []
        for line in lines:
            self._number += 1
            try:
                row = row_of(self.reader, line, "-", f"{name}, line {self._number}")
            except RowsError as error:
                if not found:
                    raise
                self._wrong = error  # which the next call raises, after the rows before it
                break
            found += [] if row is None else [row]
        return found


class ServerSource(Source):
    """A server, polled by `GET URL?cursor=PLACE` for `{"rows": [...], "cursor": "..."}`.

    A row is an object as in JSON Lines. The cursor is chosen by the server; without new rows it
    stays the same. A server that cannot be reached is asked again. once: whether the log ends when
    there are no rows.
    """

    def __init__(self, url: str, reader: RowReader, place: str | None, once: bool) -> None:
        import httpx

        self.url, self.reader, self.place, self.once = url, reader, place, once
        try:
            httpx.URL(url)
        except (httpx.InvalidURL, ValueError):
            message = f"{shown_spec(url)}: not the address of a server"
            raise LogError(message, code="value-not-allowed") from None
        self._client = httpx.Client(timeout=_SECONDS, trust_env=False)

    def rows(self, most: int) -> list[Row]:
        """The rows of one reply."""
        del most  # the cursor of a reply is after all of its rows
        import httpx

        shown = shown_spec(self.url)
        try:
            asked = {} if self.place is None else {"cursor": self.place}
            reply = self._client.get(self.url, params=asked)
            reply.raise_for_status()
        except httpx.HTTPError as error:
            if self.once:
                raise LogError(f"{shown}: {error}", code="file-unreadable") from None
            self.trouble = f"{shown}: {error}; it is asked again"
            return []
        self.trouble = None
        try:
            found = reply.json()
            tables, cursor = found["rows"], str(found["cursor"])
        except (ValueError, KeyError, TypeError, RecursionError):
            tables, cursor = None, ""
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise LogError(f'{shown}: expected {{"rows": [{{...}}, ...], "cursor": "..."}}')
        rows = [self.reader.of_table(t, f"{shown}, row {i}") for i, t in enumerate(tables, 1)]
        self.place = cursor
        self.ended = self.once and not rows
        return rows

    def close(self) -> None:
        self._client.close()


def source_of(log: str, reader: RowReader, place: str | None, once: bool) -> Source:
    """The source of a LOG, as typed on the command line. Raises RowsError."""
    if log == "-":
        return PipeSource(reader)
    if _is_url(log):
        return ServerSource(log, reader, place, once)
    if log.endswith(".parquet"):
        raise LogError(
            f"{log}: a Parquet file does not grow by lines: use dpassay verify --log for it",
            code="value-not-allowed",
        )
    return FileSource(log, reader, place, once)


def log_name(log: str) -> str:
    """The name of a LOG in a state, without secrets."""
    if log == "-":
        return shown_path(log)
    return shown_spec(log) if _is_url(log) else os.path.abspath(log)


def may_go_on(name: str, before: str) -> bool:
    """Whether a log may continue under another name: a file may, as its content is compared."""
    return name == before or (os.path.isabs(name) and os.path.isabs(before))


def _is_url(log: str) -> bool:
    return log.lower().startswith(("http://", "https://"))
