"""What the coverage file of a target's own tool says was not exercised by a run."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from pydantic import Field

from ..inputs.lcov import FileCoverage, unrun_places
from .document import Document
from .note import Note

_LINES, _OF_A_FILE = 5, 3  # beside a verdict
_LONGEST = 200  # characters of a path


class Uncovered(Document):
    """Lines of a source file that no answer of the run took."""

    file: str = Field(description="As seen from the working directory, or as the file says it.")
    first: int = Field(ge=0, description="The first line.")
    last: int = Field(ge=0, description="The last line.")
    branches: bool = Field(
        description="Whether a branch of these lines was not taken; else no line of them ran."
    )

    @property
    def place(self) -> str:
        """The file and its lines, as reports name them."""
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines}"


def uncovered_places(files: Iterable[FileCoverage]) -> tuple[Uncovered, ...]:
    """All places of some source files, in their order."""
    return tuple(
        Uncovered(
            file=_from_here(place.path), first=place.first, last=place.last, branches=place.branches
        )
        for file in files
        for place in unrun_places(file)
    )


def uncovered_notes(places: Sequence[Uncovered], spared: Collection[str] = ()) -> list[Note]:
    """The warnings of a pass: five places at most, three of a file, and how many more there are.

    spared: lines that `allow` names, which come beside.
    """
    found = [
        Note(
            "coverage-never",
            f"not exercised by what was asked: {one.place}",
            {"file": one.file, "line": one.first, "last": one.last, "branches": one.branches},
        )
        for one in places
    ]
    shown = shown_lines(found, spared)
    if len(shown) < len(found):
        words = f"{shown[-1].message}; {len(found) - len(shown):,} more in the JSON report"
        shown[-1] = replace(shown[-1], message=words)
    return shown


def shown_lines(
    notes: Iterable[Note], spared: Collection[str] = (), most: int = _LINES
) -> list[Note]:
    """The warnings of lines of code that are told: so many at most, three of a file.

    spared: lines that `allow` names, as `path-never:file.py:12`. Their warnings come first and
    count for none, since the rules of a run leave them out.
    """
    allowed, shown, of_file = list[Note](), list[Note](), Counter[str]()
    for note in notes:
        file = str(note.fields["file"])
        if note.at_line in spared:
            allowed.append(note)
        elif len(shown) < most and of_file[file] < _OF_A_FILE:
            of_file[file] += 1
            shown.append(note)
    return allowed + shown


def _from_here(path: str) -> str:
    """A path as seen from the working directory where it lies there, else as it stands."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here)[:_LONGEST]
