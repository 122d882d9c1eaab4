"""Scales that no known fault has: the diagnosis names one that noise-scale does not refute."""

import numpy as np
import pytest
from plans import GNMAX, SCREENED
from small import small_claim

from dpassay.reference import ConfidentGNMax
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities, LabelsNoiseScale
from dpassay.verifiers.kinds.labels.checks.fitted import FITTING_COSTS, fit_scale
from dpassay.verifiers.kinds.labels.planning.laws import ScaledNoise
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

LNMAX = GNMAX | {"name": "lnmax", "noise": "laplace:20"}
CLAIMS = {"gnmax": GNMAX, "lnmax": LNMAX, "confident": GNMAX | SCREENED}
LABELS = 400
FACTORS = (0.05, 1 / 3, 0.6, 3.0, 20.0)


@pytest.fixture(
    scope="module",
    params=[
        "gnmax",
        pytest.param("lnmax", marks=pytest.mark.slow("plans at length; of other noise too")),
        "confident",
    ],
)
def plan(request):
    return make_plan(parse_claim({"mechanism": CLAIMS[request.param]}), 0)


def seeing(plan, mechanism, seed):
    """Both checks of the law after some labels of each stream that tells the scale."""
    checks = ClassProbabilities(plan), LabelsNoiseScale(plan)
    rng = np.random.default_rng(seed)
    for stream in range(plan.deep):
        histogram = np.array(plan.streams[stream].histogram)
        labels = mechanism.sample(histogram, LABELS, rng)
        for check in checks:
            check.observe(stream, labels)
    return checks


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.slow("over half a second")
def test_the_scale_that_is_named_lies_in_the_interval(plan, factor) -> None:
    """Catches the nearest of a fixed list, a quarter for a third, beside an interval without it."""
    claim = plan.claim.mechanism
    law, scale = seeing(plan, claim.mechanism(claim.noise.times(factor)), round(100 * factor))
    fits = law.seen.fits()
    fault = plan.faults[fits.best] if fits.fitted is None else fits.fitted.fault
    noise, named = fault.scaled
    low, high = scale.evidence.interval(scale.log_threshold)
    assert noise is ScaledNoise.VOTES
    assert low <= named <= high
    assert fits.explained
    assert 0.8 < named / factor < 1.25


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("factor", [0.33, 3.0])
def test_a_scale_of_the_noise_of_the_threshold_is_fitted_too(factor) -> None:
    """Catches half and twice the claim, which are the only ones known."""
    plan = make_plan(parse_claim({"mechanism": CLAIMS["confident"]}), 0)
    claimed = plan.claim.mechanism.mechanism()
    assert isinstance(claimed, ConfidentGNMax)
    screen = claimed.threshold_noise.times(factor)
    mechanism = ConfidentGNMax(claimed.noise, claimed.threshold, screen)
    found = seeing(plan, mechanism, 1)[0].seen.fits().fitted
    noise, named = found.fault.scaled
    assert noise is ScaledNoise.THRESHOLD
    assert named == pytest.approx(factor, rel=0.1)
    code = "threshold-noise-too-small" if factor < 1.0 else "threshold-noise-too-large"
    assert (found.fault.note.code, found.fault.note.fields["factor"]) == (code, named)


@pytest.mark.slow("over half a second")
def test_another_threshold_is_fitted_too() -> None:
    """Catches a smaller noise of the threshold, which explains some of the same refusals."""
    plan = make_plan(parse_claim({"mechanism": CLAIMS["confident"]}), 0)
    claimed = plan.claim.mechanism.mechanism()
    assert isinstance(claimed, ConfidentGNMax)
    mechanism = ConfidentGNMax(claimed.noise, 240.0, claimed.threshold_noise)
    found = seeing(plan, mechanism, 1)[0].seen.fits().fitted
    assert found.fault.note.code == "threshold-too-high"
    assert found.fault.note.fields["threshold"] == pytest.approx(240.0, abs=8.0)
    assert found.fault.note.fields["claimed"] == 200.0


@pytest.mark.slow("over half a second")
def test_a_known_scale_keeps_its_name() -> None:
    """A fit always explains more than the truth: by more than its cost in 2 of 1,000 cases."""
    plan = make_plan(small_claim(), 0)
    at = next(i for i, f in enumerate(plan.faults) if f.scaled == (ScaledNoise.VOTES, 0.5))
    rng, replaced = np.random.default_rng(7), 0
    law = np.exp(plan.log_q + plan.fault_log_ratios[:, at])
    law /= law.sum(-1, keepdims=True)
    for _ in range(50):
        counts = np.array([rng.multinomial(60, row) for row in law], dtype=np.float64)
        ratios = np.einsum("so,sao->a", counts, plan.fault_log_ratios)
        replaced += fit_scale(plan, counts, ratios) is not None
    assert FITTING_COSTS == 5.0
    assert replaced <= 4  # of 50 at 0.0016: more with probability 1e-8


def test_where_to_look_is_said_of_a_total_that_is_refused() -> None:
    """A newcomer's first error: the claim has other teachers than the target."""

    def aggregate(votes, size):
        if votes.sum() != 30:
            raise ValueError(f"expected 30 votes, got {votes.sum()}")
        return [0] * size

    report = verify(InProcessTarget(aggregate), small_claim(), seed=0)
    assert report.checks[0].code == "claimed-input-refused"
    assert "expected 30 votes, got 40" in report.checks[0].message
