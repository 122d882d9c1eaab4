"""Whole runs on targets with a fault behind one condition, and on correct ones of the same look.

Without the search each of these faults passes: its condition holds in no planned answer, or in a
few hundred. Level: each run accuses with probability at most 1e-6. Power: the labels at the
condition have no noise, so that the evidence there is the same in every run, beyond the threshold.
"""

import os
from pathlib import Path

import pytest

from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify

CLAIM = {"mechanism": {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}}

TARGET = """
import numpy as np

rng = np.random.default_rng()
CHUNK = 1 << 10


def aggregate(histogram, size):
    h = np.asarray(histogram)
    second = int(np.sort(h)[-2])
    scale = {factor} * 40.0 + 1e-9 if {condition} else 40.0
    return (h + rng.normal(0, scale, (size, h.size))).argmax(-1)
"""

CONDITIONS = {
    "the votes of the second class": "second == 47",
    "the remainder of a size": "size % CHUNK == 7 and size > 900",
    "the votes of one class": "h[3] == 61",
}


def _run(folder: Path, condition: str, factor: float, **gate: object) -> Report:
    file = folder / "target.py"
    file.write_text(TARGET.format(condition=condition, factor=factor))
    claim = parse_claim({**CLAIM, "gate": gate})
    target = open_claimed(f"{file}:aggregate", claim)
    try:
        return verify(target, claim, seed=11)
    finally:
        target.close()


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("where", CONDITIONS)
def test_missing_noise_behind_a_condition_fails_and_names_the_line(
    tmp_path: Path, where: str
) -> None:
    report = _run(tmp_path, CONDITIONS[where], 0.0)
    assert report.verdict == "fail"
    failed = next(one for one in report.checks if one.id == "class-probabilities")
    assert "target.py:11" in failed.message
    assert report.queries < 20_000


@pytest.mark.slow("whole runs")
def test_the_same_condition_with_the_claimed_noise_passes_and_says_what_was_asked(
    tmp_path: Path,
) -> None:
    report = _run(tmp_path, CONDITIONS["the votes of the second class"], 1.0)
    assert report.verdict == "pass"
    passed = next(one for one in report.checks if one.id == "class-probabilities")
    assert "target.py:11 (second == 47: true)" in passed.message
    assert "counted on a copy (audit hook" in passed.message
    assert report.queries <= 200_000
    (hint,) = [one for one in report.notes if one.code == "code-hint"]
    assert hint.message.endswith("target.py:12: the scale of the noise is made of the histogram")


@pytest.mark.slow("a whole run")
def test_without_the_search_the_fault_passes_and_nothing_is_said_of_the_code(
    tmp_path: Path,
) -> None:
    report = _run(tmp_path, CONDITIONS["the votes of one class"], 0.0, paths=False)
    assert report.verdict == "pass"
    passed = next(one for one in report.checks if one.id == "class-probabilities")
    assert "decisions" not in passed.message


@pytest.mark.slow("a whole run")
def test_a_state_outside_the_process_is_left_alone_unless_the_claim_allows_it(
    tmp_path: Path,
) -> None:
    report = _run(tmp_path, "False", 1.0, restart=f"true {os.getpid()}")
    told = [note.message for note in report.notes if note.code == "paths-left-out"]
    assert len(told) == 1
    assert "were not counted: the claim names restart" in told[0]
