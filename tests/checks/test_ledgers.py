"""`budget-enforcement`: ledgers that look right while they are asked in one way only."""

from typing import Any

import numpy as np
import pytest
from runs import result

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, PacedTarget
from zoo import ledgers
from zoo.names import is_told

WITHIN = [e for e in (*ledgers.shelf.entries, *ledgers.correct.entries) if "gate" not in e.claim]
LONG = {"charge-in-a-byte", "missing-teachers-free", "stops-when-asked-for-spent"}
RESTARTED = [e for e in (*ledgers.shelf.entries, *ledgers.correct.entries) if "gate" in e.claim]


def within() -> list[Any]:
    """All that one start shows; those that take thousands of calls are left to the whole suite."""
    later = pytest.mark.slow("thousands of calls; other ledgers take some hundreds")
    return [
        pytest.param(entry, id=entry.id, marks=later if entry.id in LONG else ())
        for entry in WITHIN
    ]


@pytest.mark.parametrize("entry", within())
@pytest.mark.quick_cases(1)
def test_ledgers_are_asked_in_every_way(entry) -> None:
    """Each fault is out of sight of calls of one kind, after each of which `spent` is asked."""
    deployment = InProcessTarget(entry.make(0))

    def opened() -> PacedTarget:
        """A new start of it, of whose pace nothing is known, and which splits large calls."""
        return PacedTarget(deployment, 30.0)

    check = LabelsBudgetEnforcement(parse_claim(entry.claim), opened)
    assert check.run(opened()) is None
    assert check.verdict is (Verdict.FAIL if entry.checks else Verdict.PASS), check.violation
    assert entry.checks or check.asking.answered > 0
    found = check.finding()
    assert entry.named is None or is_told(entry.named, found.code, found.fields)


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize("entry", RESTARTED, ids=lambda entry: entry.id)
def test_ledgers_are_looked_at_after_a_restart_before_they_are_used_up(entry) -> None:
    """One that is written now and then, and once it is used up, has then forgotten some."""
    target, alone = InProcessTarget(entry.make(0)), select(["budget-enforcement"], of=SHARES)
    report = verify(target, parse_claim(entry.claim), seed=0, selection=alone)
    found = result(report, "budget-enforcement")
    assert found.verdict is (Verdict.FAIL if entry.checks else Verdict.PASS), found.message


def test_a_whole_call_is_as_large_as_is_in_time() -> None:
    """A call that takes 2 s a label, of 30 s of which a third may be used, is for 5 at most."""
    calls: list[int] = []

    def ask(histogram, size):
        calls.append(size)
        return [0] * size

    target = PacedTarget(InProcessTarget(ask), 30.0)
    assert target.largest_whole(4096) == 1
    target._learn(1, 2.0)
    assert target.largest_whole(4096) == 5
    target._learn(32, 0.001)
    target.ask_whole(np.array([1, 2]), target.largest_whole(4096))
    assert calls == [4096]
