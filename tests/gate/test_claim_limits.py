"""At the ends of what a claim may say, a correct deployment is judged as anywhere else.

Beyond them (a scale of 1e-300, say) squares and reciprocals leave the floats, so the limits are
there; within them no evidence may be nan or infinite, and nothing may warn.
"""

import numpy as np
import pytest

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

SCREEN = {"name": "confident-gnmax", "threshold": 0.0, "threshold_noise": "gaussian:1"}

MORE = pytest.mark.slow("other families at the same limit")


def mechanism(noise="gaussian:40", name="gnmax", classes=3, teachers=10, **rest):
    return {"name": name, "noise": noise, "classes": classes, "teachers": teachers, **rest}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "claimed",
    [
        pytest.param(mechanism("gaussian:1e-3", teachers=10**7), marks=MORE),
        mechanism("gaussian:1e9", teachers=1),
        pytest.param(mechanism("laplace:1e-3", "lnmax", teachers=10**7), marks=MORE),
        pytest.param(mechanism("exponential:1e-3", "report-noisy-max", teachers=10**7), marks=MORE),
        pytest.param(mechanism("exponential:1e9", "report-noisy-max", teachers=1), marks=MORE),
        pytest.param(mechanism("gumbel:1e-3", "report-noisy-max", teachers=10**7), marks=MORE),
        pytest.param(mechanism(**SCREEN | {"threshold": 1e9}), marks=MORE),
        pytest.param(
            mechanism(**SCREEN | {"threshold": -1e9, "threshold_noise": "gaussian:1e-3"}),
            marks=MORE,
        ),
        pytest.param(mechanism(**SCREEN | {"threshold_noise": "gaussian:1e9"}), marks=MORE),
    ],
    ids=lambda claimed: f"{claimed['noise']} {claimed.get('threshold', '')}",
)
def test_evidence_stays_finite_and_accuses_nobody(claimed) -> None:
    gate = {"max_queries": 1500} | ({"tolerance": 1e-3} if "1e9" in claimed["noise"] else {})
    privacy = {"epsilon": 1e3, "delta": 1e-5, "queries": 1}
    made = parse_claim({"mechanism": claimed, "privacy": privacy, "gate": gate})
    drawn, rng = made.mechanism.mechanism(), np.random.default_rng(0)
    target = InProcessTarget(lambda histogram, size: drawn.sample(histogram, size, rng))
    report = verify(target, made, seed=0)
    evidence = [check.log10_e_value for check in report.checks if check.log10_e_value is not None]
    assert evidence
    assert all(abs(value) < 1e300 for value in evidence)  # 1e308 stands for infinity
    statistical = [check for check in report.checks if check.id != "privacy-claim"]
    assert all(check.verdict is not Verdict.FAIL for check in statistical)
    assert report.verdict is not Verdict.ERROR, [check.message for check in report.checks]
