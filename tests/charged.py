"""`dpassay account` on rows of a file, and what it says they cost."""

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from typed import typed

HEADER = ",".join(f"votes_{k}" for k in range(10))
ROW = "4,7,6,8,4,2,0,214,4,1"
GNMAX = ["--mechanism", "gnmax", "--noise", "gaussian:40"]
CONFIDENT = [
    *("--mechanism", "confident-gnmax", "--noise", "gaussian:40"),
    *("--threshold", "200", "--threshold-noise", "gaussian:150"),
]


def run(text: str, *arguments: str, folder: Path) -> CompletedProcess[str]:
    path = folder / "histograms.csv"
    path.write_text(text)
    return typed("account", str(path), *arguments)


def charged(text: str, *arguments: str, folder: Path) -> Any:
    done = run(text, *arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
