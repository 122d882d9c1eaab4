"""A run of numbers restarts its target: what is seeded at the start repeats its noise then."""

import sys
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import COUNT, HISTOGRAM

from dpassay.reference.numbers import sample
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import Selection
from dpassay.verifiers.targets import InProcessTarget

LEFT = Note("left-out-by-choice", "left out by --check")
ONLY = Selection({"noise-law": LEFT, "noise-scale": LEFT, "location": LEFT})
COARSE = "[gate]\nsmallest_effect = 0.1\ntolerance = 0.2\n"
TARGET = """
import os
import numpy as np

rng = np.random.default_rng({seed})

def aggregate(values, size):
    return np.array(values) + rng.laplace(0.0, 2.0, (size, len(values)))
"""
SERVED = """
import json, sys
{target}
for line in sys.stdin:
    asked = json.loads(line)
    released = aggregate(asked["values"], asked["size"])
    print(json.dumps({{"id": asked.get("id"), "releases": released.tolist()}}), flush=True)
"""


def judged(kind: str, seed: str, folder: Path) -> Report:
    """A histogram's noise under a generator that is made at the start."""
    target, path = TARGET.format(seed=seed), folder / f"served_{kind}.py"
    path.write_text(SERVED.format(target=target) if kind == "exec" else target)
    spec = f"exec:{sys.executable} {path}" if kind == "exec" else f"{path}:aggregate"
    claim = claimed(HISTOGRAM, COARSE)
    opened = open_claimed(spec, claim)
    try:
        return verify(opened, claim, seed=1, selection=ONLY)
    finally:
        opened.close()


def fresh(report: Report) -> Any:
    return next(check for check in report.checks if check.id == "fresh-noise")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("python", "os.getpid()"),
        pytest.param(
            *("exec", "os.getpid()"), marks=pytest.mark.slow("one in Python is spoken to alike")
        ),
        *(
            pytest.param(kind, "7", marks=pytest.mark.slow("a process id that is kept is one"))
            for kind in ("python", "exec")
        ),
    ],
)
def test_a_seed_set_at_the_start_is_found(kind: str, seed: str, tmp_path: Path) -> None:
    """Each start by itself is right: a run that restarts nothing passes it."""
    found = fresh(judged(kind, seed, tmp_path))
    assert found.verdict is Verdict.FAIL
    assert found.code == "seed-fixed"
    assert str(found.fields["repeated"]).endswith("before a restart")
    assert 0 < found.fields["matches"] <= found.fields["draws"]


@pytest.mark.slow("over half a second")
def test_fresh_seeds_pass(tmp_path: Path) -> None:
    found = fresh(judged("python", "", tmp_path))
    assert found.verdict is Verdict.PASS
    assert "after a restart was not seen to repeat" in found.message


@pytest.mark.slow("over half a second")
def test_state_that_is_saved_now_and_then_is_found() -> None:
    """A new start goes on from a point that the one before had passed; only the memory sees it."""
    claim, saved = claimed(COUNT), [0]

    def begun() -> Any:
        place = saved[0]
        rng = np.random.default_rng(5)
        drawn = sample(claim.mechanism.aggregation, [0], 400_000, rng)[:, 0]

        def aggregate(values: Any, size: int) -> Any:
            nonlocal place
            released = np.asarray(values) + drawn[place : place + size, None]
            place += size
            saved[0] = place // 1_000 * 1_000
            return released

        return aggregate

    target = InProcessTarget(begun(), release=claim.release, again=begun)
    found = fresh(verify(target, claim, seed=2, selection=ONLY))
    assert found.verdict is Verdict.FAIL


LOCKED = """
import sys
from pathlib import Path
if Path({lock!r}).exists():
    sys.exit("another instance runs")
Path({lock!r}).touch()
"""


@pytest.mark.slow("over half a second")
def test_a_target_that_starts_once_is_judged_to_the_end(tmp_path: Path) -> None:
    """A lock file left behind: the restart was an error of the run, and of half of its checks."""
    path, lock = tmp_path / "served.py", str(tmp_path / "lock")
    target = LOCKED.format(lock=lock) + TARGET.format(seed="")
    path.write_text(SERVED.format(target=target))
    claim = claimed(HISTOGRAM, COARSE)
    opened = open_claimed(f"exec:{sys.executable} {path}", claim)
    try:
        report = verify(opened, claim, seed=1)
    finally:
        opened.close()
    verdicts = {check.id: check.verdict for check in report.checks}
    for name in (
        "input-contract",
        "noise-law",
        "fresh-noise",
        "clipping",
        "sensitivity",
        "support",
    ):
        assert verdicts[name] is Verdict.PASS, name
    noted = [w for w in report.notes if w.code == "not-restarted"]
    assert any("another instance runs" in note.message for note in noted)


@pytest.mark.slow("over half a second")
def test_what_cannot_be_restarted_is_said() -> None:
    claim, rng = claimed(COUNT), np.random.default_rng(0)
    target = InProcessTarget(
        lambda values, size: sample(claim.mechanism.aggregation, values, size, rng),
        release=claim.release,
    )
    report = verify(target, claim, seed=1, selection=ONLY)
    assert "not-restarted" in [warning.code for warning in report.notes]


@pytest.mark.slow("over half a second")
def test_no_pass_while_a_restart_is_owed() -> None:
    """One query less than a pass takes ends a run before its restarts: it passed, and warned."""
    claim = claimed(HISTOGRAM, COARSE)

    def judged(most: int) -> Report:
        starts = count()  # the same noise in both runs, so that they part at their end alone

        def begun() -> Any:
            rng = np.random.default_rng([1, next(starts)])
            return lambda values, size: sample(claim.mechanism.aggregation, values, size, rng)

        target = InProcessTarget(begun(), release=claim.release, again=begun)
        return verify(target, claim.with_limits(most, None), seed=1, selection=ONLY)

    whole = judged(100_000)
    assert fresh(whole).verdict is Verdict.PASS
    report = judged(whole.queries - 1)
    assert fresh(report).verdict is report.verdict is Verdict.INCONCLUSIVE
    assert fresh(report).code == "not-restarted"
    assert fresh(report).fields["more"] > 1
