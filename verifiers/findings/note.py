"""A sentence of a report with its code, by which programs know it.

Registries of checks have these at every start of pytest, so nothing heavy is imported here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

_AT_LINE = re.compile(r"([^:]*):.+:\d+")

if TYPE_CHECKING:
    Fields = Mapping[str, Any]  # whoever reads a field knows its type, by its code
else:
    Fields = Mapping[str, str | int | float | bool | list[int] | None]
"""What a code is about: its parameters by name, such as the factor of a scale."""


@dataclass(frozen=True)
class Note:
    """A warning, or a reason why a check says nothing: the code stays, the message may change.

    code: one of the table in `codes.toml`; message: in full; fields: the parameters of the code.
    """

    code: str
    message: str
    fields: Fields = field(default_factory=dict)

    @property
    def at_line(self) -> str | None:
        """It at its line, as `allow` of `[gate]` spares one: `path-never:file.py:12`; else None."""
        if "file" not in self.fields or "line" not in self.fields:
            return None
        return f"{self.code}:{self.fields['file']}:{self.fields['line']}"

    def __str__(self) -> str:
        return self.message


def allowed_code(entry: str) -> str:
    """The code of an entry of `allow` in `[gate]`: the entry itself, or what it names at a line."""
    at_line = _AT_LINE.fullmatch(entry)
    return entry if at_line is None else at_line[1]
