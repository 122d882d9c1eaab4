"""What a check has to say for a report, and what it has come to."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .note import Fields, Note
from .verdict import Verdict

if TYPE_CHECKING:
    from .excluded import Excluded, Measured


@dataclass(frozen=True)
class Finding:
    """What a check has to say for a report: the facts, the likeliest cause, where it shows.

    Attributes:
        code: of the likeliest cause, or of what was seen where none is known; None for a pass.
        fields: the parameters of the code.
        figure: numbers that the report draws.
        warnings: for the report.
        log_odds: of the cause against the claim, None where it has no name.
        cause: in a few words, for the checks that the same fault fails.
        otherwise: the message where another check has found the cause, if this one's would mislead
            there.
        advice: what could be done about it, a line each.
        excludes: what a pass excludes.
        measured: what the answers left of a quantity.
    """

    message: str
    diagnosis: str | None = None
    histogram: tuple[int, ...] | None = None
    figure: Any = None
    warnings: tuple[Note, ...] = ()
    log_odds: float | None = None
    cause: str | None = None
    otherwise: str | None = None
    advice: tuple[str, ...] = ()
    code: str | None = None
    fields: Fields = field(default_factory=dict)
    excludes: tuple["Excluded", ...] = ()
    measured: "Measured | None" = None

    @classmethod
    def caused(
        cls, message: str, cause: Note, log_odds: float | None = None, /, **seen: Any
    ) -> "Finding":
        """A finding whose diagnosis is its cause; seen: fields of what the message tells beside."""
        words, fields = cause.message, {**cause.fields, **seen}
        return cls(message, words, cause=words, log_odds=log_odds, code=cause.code, fields=fields)

    def with_near(self, near: Note) -> "Finding":
        """It with a second cause, which explains what was seen nearly as well.

        Its code is the field `nearly`, and its fields have this before their names.
        """
        fields = {f"nearly_{name}": value for name, value in near.fields.items()}
        return replace(
            self,
            diagnosis=f"{self.diagnosis}; nearly as well: {near.message}",
            fields={**self.fields, "nearly": near.code, **fields},
        )

    @classmethod
    def of(cls, note: Note) -> "Finding":
        """A finding that says no more than why a check says nothing."""
        return cls(note.message, code=note.code, fields=note.fields)


@dataclass(frozen=True)
class Outcome:
    """What a check has come to by itself; queries: labels or releases that it looked at."""

    verdict: Verdict
    finding: Finding
    queries: int = 0
