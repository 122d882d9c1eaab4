"""A monitor over a long log, killed many times, ends as if it had not been.

`python -m benchmarks.soak --rows N --kills K`: writes a log of N correct rows over 1,000
histograms, follows it unbroken, with peak memory and the size of the state after 100,000 rows, a
tenth and all of them, then follows the last nine tenths again with K times `kill -9`, and compares
all that the two states hold. Stopped, it goes on where it was when it is run again with the same
numbers.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from dpassay.reference.parallel.kept import LINE_SECONDS

from .long_runs import KEPT

HISTOGRAMS, BLOCK = 1000, 100_000
CLAIM = """
[mechanism]
name = "gnmax"
noise = "gaussian:40"
classes = 10
teachers = 250
"""
_LOOK = 0.05  # seconds between two looks at how far a monitor has read


def rows_of(block: int) -> str:
    """The rows of a block of the log, the same whenever they are written."""
    fixed = np.random.default_rng(0)
    pool = fixed.multinomial(250, fixed.dirichlet(np.full(10, 0.3), HISTOGRAMS))
    rng = np.random.default_rng([1, block])
    votes = pool[rng.integers(0, HISTOGRAMS, BLOCK)]
    labels = (votes + rng.normal(0.0, 40.0, votes.shape)).argmax(-1)
    rows = np.column_stack([votes, labels]).tolist()
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


class Soak:
    """The folder of one soak: its log, the claim, the two states, and how far they are."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.folder, self.rows = folder, rows
        folder.mkdir(parents=True, exist_ok=True)
        self.log, self.claim = folder / "log.csv", folder / "claim.toml"
        self.claim.write_text(CLAIM)
        self.notes = folder / "notes.json"
        self.begun = max(BLOCK, rows // 10 // BLOCK * BLOCK)
        self._told = time.monotonic()

    def noted(self) -> dict[str, list[object]]:
        """What was measured so far, by name."""
        return dict(json.loads(self.notes.read_text())) if self.notes.exists() else {}

    def note(self, name: str, found: list[object]) -> None:
        """Keeps what was measured."""
        whole = self.folder / "notes.part"
        whole.write_text(json.dumps(self.noted() | {name: found}))
        whole.replace(self.notes)

    def grow(self, rows: int) -> None:
        """Lets the log have so many rows; whole blocks that were written are kept."""
        head = ",".join(f"class {k}" for k in range(10)) + ",label\n"
        if not self.log.exists():
            self.log.write_text(head)
        with self.log.open("rb+") as file:
            lines = sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b"")) - 1
            if lines >= rows:
                return
            if lines % BLOCK:  # a block that was cut short is written anew
                raise SystemExit(f"{self.log}: cut short: remove {self.folder}")
            for block in range(lines // BLOCK, rows // BLOCK):
                file.write(rows_of(block).encode())

    def start(self, state: str) -> "subprocess.Popen[bytes]":
        """A monitor that follows the log to its end."""
        words = [sys.executable, "-m", "dpassay.verifiers.cli", "monitor", str(self.log), "--once"]
        words += ["--claim", str(self.claim), "--state", str(self.folder / state)]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read(self, state: str) -> int:
        """Rows that a state has read."""
        path = self.folder / state / "monitor.sqlite"
        if not path.exists():
            return 0
        with closing(sqlite3.connect(path, timeout=60.0)) as base:
            found = base.execute("SELECT place FROM state").fetchall()
        return int(found[0][0].split()[1]) - 1 if found else 0

    def follow(self, state: str) -> list[object]:
        """Follows to the end: CPU seconds, peak memory and size of the state in MB."""
        child = self.start(state)
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            self.tell(state)
            time.sleep(_LOOK)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"the monitor of {state} ended with status {child.returncode}")
        size = sum(file.stat().st_size for file in (self.folder / state).iterdir())
        return [used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, size / 2**20]

    def follow_until(self, state: str, rows: int, seconds: float) -> None:
        """Follows until some seconds after so many rows were read, and is killed there."""
        child = self.start(state)
        while self.read(state) < rows:
            if child.poll() is not None:
                raise SystemExit(f"the monitor of {state} ended with status {child.returncode}")
            self.tell(state)
            time.sleep(_LOOK)
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        child.wait()

    def tell(self, state: str) -> None:
        """A line, once a minute."""
        if time.monotonic() - self._told >= LINE_SECONDS:
            self._told = time.monotonic()
            print(f"{state}: {self.read(state):,} of {self.rows:,} rows", flush=True)

    def content(self, state: str) -> list[object]:
        """The rows of all tables of a state."""
        with closing(sqlite3.connect(self.folder / state / "monitor.sqlite")) as base:
            tables = ("state", "histograms", "inputs", "alarms")
            return [base.execute(f"SELECT * FROM {t} ORDER BY 1").fetchall() for t in tables]


def unbroken(soak: Soak) -> None:
    """Follows the log by parts, with what each takes; the other state begins as a copy.

    It is that of the state before the last part: rows are read some thousand at a time, and what
    is read at once decides how sums are rounded.
    """
    last = 0
    for rows in sorted({BLOCK, soak.begun, soak.rows}):
        name = f"unbroken {rows}"
        if name not in soak.noted():
            soak.grow(rows)
            soak.note(name, soak.follow("unbroken"))
        if rows == soak.begun and "broken" not in soak.noted():  # one stream of uniforms for both
            shutil.rmtree(soak.folder / "broken", ignore_errors=True)
            shutil.copytree(soak.folder / "unbroken", soak.folder / "broken")
            soak.note("broken", [])
        seconds, memory, size = (float(str(value)) for value in soak.noted()[name])
        print(
            f"{rows:,} rows: the last {rows - last:,} at {(rows - last) / seconds:,.0f} a second "
            f"of CPU; peak memory {memory:.0f} MB; state {size:.2f} MB",
            flush=True,
        )
        last = rows


def main() -> None:
    parser = argparse.ArgumentParser(description="A monitor killed many times.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="a multiple of 100,000")
    parser.add_argument("--kills", type=int, default=20)
    asked = parser.parse_args()
    if asked.rows % BLOCK or asked.rows < BLOCK or asked.kills < 0:
        parser.error(f"--rows: expected a multiple of {BLOCK:,}; --kills: 0 or more")
    soak = Soak(KEPT / f"soak-{asked.rows}-{asked.kills}", asked.rows)
    unbroken(soak)
    pauses = np.random.default_rng(2).uniform(0.0, 2.0, asked.kills)
    killed = len(soak.noted()["broken"])
    for number in range(killed, asked.kills):
        wanted = soak.begun + (soak.rows - soak.begun) * number // asked.kills
        soak.follow_until("broken", wanted + 1, float(pauses[number]))
        soak.note("broken", [*soak.noted()["broken"], soak.read("broken")])
    soak.follow("broken")
    same = soak.content("broken") == soak.content("unbroken")
    print(
        f"killed {asked.kills} times, after {soak.noted()['broken']} rows: "
        + ("the same state" if same else "ANOTHER STATE")
    )
    sys.exit(not same)


if __name__ == "__main__":
    main()
