"""An input of no records is asked: what is released must have the noise of any other."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import GRADIENT, SUM
from runs import result

from dpassay.reference.numbers import sample
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.numbers import argument_of_values

ENDS = """
import json, sys
import numpy as np

rng = np.random.default_rng()
for line in sys.stdin:
    asked = json.loads(line)
    exact = np.clip(np.array([r for r in asked["values"]], dtype=float), -1, 1).sum(0)
    assert len(asked["values"])
    released = exact + rng.laplace(0, 2, (asked["size"], 3))
    print(json.dumps({"releases": released.tolist()}), flush=True)
"""


COARSE = "[gate]\nsmallest_effect = 0.1\ntolerance = 0.2\n"


def judged(of_none: Any) -> Report:
    claim, rng = claimed(SUM, COARSE), np.random.default_rng(4)

    def aggregate(values: Any, size: int) -> Any:
        if len(values) == 0:
            return of_none(size)
        return sample(claim.mechanism.aggregation, values, size, rng)

    return verify(InProcessTarget(aggregate, release=claim.release), claim, seed=2)


@pytest.mark.slow("over half a second")
def test_zero_without_noise_is_found() -> None:
    """It was never asked: a run passed what every empty table gave away."""
    report = judged(lambda size: np.zeros((size, 3)))
    assert report.verdict is Verdict.FAIL


@pytest.mark.slow("a process is started for each of a score of calls")
def test_a_process_that_ends_at_it_is_started_anew(tmp_path: Path) -> None:
    """The next call was told as the fault. That it ends there alone tells of a record."""
    path = tmp_path / "served.py"
    path.write_text(ENDS)
    claim = claimed(SUM)
    opened = open_claimed(f"exec:{sys.executable} {path}", claim)
    try:
        report = verify(opened, claim, seed=2, selection=select(["location"], of=SHARES))
    finally:
        opened.close()
    assert result(report, "location").verdict is Verdict.PASS
    assert result(report, "input-contract").code == "refusal-tells-inputs-apart"
    noted = [(note.code, note.fields) for note in report.notes]
    assert ("target-failed", {"input": "no records"}) in noted


@pytest.mark.slow("over half a second")
def test_who_fails_at_it_is_judged_by_all_else() -> None:
    """So is a refusal. That there is no answer tells of a record, which is a failure by itself."""

    def fails(size: int) -> Any:
        raise IndexError("index 0 is out of bounds")

    report = judged(fails)
    failed = [one.id for one in report.checks if one.verdict is Verdict.FAIL]
    assert failed == ["input-contract"]
    assert not any(one.verdict is Verdict.INCONCLUSIVE for one in report.checks)
    (noted,) = (w for w in report.notes if w.fields.get("input") == "no records")
    assert noted.code == "target-failed"
    assert "IndexError: index 0" in noted.message


def test_a_target_in_python_is_given_the_shapes_of_no_records() -> None:
    """They were (0,), of which no code can take the records' own shape."""
    release = claimed(GRADIENT).release
    values = [np.zeros((0, 4, 3)), np.zeros((0, 3))]
    travelled = json.loads(json.dumps(release.content(values)))["values"]
    given = argument_of_values(travelled, release.word)
    assert [tensor.shape for tensor in given] == [(0, 4, 3), (0, 3)]
    some = argument_of_values([[[[1.0] * 3] * 4], [[1.0] * 3]], release.word)
    assert [tensor.shape for tensor in some] == [(1, 4, 3), (1, 3)]
