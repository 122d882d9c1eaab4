"""Lines of a log that is followed."""

from ....inputs.log_file import shown_path
from ....inputs.release_log import LogError


def decoded(line: bytes, path: str) -> str:
    """The text of a line of the file at `path`. Raises LogError."""
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
