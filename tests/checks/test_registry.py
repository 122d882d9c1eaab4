"""The registry is all that the gate knows of checks: ids, shares, when each applies and runs."""

import subprocess
import sys

import numpy as np
import pytest
from runs import result
from small import drawing, small_claim

from dpassay.verifiers.findings.finding import Finding, Outcome
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.base import LabelsCheck, LabelsSetting
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import CHECKS, SHARES
from dpassay.verifiers.run.checks import EvidenceCheck
from dpassay.verifiers.run.phase import Phase
from dpassay.verifiers.run.registry import Entry, Registry
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import ALWAYS, select

PRIVACY = {"epsilon": 5.0, "delta": 1e-5, "queries": 10}
CLAIMS = {
    "plain": small_claim(),
    "screened": small_claim("confident-gnmax", privacy=PRIVACY),
    "caching": small_claim(),
}
mechanism = CLAIMS["caching"].mechanism.model_copy(update={"caching": True})
CLAIMS["caching"] = CLAIMS["caching"].model_copy(update={"mechanism": mechanism})


def test_ids_are_those_of_the_registry_in_its_order() -> None:
    assert list(dict.fromkeys(check.id for check in CHECKS.classes)) == list(SHARES)
    (opening,) = (check.id for check in CHECKS.classes if check.phase is Phase.OPENING)
    assert opening == ALWAYS


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", CLAIMS)
def test_each_id_has_one_check_or_a_reason(name) -> None:
    """Catches a claim for which two checks share a verdict, or for which one is silent."""
    made = CLAIMS[name]
    plan = make_plan(made, 0)
    there = CHECKS.applicable(made, plan)
    ids = [check.id for check in there]
    assert sorted([*ids, *CHECKS.lacking(made, plan)]) == sorted(SHARES)
    for check in there:
        start = check.make(LabelsSetting(made, 0, plan))
        assert isinstance(start, EvidenceCheck) == (check.phase is Phase.SHARED)
        if isinstance(start, EvidenceCheck):
            expected = -np.log(SHARES[check.id] * made.gate.false_alarm)
            assert start.log_threshold == pytest.approx(expected)


class Idle(LabelsCheck):
    id = "of-this-test"

    @classmethod
    def make(cls, setting):
        return cls(setting)

    def conclude(self, context):
        context.spend(3)
        return Outcome(Verdict.PASS, Finding(f"{context.left:,} queries were left"))


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.SHARED])
def test_a_new_check_runs_in_its_phase(phase, monkeypatch) -> None:
    """One more class, and the gate makes it, runs it, and lists its verdict."""
    monkeypatch.setattr(Idle, "phase", phase)
    monkeypatch.setattr(CHECKS, "classes", (*CHECKS.classes, Idle))
    monkeypatch.setitem(SHARES, "of-this-test", 0.0)
    report = verify(
        drawing(small_claim()), small_claim(), seed=0, selection=select(["of-this-test"], of=SHARES)
    )
    found = result(report, "of-this-test")
    assert (found.verdict, report.verdict) == (Verdict.PASS, Verdict.PASS)
    assert found.message.endswith("were left")


def test_a_class_with_another_id_than_its_line_is_told() -> None:
    abstention = CHECKS.entry("abstention").check
    made = Registry("", (Entry("of-this-test", 0.5, abstention),), 0.5)
    with pytest.raises(ValueError, match=r"checks\.abstention:Abstention .*of-this-test"):
        assert made.classes


def test_shares_are_read_without_what_checks_load() -> None:
    """pytest reads them at every start where the plugin is installed."""
    code = "import sys, dpassay.verifiers.kinds.labels.registry; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
