"""Known faults: each law is one, and the evidence grows and names it when it is drawn."""

import numpy as np
import pytest
from claims import gnmax
from scipy.stats import norm

from dpassay.reference import Exponential, Gaussian, Gumbel, Laplace, probabilities
from dpassay.verifiers.evidence.dirichlet import PointedEvidence
from dpassay.verifiers.kinds.labels.planning.class_faults import race_with_bare
from dpassay.verifiers.kinds.labels.planning.laws import fault_laws, rough_noise_law
from dpassay.verifiers.kinds.labels.planning.plan import rotated_rows
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.reading import parse_claim

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


@pytest.mark.slow("laws of every fault on every stream")
def test_every_law_sums_to_one(plan) -> None:
    laws = np.exp(plan.fault_log_ratios + plan.log_q[:, None, :])
    assert np.allclose(np.nansum(laws, -1), 1.0, atol=1e-9)
    assert np.allclose(np.exp(plan.log_q).sum(-1), 1.0, atol=1e-12)


@pytest.mark.slow("laws of every factor on every stream")
def test_every_factor_of_the_scale_is_a_law(plan) -> None:
    for stream in range(plan.deep):
        laws = plan.scale_log_laws(stream)
        assert np.allclose(np.exp(laws).sum(-1), 1.0, atol=1e-11)
        at = int(np.argmin(np.abs(plan.factors - 1.0)))
        assert np.allclose(laws[at], plan.log_q[stream], atol=1e-9)


@pytest.mark.slow("over half a second")
def test_evidence_grows_under_each_fault_and_names_it(plan) -> None:
    """Labels of each fault's own law on the planned streams refute, and no other fits better.

    Catches a law that is the claim's own, and two faults of one law in the list. 8 nats are what
    an unlucky sample may lend a near relative. Leads and roundings that the budget leaves out are
    not looked at.
    """
    ladder = [np.sort(s.histogram)[-2:] for s in plan.streams if s.role is Role.LADDER]
    furthest = max((second - first for first, second in ladder), default=0)
    rng = np.random.default_rng(0)
    faults = len(plan.faults)
    for at, fault in enumerate(plan.faults):
        if fault.note.fields.get("lead", 0.0) > furthest:
            continue
        if not plan.of(Role.ROUNDED) and "tie" in fault.note.fields and fault.numbered:
            continue
        evidence = PointedEvidence(np.full(faults, 1.0 / faults))
        for stream in range(plan.deep):
            law = np.exp(plan.fault_log_ratios[stream, at] + plan.log_q[stream])
            law = np.nan_to_num(law)
            counts = rng.multinomial(30_000, law / law.sum()).astype(float)
            evidence.observe(counts, plan.fault_log_ratios[stream])
        assert evidence.log_e_value > np.log(1e6), fault.wording
        assert evidence.log_ratios[at] >= evidence.log_ratios.max() - 8.0, fault.wording


@pytest.mark.slow("over half a second")
def test_faults_of_a_class_follow_it_to_another_number(plan) -> None:
    """On turned classes each fault has the law that it has on the turned histogram itself.

    Catches numbers turned the wrong way: a class that is favoured would then seem another one.
    """
    stream, classes = plan.first(Role.INFORMATIVE), plan.claim.mechanism.classes
    votes = np.array([plan.streams[stream].histogram], dtype=np.float64)
    claimed = plan.log_q[[stream]]
    for rotation in (1, classes - 1):
        order = np.r_[np.roll(np.arange(classes), rotation), np.arange(classes, claimed.shape[1])]
        laws = fault_laws(plan.faults, claimed[:, order], np.roll(votes, rotation, axis=1))[0]
        back = np.argsort(order)
        expected = laws[:, back] - plan.log_q[stream]
        found = plan.rotated_ratios(stream, rotation)
        rows = rotated_rows(plan.faults, rotation, classes)
        assert (rows < 0).sum() == (classes > 10)  # classes from 10 on: nothing is wagered on it
        same = ~np.isnan(expected) & (rows >= 0)[:, None]
        assert np.allclose(found[same], expected[same], atol=1e-6)


@pytest.mark.slow("over half a second")
def test_favoured_classes_have_nearly_their_law(plan) -> None:
    """First order in the votes will do: within a tenth of the change, in total variation."""
    stream = plan.first(Role.NEAR_TIE)
    votes = np.array(plan.streams[stream].histogram, dtype=np.float64)
    mechanism = plan.claim.mechanism
    if mechanism.refuses:
        pytest.skip("its screen is not moved by these faults")
    for fault in plan.faults:
        if fault.of_class and fault.of_class[0] == "favour 0.1":
            more = votes + 0.1 * mechanism.noise.scale * (
                np.arange(votes.size) == fault.of_class[1]
            )
            exact = np.exp(mechanism.mechanism().log_probabilities(more))
            law = fault.law(votes[None])[0]
            change = np.abs(exact - np.exp(plan.log_q[stream])).sum()
            assert np.abs(law - exact).sum() < 0.1 * change


def test_of_classes_without_noise_the_first_of_the_best_wins() -> None:
    """Six empty ones: the noisy leader has to stay below 0, and then the first of them is released.

    Catches a race in which classes of one count share its cell and hardly ever win.
    """
    votes = np.array([100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    law = race_with_bare(Gaussian(40.0), votes, votes == 0)
    assert law[1] == pytest.approx(norm.cdf(-2.5), rel=1e-9)
    assert law[0] == pytest.approx(norm.cdf(2.5), rel=1e-3)
    assert law[2:].sum() == 0.0


@pytest.mark.parametrize("noise", [Laplace(28.0), Exponential(40.0), Gumbel(31.0), Gaussian(40.0)])
def test_a_rough_law_is_near_the_exact_one(noise) -> None:
    """Catches a grid that is too coarse or too short, and offsets that are looked up wrongly."""
    mechanism = gnmax()
    claim = parse_claim({"mechanism": mechanism})
    rng = np.random.default_rng(3)
    votes = rng.multinomial(250, rng.dirichlet(np.full(10, 0.3), 600)).astype(np.float64)
    found = rough_noise_law(claim.mechanism, noise)(votes)
    assert np.abs(found - probabilities(votes, noise)).max() < 0.005
