"""Figures that are read from the pages of docs/results, or computed: no page types one by hand."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..pages import RESULTS
from . import shown
from .computed import COMPUTED

_REFERENCE = re.compile(r"\{([^{}]+)\}")


class UnreadableError(ValueError):
    """A reference to a figure that no page has."""


def filled(text: str, values: Mapping[str, Any] | None = None) -> str:
    """The text with each reference in braces replaced by its figure, a link to the page it is on.

    values: what the row's command printed, for references as `shown` has them.

    `{page: cell; cell -> column}` is the cell of the first row of a table that has these cells,
    `{page#heading: ...}` of the tables under a heading that has these words, `{page~words (.*)}`
    what a pattern finds in the page, and `{=name}` what a function of `computed.py` gives.
    Raises UnreadableError, or UnshownError.
    """
    return _REFERENCE.sub(lambda found: _figure(found.group(1), values or {}), text)


def _figure(reference: str, values: Mapping[str, Any]) -> str:
    if reference.startswith("$"):
        return shown.figure(values, reference[1:].strip())
    if reference.startswith("="):
        return COMPUTED[reference[1:]]()
    page = re.split(r"[~#:]", reference)[0]
    return f"[{_read(reference)}](../results/{page}.md)"


def _read(reference: str) -> str:
    page, mark, rest = re.split(r"([~#:])", reference, maxsplit=1)
    path = RESULTS / f"{page}.md"
    if not path.is_file():
        raise UnreadableError(f"{reference}: no page {page}")
    text = path.read_text()
    if mark == "~":
        found = re.search(rest, re.sub(r"\s+", " ", text))
        if found is None:
            raise UnreadableError(f"{reference}: the page has no such words")
        return found.group(1)
    if mark == "#":
        heading, _, rest = rest.partition(":")
        text = _under(text, heading.strip(), reference)
    cells, _, column = rest.partition("->")
    wanted = [_bare(cell) for cell in cells.split(";")]
    for head, row in _rows(text):
        if column.strip() in head and all(cell in row for cell in wanted):
            return row[head.index(column.strip())]
    raise UnreadableError(f"{reference}: no table has such a row and column")


def _under(text: str, heading: str, reference: str) -> str:
    """The part of a page from a heading to the next one of the same or a higher level."""
    found = re.search(rf"^(#+) [^\n]*{re.escape(heading)}[^\n]*$", text, re.MULTILINE)
    if found is None:
        raise UnreadableError(f"{reference}: the page has no such heading")
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found.group(1))}}} ", rest, re.MULTILINE)
    return rest if end is None else rest[: end.start()]


def _rows(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each row of each table of a page, with the head of its table; cells without brackets."""
    head: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [_bare(cell) for cell in line.strip().strip("|").split("|")]
        if not head:
            head = cells
        elif set(line) - set("|-: "):
            yield head, cells


def _bare(cell: str) -> str:
    """A cell without emphasis, and without what stands in brackets behind its figure."""
    plain = cell.replace("**", "").replace("`", "").strip()
    return re.sub(r"(?<=\d) \([^()]*\)$|(?<=%) \([^()]*\)$", "", plain)
