"""Figures that a row's own command prints: read from its JSON, and kept to draw the map at once.

`{$ expression -> format}` in a row is what the expression (JMESPath) finds in the JSON of the
command of that row, in a format of Python such as `.3f` or `.1%`. What commands printed is kept in
`shown/SOURCE.json` by `python -m benchmarks.map --run`; a test runs them again and compares.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jmespath

from ..long_runs import DATA, ROOT
from .sources import Row, Source

KEPT = Path(__file__).parent / "shown"

BEFORE = (
    "export PYTHONPATH=CLONE PATH=CLONE/.venv/bin:$PATH",
    "cp CLONE/docs/map/files/* .",
    "dpassay play --example .",
)
"""What a user types first, in an empty folder; CLONE is the folder of the clone."""

_REFERENCE = re.compile(r"\{\$([^{}]+)\}")


class UnshownError(ValueError):
    """A command that does not print what its row says that it shows."""


def references(row: Row) -> list[str]:
    """The references of a row to its command's output, without their braces."""
    return [found.strip() for text in (row.ours, row.apart) for found in _REFERENCE.findall(text)]


def figure(values: Mapping[str, Any], reference: str) -> str:
    """A figure as the map prints it. values: by expression, what the command printed.

    Raises UnshownError where the command has not been run since the row was written.
    """
    expression, _, form = (part.strip() for part in reference.partition("->"))
    if expression not in values:
        raise UnshownError(f"{reference}: not kept; run `python -m benchmarks.map --run WORDS`")
    value = values[expression]
    parts = value if isinstance(value, list) else [value]
    return ", ".join(format(part, form) for part in parts)


def as_json(command: str) -> list[str]:
    """The words of a row's command, with `--json`."""
    return [*shlex.split(command), *(() if "--json" in command else ("--json",))]


def values_of(row: Row, done: CompletedProcess[str]) -> dict[str, Any]:
    """What the row's command printed, by expression. Raises UnshownError if it shows less."""
    if done.returncode != row.status:
        raise UnshownError(
            f"{row.item}: {row.run}: ended with {done.returncode}, expected {row.status}\n"
            f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    document = json.loads(done.stdout)
    found = {}
    for reference in references(row):
        expression = reference.partition("->")[0].strip()
        found[expression] = jmespath.search(expression, document)
        if found[expression] in (None, []):
            raise UnshownError(f"{row.item}: {row.run}: nothing at {expression}")
    return found


def prepare(folder: Path) -> None:
    """Types what stands `BEFORE` the commands, in a folder."""
    for line in BEFORE:
        done = run(["sh", "-c", line.replace("CLONE", shlex.quote(str(ROOT)))], folder)
        assert done.returncode == 0, done.stderr


def run(arguments: list[str], folder: Path) -> CompletedProcess[str]:
    """Runs a command as somebody would in a folder, with this environment's programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "DPASSAY_DATA": str(DATA)}
    return subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def kept_values(source: Source) -> dict[str, dict[str, Any]]:
    """By command, what it printed when it was last run."""
    path = KEPT / f"{source.key}.json"
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def run_and_keep(source: Source, words: str) -> None:
    """Runs the commands of the rows whose item or command has these words, and keeps figures.

    A command of several rows is run once.
    """
    kept = kept_values(source)
    done: dict[str, CompletedProcess[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for row in source.rows:
            if row.run and references(row) and (words in row.item or words in row.run):
                print(f"{source.name}, {row.item}: {row.run}", flush=True)
                if row.run not in done:
                    done[row.run] = run(as_json(row.run), Path(folder))
                kept[row.run] = kept.get(row.run, {}) | values_of(row, done[row.run])
                _write(source, kept)


def _write(source: Source, kept: dict[str, dict[str, Any]]) -> None:
    """Keeps what rows refer to alone, in their order."""
    wanted: dict[str, dict[str, Any]] = {}
    for row in source.rows:
        for reference in references(row):
            expression = reference.partition("->")[0].strip()
            if expression in kept.get(row.run, {}):
                wanted.setdefault(row.run, {})[expression] = kept[row.run][expression]
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{source.key}.json").write_text(json.dumps(wanted, indent=1) + "\n")
