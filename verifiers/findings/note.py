"""A sentence of a report with its code, by which programs know it.

Registries of checks have these at every start of pytest, so nothing heavy is imported here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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

    def __str__(self) -> str:
        return self.message
