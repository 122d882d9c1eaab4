"""PATE code of public repositories through the gate, each at one commit.

`python -m benchmarks.field_pate [--code DIR] [--only WORD]` from the repository's root judges every
row of `rows.py` and writes docs/results/field-pate.md. DIR holds repositories named OWNER+NAME, or
OWNER+NAME/repo; without it they are cloned. A row whose code is not there is left out, and the page
says so. Stopped, it goes on where it was when it is run again.
"""

import argparse
import hashlib
import shlex
from pathlib import Path
from typing import Any

from ..field.environments import ENVIRONMENTS, NotInstalled
from ..field.reported import reported
from ..long_runs import ROOT, Part, add_workers, carried_out, workers
from ..pages import print_or_write
from .code_bases import CODE_BASES, NotThere
from .page import page
from .row import CALLS, Row
from .rows import ROWS

SEED = 1


def command(row: Row) -> list[str]:
    """The command that judges a row, from the repository's root."""
    calls = CALLS.relative_to(ROOT)
    target = str(calls / row.target)
    if row.source in ENVIRONMENTS:
        python = ENVIRONMENTS[row.source].python.relative_to(ROOT)
        target = f"exec:{python} {target}"
    words = ["dpassay", "verify", target, "--claim", str(calls / row.claim_file.name)]
    return [*words, *(["--check", row.alone] if row.alone else []), "--seed", str(SEED)]


def shown(row: Row) -> str:
    """Its code base and commit, or its library and version."""
    if row.source in CODE_BASES:
        return CODE_BASES[row.source].shown
    return row.source.replace("-", " ")


def judged(name: str, digest: str) -> dict[str, Any]:
    """A row's report; digest: of the files that it is made of, so that others begin anew."""
    return reported(command(next(row for row in ROWS if row.name == name)))


def part_of(row: Row) -> Part:
    """The row by name, with what its claim and the code that it calls say."""
    sums = hashlib.sha256(row.claim_file.read_bytes())
    if row.source in CODE_BASES:
        base = CODE_BASES[row.source]
        sums.update(b"".join((base.folder / file).read_bytes() for file in base.files))
    return (row.name, sums.hexdigest()[:16])


def made(rows: list[Row], code: Path | None) -> tuple[list[Row], list[tuple[str, str]]]:
    """The rows whose code is there; the calls of the others, and why not."""
    why: dict[str, str] = {}
    for source in dict.fromkeys(row.source for row in rows):
        try:
            if source in CODE_BASES:
                CODE_BASES[source].make(code)
            else:
                ENVIRONMENTS[source].make()
        except (NotThere, NotInstalled) as lack:
            why[source] = str(lack)
    there = [row for row in rows if row.source not in why]
    absent = [row for row in rows if row.source in why]
    return there, [(f"{shown(row)}, {row.call}", why[row.source]) for row in absent]


def main() -> None:
    parser = argparse.ArgumentParser(description="PATE code of others through the gate.")
    parser.add_argument("--code", type=Path, metavar="DIR", help="repositories named OWNER+NAME")
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose name has this word")
    add_workers(parser, default=1)
    asked = parser.parse_args()
    rows, missing = made([row for row in ROWS if asked.only in row.name], asked.code)
    with workers(asked) as executor:
        reports = carried_out(judged, [part_of(row) for row in rows], "field_pate", executor)
    text = page(
        [
            (row, shown(row), shlex.join(command(row)), report)
            for row, report in zip(rows, reports, strict=True)
        ],
        missing,
    )
    print_or_write("field-pate.md", text, asked.only)


if __name__ == "__main__":
    main()
