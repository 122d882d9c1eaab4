"""Wide releases are asked for in calls that a reply can hold; users are replaced as a whole."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import GRADIENT

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.planning import plan
from dpassay.verifiers.kinds.numbers.planning.neighbours import neighbours
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget
from dpassay.verifiers.targets.process import ProcessTarget

REPLACED = """
name = "noisy-sum"
noise = "laplace:40"
adjacency = "replace-one"
unit = "user"
max_contributions = 20
dimensions = 2
lower = 10.0
upper = 11.0
"""


def test_no_records_have_their_width_in_a_process_too(tmp_path: Path) -> None:
    """As JSON they are [], which a target in Python got as an array of shape (0,)."""
    claim = claimed(REPLACED)
    (tmp_path / "wide.py").write_text(
        "def aggregate(records, size):\n    return [list(records.shape)] * size\n"
    )
    target = ProcessTarget.python(f"{tmp_path}/wide.py:aggregate", 60.0, release=claim.release)
    with contextlib.closing(target):
        for records in (0, 1, 3):
            reply = target.ask(np.zeros((records, 2), dtype=np.int64), 1)
            assert np.asarray(reply).tolist() == [[records, 2]]


def test_no_call_asks_for_more_numbers_than_a_reply_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of 300 releases of 10^6 numbers would be 6 GB of JSON, and was asked for."""
    monkeypatch.setattr(plan, "_NUMBERS", 60)
    claim = claimed(GRADIENT, "[gate]\nmax_queries = 600")
    rng, sizes, records = np.random.default_rng(0), [], []

    def aggregate(values: Any, size: int) -> Any:
        sizes.append(size)
        records.append(len(values[0]))
        return sample(claim.mechanism.aggregation, list(values), size, rng)

    verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)
    assert max(sizes) * 15 <= 60
    assert max(records) <= 5  # 4, and the one that is added
    assert sum(sizes) > 500


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_neighbours_of_users_lie_within_what_the_claim_allows(adjacency: str) -> None:
    """Users of 20 records replaced 9 records by 20, so that a correct sum was accused."""
    claim = claimed(REPLACED.replace("replace-one", adjacency))
    for neighbour in neighbours(claim.mechanism, 1):
        if np.isfinite(neighbour.values).all():
            moved = claim.mechanism.aggregation.exact(neighbour.values) - neighbour.exact
            assert np.abs(moved).max() <= neighbour.allowed * (1 + 1e-12), neighbour.name


def test_where_every_altered_record_is_refused_nothing_is_said_of_clipping() -> None:
    """It was a pass, by 0 releases of 0 records."""
    replaced = GRADIENT.replace("add-remove", "replace-one") + '\nrefuses = "any but 24 records"'
    claim = claimed(replaced, "[gate]\nsmallest_effect = 0.3\ntolerance = 0.3")
    rng = np.random.default_rng(0)

    def aggregate(values: Any, size: int) -> Any:
        if len(values[0]) != 24:
            raise ValueError("24 records are public")
        return sample(claim.mechanism.aggregation, list(values), size, rng)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)
    found = {check.id: (check.verdict, check.code) for check in report.checks}
    refused = (Verdict.NOT_APPLICABLE, "input-refused")
    assert found["clipping"] == found["sensitivity"] == refused
    assert report.verdict is Verdict.PASS
