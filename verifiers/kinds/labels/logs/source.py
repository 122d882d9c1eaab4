"""A growing log, as a monitor reads it, and its lines."""

from ....inputs.log_file import shown_path
from ....inputs.release_log import LogError, Row


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


def decoded(line: bytes, path: str) -> str:
    """The text of a line of the file at `path`. Raises RowsError."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise LogError(f"{shown_path(path)}: not UTF-8 text") from None


def left_unread(line: bytes, place: str) -> str | None:
    """Why a last line without an end is not read: its label may be cut, as 11 to 1."""
    if not line:
        return None
    return (
        f"{place}: left unread: its {len(line):,} bytes do not end in a newline, so that part of "
        "the line may be missing"
    )
