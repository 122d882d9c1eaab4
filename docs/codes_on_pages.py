"""The codes of reports on the pages of the site, made from their table."""

import os
from pathlib import Path

from dpassay.verifiers.findings.codes import Code, codes
from dpassay.verifiers.findings.fixes import class_in_words, explained

DOCS = Path(__file__).parent
ALL_CODES = DOCS / "checks" / "codes.md"
SAMPLERS = DOCS / "how-to" / "samplers.md"
"""Where checks of samplers are told, which have no pages of their own."""
OTHERS = {"same-law": DOCS / "how-to" / "same-as.md"}
"""Where other checks without pages of their own are told."""


def pages_of(check: str) -> list[Path]:
    """The pages that tell of a check: that of labels, that of numbers, or both."""
    found = [DOCS / "checks" / folder / f"{check}.md" for folder in ("", "numbers")]
    return [page for page in found if page.exists()] or [OTHERS.get(check, SAMPLERS)]


def codes_of(page: Path) -> list[Code]:
    """The codes that have their anchor on a page, in the order of the table."""
    return [code for code in codes().values() if page in explained_on(code)]


def added_to(page: Path) -> str:
    """What the site adds to a page: its codes, each under a heading, or the table of all."""
    found = codes_of(page)
    told = [explained(code) for code in found]
    heading, table = (
        ("## Input that is refused", _table()) if page == ALL_CODES else ("## Codes", "")
    )
    return "\n\n".join([table, heading, *told, ""]) if found else ""


def explained_on(code: Code) -> list[Path]:
    """The pages where a code is explained: those of its checks, or that of all codes."""
    return [page for check in code.checks for page in pages_of(check)] or [ALL_CODES]


def _table() -> str:
    lines = ["", "| code | class | what it means |", "|---|---|---|"]
    for code in codes().values():
        page = os.path.relpath(explained_on(code)[0], ALL_CODES.parent)
        lines.append(f"| [{code.id}]({page}#{code.id}) | {class_in_words(code)} | {code.title} |")
    return "\n".join([*lines, ""])
