"""`dpassay verify --ledger FILE`: what the command adds to the file, and says of it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import COARSE, SMALL, in_toml
from typed import typed

from dpassay.verifiers.ledger.chain import read_lines
from dpassay.verifiers.ledger.history import LedgerHistory

TARGET = """
import numpy as np

RNG = np.random.default_rng(3)


def aggregate(histogram, size):
    noise = RNG.normal(0.0, {scale}, (size, len(histogram)))
    return (np.asarray(histogram) + noise).argmax(1)
"""


HANGS = """
import pathlib, time

ANSWERED = 0


def hangs(histogram, size):
    global ANSWERED
    ANSWERED += size
    if ANSWERED > {labels}:
        pathlib.Path("hangs").touch()
        time.sleep(300)
    return aggregate(histogram, size)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claim.toml").write_text(in_toml(mechanism=SMALL, gate=COARSE))
    (tmp_path / "target.py").write_text(TARGET.format(scale=10.0))
    return tmp_path


def verified(*options: str) -> dict[str, Any]:
    line = ("verify", "target.py:aggregate", "--claim", "claim.toml", "--no-paths", "--json")
    done = typed(*line, "--check", "noise-scale", "--ledger", "l.jsonl", *options)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.slow("four runs, each of a process of its own")
def test_a_failure_stands_for_its_build_and_no_other(folder: Path) -> None:
    """Catches a build that is not told from the one before, and a run that is left out."""
    (folder / "target.py").write_text(TARGET.format(scale=4.0))
    first, again = verified("--max-queries", "3000"), verified("--max-queries", "3000")
    assert [report["verdict"] for report in (first, again)] == ["fail", "fail"]
    assert again["queries"] < 100 < first["queries"]
    for report in (first, again):  # the runs before are part of the verdict
        (told,) = {one["reproduce"] for one in report["checks"] if one["verdict"] == "fail"}
        assert "--ledger l.jsonl --seed" in told
    (folder / "target.py").write_text(TARGET.format(scale=10.0))
    mended = verified("--max-queries", "500")
    assert mended["verdict"] == "inconclusive"
    runs = [report["ledger"]["run"] for report in (first, again, mended)]
    builds = [report["ledger"]["builds"] for report in (first, again, mended)]
    assert (runs, builds) == ([1, 2, 3], [1, 1, 2])
    named = verified("--max-queries", "500", "--build", "1.4.2")
    assert named["ledger"]["build"] == "1.4.2"
    (told,) = {one["reproduce"] for one in named["checks"] if one["verdict"] == "inconclusive"}
    assert "--ledger l.jsonl --build 1.4.2 --seed" in told
    lines = [json.loads(line) for line in (folder / "l.jsonl").read_text().splitlines()]
    assert [line["verdict"] for line in lines if line["entry"] == "end"] == [
        *("fail", "fail"),
        *("inconclusive", "inconclusive"),
    ]


def killed(folder: Path, labels: int) -> None:
    """A run that is killed with all of its processes, once its target has answered so many."""
    (folder / "target.py").write_text(TARGET.format(scale=7.0) + HANGS.format(labels=labels))
    line = ["verify", "target.py:hangs", "--claim", "claim.toml", "--no-paths", "--ledger"]
    command = [sys.executable, "-m", "dpassay.verifiers.cli", *line, "l.jsonl", "--build", "a"]
    with subprocess.Popen(
        [*command, "--check", "noise-scale"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            while not (folder / "hangs").exists() and process.poll() is None:
                time.sleep(0.02)
            time.sleep(0.2)
            assert process.poll() is None, "it ended before it was killed"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow("a run in processes of its own, which are killed, and another")
def test_a_run_that_is_killed_counts_by_its_last_look(folder: Path) -> None:
    """Catches a lock that stays, a run that is forgotten, and one that counts as if it had ended.

    The noise has .7 of the claimed scale, so that the last look is no look without evidence.
    """
    killed(folder, labels=300)
    lines = [json.loads(line) for line in (folder / "l.jsonl").read_text().splitlines()]
    assert [line["entry"] for line in lines if line["entry"] in ("begin", "end")] == ["begin"]
    last = [line for line in lines if line["entry"] == "look"][-1]
    (folder / "hangs").unlink()
    (folder / "target.py").write_text(TARGET.format(scale=10.0))
    after = verified("--max-queries", "300", "--build", "a")
    (told,) = after["ledger"]["checks"]
    assert (after["ledger"]["run"], told["runs"], after["ledger"]["told"]) == (2, 2, [])
    history = LedgerHistory(folder / "l.jsonl", read_lines(folder / "l.jsonl").entries)
    assert [run.verdict for run in history.runs] == [None, "inconclusive"]
    assert history.runs[0].queries == last["queries"] >= 100
    (whole,) = history.wholes["noise-scale"]
    written = [float(log) for log in last["checks"]["noise-scale"]["logs"]]
    assert whole.of_build["a"][0].tolist() == written
    assert np.ptp(written) > 1.0
    assert whole.all_runs.runs == 2


@pytest.mark.slow("a run of some seconds")
def test_the_report_has_lines_of_it(folder: Path) -> None:
    done = typed(
        *("verify", "--claim", "claim.toml", "--max-queries", "300", "--ledger", "l.jsonl"),
        *("--report", "report"),
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ledger: ")]
    assert len(lines) >= 3
    assert 'id="ledger"' in (folder / "report" / "index.html").read_text()
