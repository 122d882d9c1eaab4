"""`dpassay verify --ledger FILE`: what the command adds to the file, and says of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from claims import COARSE, SMALL, in_toml
from typed import typed

TARGET = """
import numpy as np

RNG = np.random.default_rng(3)


def aggregate(histogram, size):
    noise = RNG.normal(0.0, {scale}, (size, len(histogram)))
    return (np.asarray(histogram) + noise).argmax(1)
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
    assert again["queries"] < first["queries"] or first["queries"] < 500
    (folder / "target.py").write_text(TARGET.format(scale=10.0))
    mended = verified("--max-queries", "500")
    assert mended["verdict"] == "inconclusive"
    runs = [report["ledger"]["run"] for report in (first, again, mended)]
    builds = [report["ledger"]["builds"] for report in (first, again, mended)]
    assert (runs, builds) == ([1, 2, 3], [1, 1, 2])
    named = verified("--max-queries", "500", "--build", "1.4.2")
    assert named["ledger"]["build"] == "1.4.2"
    lines = [json.loads(line) for line in (folder / "l.jsonl").read_text().splitlines()]
    assert [line["verdict"] for line in lines if line["entry"] == "end"] == [
        *("fail", "fail"),
        *("inconclusive", "inconclusive"),
    ]


@pytest.mark.slow("a run of some seconds")
def test_the_report_has_lines_of_it(folder: Path) -> None:
    done = typed(
        *("verify", "--claim", "claim.toml", "--max-queries", "300", "--ledger", "l.jsonl"),
        *("--report", "report"),
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ledger: ")]
    assert len(lines) >= 3
    assert 'id="ledger"' in (folder / "report" / "index.html").read_text()
