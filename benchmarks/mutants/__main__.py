"""`python -m benchmarks.mutants [--only WORDS]`: which tests find faults of one line.

A file of this folder names a folder or file of tests, and faults: a file of the package, a line of
it, what stands in its place, and the tests that must find it if they are others. Each is made in a
copy of the package, which the quick tests run on; what survives is told, and ends the command
with 1.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from ..long_runs import ROOT

PACKAGES = ("reference", "attacks", "verifiers")
QUICK = ("-q", "-x", "-m", "not slow", "--hypothesis-profile=quick")


class Mutant(NamedTuple):
    """A line of a file, from the repository's root, and what stands in its place."""

    tests: str
    file: str
    line: str
    instead: str

    @property
    def title(self) -> str:
        """One line that tells it."""
        return f"{self.file}: {self.line.strip()} -> {self.instead.strip()}"

    @property
    def text(self) -> str:
        """The whole file with the fault. Raises ValueError where the line does not stand once."""
        known = (ROOT / self.file).read_text()
        if known.count(self.line) != 1:
            raise ValueError(f"{self.title}: the line stands {known.count(self.line)} times")
        return known.replace(self.line, self.instead)


def mutants() -> list[Mutant]:
    """All of them, in the order of their files."""
    found = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        table = tomllib.loads(path.read_text())
        found += [Mutant(**{"tests": table["tests"], **row}) for row in table["mutant"]]
    return found


def killers(mutant: Mutant | None, tests: str) -> list[str]:
    """The tests that fail, of which the first ends the run; of None: of the package as it is.

    A file of tests that does not load is no test that fails: the fault is no Python then.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "dpassay"
        for package in PACKAGES:
            shutil.copytree(ROOT / package, copy / package)
        if mutant is not None:
            (copy / mutant.file).write_text(mutant.text)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *QUICK, tests],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if "\nERROR " in done.stdout:
        raise ValueError(f"{mutant and mutant.title}: the tests do not load\n{done.stdout[-2000:]}")
    return re.findall(r"^FAILED (.+?)(?: - |$)", done.stdout, re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS")
    asked = parser.parse_args()
    chosen = [mutant for mutant in mutants() if asked.only in mutant.title]
    for tests in dict.fromkeys(mutant.tests for mutant in chosen):
        if found := killers(None, tests):
            sys.exit(f"{tests} fails without a fault: {', '.join(found)}")
    alive = 0
    for mutant in chosen:
        found = killers(mutant, mutant.tests)
        alive += not found
        print(f"{mutant.title}\n    {found[0] if found else 'SURVIVES'}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} found")
    sys.exit(alive > 0)


if __name__ == "__main__":
    main()
