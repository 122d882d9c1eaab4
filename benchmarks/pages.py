"""What the pages of docs/results share: tables in Markdown, and how a page is written."""

from collections.abc import Iterable

from .long_runs import ROOT

RESULTS = ROOT / "docs" / "results"


def head(columns: str) -> str:
    """The two lines above a table's rows; columns: their names, as in `one | other`."""
    return f"| {columns} |\n{'|---' * (columns.count('|') + 1)}|"


def print_or_write(name: str, text: str, only: str) -> None:
    """Prints a page of the rows named by `only`, or writes that of all rows to docs/results."""
    if only:
        print(text)
        return
    (RESULTS / name).write_text(text)
    print(f"written: {(RESULTS / name).relative_to(ROOT)}")


def write_page(name: str, lines: Iterable[str]) -> None:
    """Writes a page of docs/results."""
    (RESULTS / name).write_text("\n".join(lines) + "\n")
