"""One decision in a target's source, and how reports name it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

YES, NO = "true", "false"
TAKEN = "taken"
NEVER_RUN, ONCE, OFTEN = "no turn", "one turn", "several turns"
CUT, WHOLE = "cut", "whole"
CHANGED, KEPT = "changed", "kept"

SHOWN = 60
"""Characters of the source that reports show."""

_NAMED = 2  # places on a pass


@dataclass(frozen=True)
class Decision:
    """One decision.

    file: its name alone; text: of the source, on one line, empty under `redact`; outcomes: the ways
    it may go; scope: the number of what counts the calls of its function, None at the level of the
    module; shown: whether a report may name it, as casts, clips and loops hardly ever tell of a
    mistake.
    """

    file: str
    line: int
    text: str
    outcomes: tuple[str, ...]
    scope: int | None = None
    shown: bool = True

    def shown_place(self, outcome: str | None = None) -> str:
        """Its line, with its text, as warnings name it; outcome: the way that none took."""
        text = f"not ({self.text})" if outcome == NO and self.text else self.text or outcome
        if self.text and outcome not in (None, YES, NO, TAKEN):
            text = f"{self.text}: {outcome}"
        return f"{self.file}:{self.line}" + (f" ({text})" if text else "")

    @property
    def fields(self) -> dict[str, Any]:
        """Where it stands, as the fields of a warning."""
        text = {"text": self.text} if self.text else {}
        return {"file": self.file, "line": self.line, **text}


def decision_words(place: str, text: str, outcome: str) -> str:
    """A decision and the way that it goes, as reports name them.

    place: `file.py:12`, empty where no line is known, so that the text says all; text: of the
    source, empty where reports show none.
    """
    if not place:
        return text
    return f"{place} ({text[:SHOWN]}: {outcome})" if text else f"{place} ({outcome})"


def asked_words(number: int, what: str, places: Iterable[str]) -> str:
    """What a pass says of inputs that were asked at decisions; what: was asked, in a word."""
    found = list(dict.fromkeys(places))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        f"{number:,} {what} were asked at decisions of the code: {', '.join(found[:_NAMED])}{more}"
    )
