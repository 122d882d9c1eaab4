"""A coverage file in LCOV's format, as tools of many languages write it.

The format is that of "TRACEFILE FORMAT" in the manual page geninfo(1) of LCOV
(https://github.com/linux-test-project/lcov/blob/master/man/geninfo.1): one section per source file,
from `SF:` to `end_of_record`. Written too by coverage.py, c8, llvm-cov (cargo-llvm-cov), gcov2lcov.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from .files import read_text
from .input_error import RowsError

_COUNTED = {"FNF", "FNH", "BRF", "BRH", "LF", "LH", "MCF", "MCH"}
"""Records with totals, which follow from the others."""

_PASSED_OVER = {"TN", "VER", "MCDC"}
"""Records of tests, versions, and of conditions within a branch."""

_COUNT = re.compile(r"\d+(\.\d+)?([eE]\+?\d+)?")  # LCOV's own scripts write large ones as 1.8e+19
_LARGEST_LINE = 10**9


@dataclass
class FileCoverage:
    """What ran of one source file.

    lines: of each line with code, how often it ran; branches: of each line with branches, by the
    block and the name of a branch, whether it was taken; functions: of each first line of one, how
    often it ran; ends: of first lines, the last line of the function, where the file says it.
    """

    path: str
    lines: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    branches: dict[int, dict[tuple[str, str], bool]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    functions: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    ends: dict[int, int] = field(default_factory=dict)


def read_lcov(path: str) -> tuple[FileCoverage, ...]:
    """The source files of the LCOV file at `path`, those named twice added together.

    Raises RowsError with one line that names the file, the line and what is expected.
    """
    found: dict[str, FileCoverage] = {}
    section: _Section | None = None
    for number, line in enumerate(read_text(path).split("\n"), 1):
        record = line.rstrip("\r")
        if not record.strip() or record.startswith("#"):
            continue
        try:
            section = _read(record, section, found)
        except ValueError as error:
            raise RowsError(f"{path}, line {number}: {record[:60]!r}: {error}") from None
    if section is not None:
        raise RowsError(f"{path}: it ends within the section of {section.file.path[:200]}")
    if not any(one.lines or one.branches for one in found.values()):
        raise RowsError(f"{path}: no line of code in it: expected LCOV's format, with SF and DA")
    return tuple(found.values())


class _Section:
    """A section that is being read; functions are known by name, or by a number."""

    def __init__(self, file: FileCoverage) -> None:
        self.file = file
        self._starts: dict[tuple[str, str], set[int]] = defaultdict(set)

    def read(self, name: str, rest: str) -> None:
        """Adds a record. Raises ValueError with what is expected."""
        fields = rest.split(",")
        if name == "DA" and len(fields) in (2, 3):
            self.file.lines[_line(fields[0])] += _count(fields[1])
        elif name == "BRDA" and len(fields) >= 4:
            self._branch(fields)
        elif name == "FN" and len(fields) >= 2:
            ranged = len(fields) >= 3 and fields[1].isdecimal()
            function = ",".join(fields[2 if ranged else 1 :])
            self._function("name", function, fields[0], fields[1] if ranged else None)
        elif name == "FNL" and len(fields) in (2, 3):
            self._function("number", fields[0], fields[1], fields[2] if fields[2:] else None)
        elif name == "FNDA" and len(fields) >= 2:
            self._ran("name", ",".join(fields[1:]), fields[0])
        elif name == "FNA" and len(fields) >= 2:
            self._ran("number", fields[0], fields[1])
        else:
            raise ValueError("no record of LCOV's format with such fields")

    def _branch(self, fields: list[str]) -> None:
        line, block, branch, taken = _line(fields[0]), fields[1], ",".join(fields[2:-1]), fields[-1]
        ran = taken != "-" and _count(taken) > 0
        if not block.startswith("e"):  # an exception that a call may raise: no way of the code's
            known = self.file.branches[line]
            known[block, branch] = known.get((block, branch), False) or ran

    def _function(self, by: str, known_as: str, first: str, last: str | None) -> None:
        start = _line(first)
        self._starts[by, known_as].add(start)
        self.file.functions[start] += 0
        if last is not None:
            self.file.ends[start] = max(self.file.ends.get(start, 0), _line(last))

    def _ran(self, by: str, known_as: str, times: str) -> None:
        count = _count(times)
        for start in self._starts.get((by, known_as), ()):
            self.file.functions[start] += count


def _read(record: str, section: _Section | None, found: dict[str, FileCoverage]) -> _Section | None:
    """The section that a record leaves open. Raises ValueError with what is expected."""
    name, colon, rest = record.partition(":")
    if section is None:
        if name == "TN" and colon:
            return None
        if name != "SF" or not rest.strip():
            raise ValueError("expected SF: and the path of a source file, as LCOV's format has it")
        return _Section(found.setdefault(rest.strip(), FileCoverage(rest.strip())))
    if record.strip() == "end_of_record":
        return None
    if name == "SF" or not colon:
        raise ValueError("expected records of a source file, then end_of_record")
    if name in _COUNTED:
        _count(rest)
    elif name not in _PASSED_OVER:
        section.read(name, rest)
    return section


def _line(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text[:12]) > _LARGEST_LINE:
        raise ValueError("expected the number of a line")
    return int(text)


def _count(text: str) -> float:
    if not _COUNT.fullmatch(text.strip()):
        raise ValueError("expected how often it ran, a number from 0")
    return float(text)


@dataclass(frozen=True)
class UnrunPlace:
    """Lines of a source file that did not run, or of which a branch was not taken.

    first, last: the lines, from 1; branches: whether it is told by branches, not by lines.
    """

    path: str
    first: int
    last: int
    branches: bool


def unrun_places(file: FileCoverage) -> Iterator[UnrunPlace]:
    """The places of a file that were not exercised, in their order, consecutive lines as one.

    Functions that never ran are left out as a whole, and so is a file of which nothing ran.
    """
    if not any(file.lines.values()) and not any(
        taken for ways in file.branches.values() for taken in ways.values()
    ):
        return
    by_branches = bool(file.branches)
    left_out = _never_called(file)
    if by_branches:
        missed = {line for line, ways in file.branches.items() if not all(ways.values())}
    else:
        missed = {line for line, times in file.lines.items() if not times}
    known = sorted(set(file.lines) | set(file.branches))
    first = last = None
    for line in known:
        if line in missed and line not in left_out:
            first, last = (line if first is None else first), line
        elif first is not None and (line in left_out or file.lines.get(line, 1.0) > 0):
            assert last is not None
            yield UnrunPlace(file.path, first, last, by_branches)
            first = None
    if first is not None and last is not None:
        yield UnrunPlace(file.path, first, last, by_branches)


def _never_called(file: FileCoverage) -> set[int]:
    """The lines of functions that never ran.

    Where their ends are unknown, one reaches to the next line that ran, or function that did.
    """
    known = sorted(set(file.lines) | set(file.branches))
    found = set[int]()
    for start, times in file.functions.items():
        if times:
            continue
        end = file.ends.get(start)
        for line in known[bisect_left(known, start) :]:
            if end is not None and line > end:
                break
            ran = line > start and (file.lines.get(line, 0) > 0 or file.functions.get(line, 0) > 0)
            if end is None and ran:
                break
            found.add(line)
    return found
