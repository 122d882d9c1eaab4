"""Runs text in a process that confines itself, alone by a layer or by all of them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpassay.verifiers.paths import call_filter, landlock

_BEGINS = {
    "none": "",
    "all": "layers = confinement.confine(SCRATCH, RECORD)",
    "hook": """
confinement.landlock.restrict = lambda scratch: ()
confinement.call_filter.refuse_calls = lambda: ()
layers = confinement.confine(SCRATCH, RECORD)
""",
    "landlock": "layers = confinement.landlock.restrict(SCRATCH)",
    "seccomp": "layers = confinement.call_filter.refuse_calls()",
}

_CHILD = """
import os, sys
from pathlib import Path
from dpassay.verifiers.paths import confinement
SCRATCH, RECORD, OUTSIDE = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
"""

SWALLOWED = """
def act():
    {act}
try:
    act()
except:
    pass
print("went on")
"""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its status, what it printed and what it recorded."""

    status: int
    printed: str
    told: str
    records: list[dict[str, str]]


def run_confined(
    text: str, scratch: Path, outside: Path, layers: str = "all", **options: Any
) -> Ended:
    """Runs text that knows SCRATCH and OUTSIDE, after a process has confined itself.

    `layers` is what it knows of the layers that hold. What it leaves running is ended.
    """
    reader, writer = os.pipe()
    script = _CHILD + _BEGINS[layers] + "\n" + text
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(scratch), str(writer), str(outside)],
        pass_fds=[writer],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **({"cwd": scratch} | options),
    )
    os.close(writer)
    printed, told = child.communicate(timeout=60)
    with os.fdopen(reader) as file:
        records = [json.loads(line) for line in file]
    return Ended(child.returncode, printed, told, records)


def looks_of(folder: Path) -> dict[str, tuple[Any, ...]]:
    """All that is in a folder, with contents, modes and times."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (content, status.st_mode, status.st_uid, status.st_mtime_ns)
    return found


needs_landlock = pytest.mark.skipif(landlock.version() == 0, reason="no Landlock in this kernel")
needs_tcp_rules = pytest.mark.skipif(landlock.version() < 4, reason="no TCP rules in Landlock")
needs_signal_rules = pytest.mark.skipif(landlock.version() < 6, reason="none for signals either")
needs_seccomp = pytest.mark.skipif(not call_filter.is_known(), reason="no filter for this machine")
