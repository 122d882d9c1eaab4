"""Known faults: each law is one, and the evidence grows and names it when it is drawn."""

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.reference import Gaussian
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.evidence import PointedEvidence
from dpassay.verifiers.faults import _race_with_bare
from dpassay.verifiers.planner import make_plan

CLAIMS = {
    "gnmax": {"noise": "gaussian:40", "classes": 12, "teachers": 250},
    "lnmax": {"noise": "laplace:20", "classes": 5, "teachers": 250},
    "confident-gnmax": {
        "noise": "gaussian:40",
        "classes": 5,
        "teachers": 250,
        "threshold": 200.0,
        "threshold_noise": "gaussian:150",
    },
    "report-noisy-max": {"noise": "exponential:15", "classes": 4, "teachers": 100},
}


@pytest.fixture(params=CLAIMS, scope="module")
def plan(request):
    mechanism = {"name": request.param, **CLAIMS[request.param]}
    return make_plan(parse_claim({"mechanism": mechanism}), 0)


def test_every_law_sums_to_one(plan):
    laws = np.exp(plan.fault_log_ratios + plan.log_q[:, None, :])
    assert np.allclose(np.nansum(laws, -1), 1.0, atol=1e-9)
    assert np.allclose(np.exp(plan.log_q).sum(-1), 1.0, atol=1e-12)


def test_every_factor_of_the_scale_is_a_law(plan):
    assert np.allclose(np.exp(plan.scale_log_laws).sum(-1), 1.0, atol=1e-11)


def test_evidence_grows_under_each_fault_and_names_it(plan):
    """Labels of each fault's own law on the planned streams refute, and no other fits better.

    Catches a law that is the claim's own, and two faults of one law in the list. 8 nats are what
    an unlucky sample may lend a near relative.
    """
    rng = np.random.default_rng(0)
    faults = len(plan.faults)
    for at, fault in enumerate(plan.faults):
        evidence = PointedEvidence(np.full(faults, 1.0 / faults))
        for stream in range(plan.deep):
            law = np.exp(plan.fault_log_ratios[stream, at] + plan.log_q[stream])
            law = np.nan_to_num(law)
            counts = rng.multinomial(30_000, law / law.sum()).astype(float)
            evidence.observe(counts, plan.fault_log_ratios[stream])
        assert evidence.log_e_value > np.log(1e6), fault.wording
        assert evidence.log_ratios[at] >= evidence.log_ratios.max() - 8.0, fault.wording


def test_of_classes_without_noise_the_first_of_the_best_wins():
    """Six empty ones: the noisy leader has to stay below 0, and then the first of them is released.

    Catches a race in which classes of one count share its cell and hardly ever win.
    """
    votes = np.array([100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    law = _race_with_bare(Gaussian(40.0), votes, votes == 0)
    assert law[1] == pytest.approx(norm.cdf(-2.5), rel=1e-9)
    assert law[0] == pytest.approx(norm.cdf(2.5), rel=1e-3)
    assert law[2:].sum() == 0.0
