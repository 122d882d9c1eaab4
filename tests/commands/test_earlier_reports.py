"""A report that an earlier version wrote can still be compared with."""

import json

import numpy as np
import pytest
from claims import COARSE, gnmax, histogram

from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

GATE = {"false_alarm": 1e-6, "max_queries": 200_000, "max_recoverable": 0.0, "timeout": 30.0}
GATE |= {"concurrency": 1, **COARSE}
LABELS = {
    "claim": {"mechanism": gnmax(10, 4, 40) | {"caching": False}, "gate": GATE},
    "opening": {
        "histogram": [10, 10, 10, 10],
        "labels": [int(label) for label in "12200222212322012231102211320101"],
    },
}
NUMBERS = {
    "claim": {
        "mechanism": histogram("gaussian:2", 4) | {"unit": "record", "floating_point": "ideal"},
        "gate": GATE,
    },
    "opening": {
        "exact": [0.0, 0.0, 33.0, 19.0],
        "releases": [
            [0.07, 2.72, 35.45, 17.98],
            [-0.6, -1.05, 34.14, 18.89],
            [1.49, -3.69, 36.13, 18.81],
            [1.36, -0.27, 32.24, 19.93],
            [1.65, -0.41, 32.69, 20.37],
            [-1.74, -3.03, 33.79, 17.66],
            [-3.84, -1.63, 32.06, 16.61],
            [-2.98, 0.07, 34.79, 18.53],
            [-1.49, 0.77, 34.43, 18.4],
            [1.09, 2.09, 32.59, 17.37],
            [0.7, 0.5, 35.2, 16.43],
            [-1.32, -1.68, 29.53, 19.25],
            [1.06, -1.48, 35.77, 20.64],
            [1.25, 0.8, 34.91, 16.34],
            [1.23, 1.21, 29.46, 19.69],
            [-0.5, 1.56, 32.12, 18.96],
        ],
    },
}


@pytest.mark.parametrize(("report", "kept"), [(LABELS, "labels"), (NUMBERS, "releases")])
@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.quick_cases(1)
def test_it_is_compared_with(tmp_path, report, kept, repeats) -> None:
    """Commit 41d0d5e wrote both; a target that repeats its releases fails, another one does not.

    Catches a claim's table that is written in other words, and an opening that is not found.
    """
    (tmp_path / "report.json").write_text(json.dumps(report))
    made = parse_claim(report["claim"])
    drawn, first = made.kind.reference(made), [report["opening"][kept] if repeats else []]

    def aggregate(values, size):
        now, first[0] = first[0][:size], first[0][size:]
        if len(now) == size:
            return now
        return [*now, *np.asarray(drawn.ask(np.asarray(values), size - len(now))).tolist()]

    found = verify(
        InProcessTarget(aggregate, release=made.release),
        made,
        seed=0,
        earlier=made.kind.read_opening(str(tmp_path), made),
        selection=select(["fresh-noise"], of=made.kind.checks.ids),
    )
    fresh = next(check for check in found.checks if check.id == "fresh-noise")
    assert (fresh.verdict is Verdict.FAIL) is repeats, fresh.message
