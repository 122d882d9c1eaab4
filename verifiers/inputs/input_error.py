"""Something that dpassay was given and cannot take: an error of one line, with a code."""

import sys
from collections.abc import Iterator
from itertools import zip_longest

_CODES = {
    FileNotFoundError: "file-not-found",
    OSError: "file-unreadable",
    UnicodeDecodeError: "file-unreadable",
}
"""Codes of Python's own errors, the narrower first."""


class InputError(ValueError):
    """Something given that cannot be taken; the message is one line that says what is allowed.

    code: of the table of codes. By default that of the error that is handled meanwhile, as when a
    reader tells it again with the name of its file, and else that of the class.
    """

    code = "value-not-allowed"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code or _code_of(sys.exception()) or self.code


class OptionsError(InputError):
    """Options of a command that exclude each other, or of which one needs another."""

    code = "options-do-not-fit"


class RowsError(InputError):
    """A file that holds no such rows; the message names it, and the line or the row."""

    code = "rows-malformed"


class ColumnsError(RowsError):
    """A file without the columns, or keys, that are needed, or with others."""

    code = "columns-wrong"


class UnclaimedError(RowsError):
    """A histogram, a row or an id that is none of the claim's."""

    code = "not-of-the-claim"


def _code_of(error: BaseException | None) -> str | None:
    """The code of an error that was raised by us, or by Python for a file; None of others."""
    if isinstance(error, InputError):
        return error.code
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)


def lines_of(error: Exception) -> Iterator[str]:
    """The message of an error with its code in brackets; of a claim, a line for each mistake."""
    code = getattr(error, "code", InputError.code)
    lines, codes = getattr(error, "mistakes", (str(error),)), getattr(error, "codes", (code,))
    for line, its_code in zip_longest(lines, codes):
        yield line if its_code is None else f"{line} [{its_code}]"
