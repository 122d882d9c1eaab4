"""What the coverage file of a target's own tool says was not exercised by a run."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence

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


def uncovered_notes(places: Sequence[Uncovered]) -> list[Note]:
    """The warnings of a pass: five places at most, three of a file, and how many more there are."""
    of_file, shown = Counter[str](), list[Uncovered]()
    for place in places:
        if len(shown) < _LINES and of_file[place.file] < _OF_A_FILE:
            of_file[place.file] += 1
            shown.append(place)
    more = len(places) - len(shown)
    last = f"; {more:,} more in the JSON report" if more else ""
    return [
        Note(
            "coverage-never",
            f"not exercised by what was asked: {one.place}{last if one is shown[-1] else ''}",
            {"file": one.file, "line": one.first, "last": one.last, "branches": one.branches},
        )
        for one in shown
    ]


def _from_here(path: str) -> str:
    """A path as seen from the working directory where it lies there, else as it stands."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here)[:_LONGEST]
