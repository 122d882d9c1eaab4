"""`privacy-audit` within a run: labels of neighbours that give themselves away."""

import numpy as np
import pytest
from runs import claimed, number

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.verifiers.kinds.labels.checks.privacy_audit import LabelsPrivacyAudit
from dpassay.verifiers.kinds.labels.planning.planner import make_plan


@pytest.mark.parametrize(("noise", "verdict"), [(0.1, "fail"), (40.0, "pass")])
def test_the_audit_of_the_gate_needs_no_formula(noise, verdict) -> None:
    """Labels of two neighbours that give themselves away; the claim's epsilon is 0.5 a query."""
    privacy = {"epsilon": 0.5, "delta": 1e-5, "queries": 1}
    check = LabelsPrivacyAudit(make_plan(claimed(privacy=privacy), 0))
    rng, mechanism = np.random.default_rng(6), NoisyArgmax(Gaussian(noise))
    for i in check.streams:
        assert check.conclude() is None
        stream = check.plan.streams[i]
        check.observe(i, mechanism.sample(stream.histogram, stream.queries, rng))
    outcome = check.conclude()
    assert outcome.verdict.value == verdict
    found = outcome.finding
    assert found.code == ("neighbours-too-far-apart" if verdict == "fail" else None)
    assert verdict != "fail" or number(found, "epsilon") > 0.5
