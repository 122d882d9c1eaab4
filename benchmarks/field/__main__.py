"""Real libraries through the gate for numbers, each in an environment of its own.

`python -m benchmarks.field [--only WORD] [--large] [--engines | --faults | --tallies]` from the
root makes the environments under .benchmarks/field (the first time; pip needs a network then),
judges every row of `rows.py` and writes docs/results/field.md; with an option, rows and pages are
those of `engines.py`, of `engine_faults.py`, or of `tallies.py`.
Stopped, it goes on where it was when it is run again.
"""

import argparse
import hashlib
import shlex
from pathlib import Path
from typing import Any

from ..long_runs import ROOT, Part, add_workers, carried_out, workers
from ..pages import print_or_write
from .engine_faults import FAULT_ROWS, FAULTS_LATER
from .engines import ENGINE_ROWS, ENGINES_LATER
from .environments import ENVIRONMENTS, NotInstalled
from .page import page
from .reported import reported
from .rows import CALLS, LATER, ROWS, Row
from .tallies import TALLIES_LATER, TALLY_ROWS

SEED = 1
TABLES = {
    "field": (ROWS, LATER),
    "engines": (ENGINE_ROWS, ENGINES_LATER),
    "engine-faults": (FAULT_ROWS, FAULTS_LATER),
    "field-tallies": (TALLY_ROWS, TALLIES_LATER),
}
"""The rows of each page, and what is not among them."""


def command(row: Row, interpreter: Path) -> list[str]:
    """The command that judges a row, from the repository's root."""
    child = shlex.join([str(interpreter.relative_to(ROOT)), *_script(row)])
    claim = str(row.claim_file.relative_to(ROOT))
    planned = [] if row.planned is None else ["--queries", str(row.planned)]
    return ["dpassay", "verify", f"exec:{child}", "--claim", claim, "--seed", str(SEED), *planned]


def _script(row: Row) -> list[str]:
    name, *words = shlex.split(row.script)
    return [str((CALLS / name).relative_to(ROOT)), *words]


def judged(name: str, digest: str) -> dict[str, Any]:
    """A row's report; digest: of the files that it is made of, so that others begin anew."""
    row = next(row for rows, _ in TABLES.values() for row in rows if row.name == name)
    words = command(row, ENVIRONMENTS[row.environment].python)
    return reported(words)


def part_of(row: Row) -> Part:
    """The row by name, with what its files say."""
    sums = hashlib.sha256()
    for path in (CALLS / shlex.split(row.script)[0], CALLS / "served.py", row.claim_file):
        sums.update(path.read_bytes())
    if row.planned is not None:
        sums.update(str(row.planned).encode())
    return (row.name, sums.hexdigest()[:16])


def made(asked: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """The rows whose environment is there, and why the others' is not."""
    missing: dict[str, str] = {}
    for name in dict.fromkeys(row.environment for row in _chosen(asked)):
        environment = ENVIRONMENTS[name]
        if environment.large and not (asked.large or environment.is_made):
            missing[name] = f"{name}, an environment of a gigabyte: `--large` makes it"
            continue
        try:
            environment.make()
        except NotInstalled as why:
            missing[name] = str(why)
    return [row for row in _chosen(asked) if row.environment not in missing], [*missing.values()]


def _chosen(asked: argparse.Namespace) -> list[Row]:
    return [row for row in TABLES[asked.page][0] if asked.only in row.name]


def main() -> None:
    parser = argparse.ArgumentParser(description="Real libraries through the gate for numbers.")
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose name has this word")
    parser.add_argument("--large", action="store_true", help="environments of a gigabyte too")
    of = parser.add_mutually_exclusive_group()
    for option, name, what in (
        ("--engines", "engines", "engines that release tables"),
        ("--faults", "engine-faults", "public faults of engines"),
        ("--tallies", "field-tallies", "tallies of several parties"),
    ):
        of.add_argument(option, dest="page", action="store_const", const=name, help=what)
    parser.set_defaults(page="field")
    add_workers(parser, default=1)
    asked = parser.parse_args()
    rows, missing = made(asked)
    with workers(asked) as executor:
        reports = carried_out(judged, [part_of(row) for row in rows], "field", executor)
    text = page(
        [
            (row, shlex.join(command(row, ENVIRONMENTS[row.environment].python)), report)
            for row, report in zip(rows, reports, strict=True)
        ],
        missing,
        TABLES[asked.page][1],
        asked.page,
    )
    print_or_write(f"{asked.page}.md", text, asked.only)


if __name__ == "__main__":
    main()
