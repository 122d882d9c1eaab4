"""A run looks at its evidence early, and asks for few releases at once until it has seen some."""

import math
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo import Aggregate
from numeric_zoo.claims import COUNT, HISTOGRAM
from scipy.special import ndtr
from scipy.stats import laplace

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.checks.location import Location
from dpassay.verifiers.kinds.numbers.checks.noise_law import NoiseLaw
from dpassay.verifiers.kinds.numbers.checks.noise_scale import NoiseScale
from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.evidence.faults import known_faults, log_weights
from dpassay.verifiers.kinds.numbers.planning.asked import Batch, Draws
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


def judged(text: str, aggregate: Aggregate, rest: str = "") -> Report:
    claim = claimed(text, rest)
    return verify(InProcessTarget(aggregate, release=claim.release), claim, seed=3)


@pytest.mark.slow("over half a second")
def test_what_a_few_releases_prove_is_found_by_them() -> None:
    """56 were counted, since the first look came after a call of 40; 50 are still asked for."""
    report = judged(HISTOGRAM, lambda values, size: np.tile(np.array(values, float), (size, 1)))
    assert report.verdict is Verdict.FAIL
    assert report.found_after is not None
    assert report.found_after <= 3
    # and those by which the simplest input is looked for
    assert 50 <= report.queries < 90


@pytest.mark.slow("over half a second")
def test_calls_grow_with_what_was_seen() -> None:
    """A call asks for no more than a tenth of the releases before it, while they are few."""
    claim = claimed(COUNT, "[gate]\nmax_queries = 2000")
    rng, sizes = np.random.default_rng(0), []

    def aggregate(values: Any, size: int) -> Any:
        sizes.append(size)
        return sample(claim.mechanism.aggregation, values, size, rng)

    verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)
    before = np.cumsum(sizes) - sizes
    late = before >= 20
    assert (np.array(sizes)[late] <= before[late] / 10).all()
    assert max(sizes) > 100


def test_what_was_refuted_once_stays_so() -> None:
    claim = claimed(COUNT)
    check = NoiseLaw.make(Setting(claim, 1, claim.inputs(1)))
    group = check.evidence.all
    looks = [check.refuted]
    group.ratios += 40.0
    group.changed()
    looks.append(check.refuted)
    highest = check.log_e_value
    group.ratios -= 80.0
    group.changed()
    assert check.log_e_value < check.log_threshold
    assert [*looks, check.refuted] == [False, True, True]
    assert check.peak is not None
    assert check.peak.log_e_value == highest


def begins_badly(bad: int, copied: float, drawn_from: int) -> Aggregate:
    """Right Laplace noise of scale 2, but that early draws follow the one before.

    bad: so many draws are; copied: their correlation with the one before, of normal draws that are
    made Laplace ones; where it is -1, every other draw does; drawn_from: a seed.
    """
    rng = np.random.default_rng(drawn_from)
    before, seen = 0.0, 0

    def aggregate(values: Any, size: int) -> Any:
        nonlocal before, seen
        drawn = rng.standard_normal((size, 1))
        for i in range(size):
            if 0 < seen < bad and (seen % 2 or copied > -1.0):
                drawn[i] = copied * before + math.sqrt(1.0 - copied**2) * drawn[i]
            before, seen = float(drawn[i, 0]), seen + 1
        return np.asarray(values, float) + laplace(scale=2.0).ppf(ndtr(drawn))

    return aggregate


@pytest.mark.parametrize(("bad", "copied", "drawn_from"), [(8, -1.0, 5), (120, 0.9, 0)])
@pytest.mark.slow("over half a second")
def test_evidence_is_told_as_it_was_when_highest(bad: int, copied: float, drawn_from: int) -> None:
    """Fallen evidence of a fault at the start was shown, below what refutes.

    It named a way for noise to be reused that was never looked at, or ended in a traceback, where
    all causes had become less likely than the claim.
    """
    text = HISTOGRAM.replace("cells = 10", "cells = 1")
    claim = claimed(text, "[gate]\nfalse_alarm = 0.001\nmax_queries = 2000")
    target = InProcessTarget(begins_badly(bad, copied, drawn_from), release=claim.release)
    report = verify(target, claim, seed=2, after_failure="keep-going")
    assert report.verdict is Verdict.FAIL
    weighed = [check for check in report.public()["checks"] if check["threshold_log10"]]
    failed = [check for check in weighed if check["verdict"] == "fail"]
    assert failed
    for check in failed:
        assert check["log10_e_value"] >= check["threshold_log10"]
        assert 0 < check["queries"] < report.queries
        assert "0 of 0" not in check["message"]


def test_wagers_on_known_faults_add_up_to_one() -> None:
    """However common they are; more than 1 in all would accuse correct noise too often."""
    for text in (COUNT, HISTOGRAM, HISTOGRAM.replace("laplace:2", "gaussian:3;min=0")):
        faults = known_faults(claimed(text).mechanism.noise)
        weights = np.exp(log_weights(faults))
        common = np.array([fault.common for fault in faults])
        assert abs(weights.sum() - 1.0) < 1e-12
        assert weights[common].min() > 3.0 * weights[~common].max()


@pytest.mark.parametrize(
    "text",
    [
        "gaussian:3;min=0;max=5",
        "laplace:2;round",
        "laplace:2;cut",
        "discrete-laplace:2",
        "laplace:2;min=0",
    ],
)
@pytest.mark.slow("over half a second")
def test_few_draws_at_once_have_the_likelihoods_of_many(text: str) -> None:
    """Scales and offsets; catches a clamped end, or a width, that is not stretched with the law."""
    claim = claimed(HISTOGRAM.replace("laplace:2", text))
    plan = claim.inputs(1)
    rng, noise = np.random.default_rng(4), claim.mechanism.noise
    batches = [
        Batch(asked, sample(claim.mechanism.aggregation, asked.values, 6, rng), (6,))
        for asked in plan.inputs
    ]
    placing = Placing(noise, rng)
    together = Draws(tuple(batches), placing, plan.coordinates)
    assert together.released.size > 400
    setting = Setting(claim, 1, plan)
    scale, location = NoiseScale.make(setting), Location.make(setting)
    for batch in batches:
        one = Draws((batch,), placing, plan.coordinates)
        location.observe(one)
        args = (one.released.ravel(), one.exact.ravel(), one.placed.half.ravel())
        laws = [noise.times(float(f)).log_mass(*args).sum() for f in scale.evidence.factors]
        assert scale._log_likelihoods(*args) == pytest.approx(np.array(laws), rel=1e-9)
    for place, offset in enumerate(location.offsets):
        half = together.placed.half
        log_mass = noise.log_mass(together.released, together.exact + offset, half)
        assert location.all[place] == pytest.approx(np.maximum(log_mass, -700.0).sum(), rel=1e-9)
