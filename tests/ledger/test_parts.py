"""What checks hand to a ledger: their evidence now, in parts that mean the same in every run."""

from types import SimpleNamespace

import numpy as np
import pytest
from claims import gnmax
from plans import plan

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.evidence.parts import Parts
from dpassay.verifiers.evidence.scale import ScaleEvidence, scale_factors
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities
from dpassay.verifiers.kinds.labels.checks.base import LabelsEvidence, LabelsSetting, labels_checks
from dpassay.verifiers.kinds.labels.registry import CHECKS
from dpassay.verifiers.kinds.numbers.evidence.bins import Placing
from dpassay.verifiers.kinds.numbers.evidence.noise_law import NoiseLawEvidence
from dpassay.verifiers.kinds.tables.checks.of_numbers import TableNoiseScale
from dpassay.verifiers.ledger.strands import WholeEvidence
from dpassay.verifiers.run.error_budget import log_threshold

PLAN = plan(gnmax(10, 4, 40), 0.1)


def labels_of(stream: int, scale: float, size: int, seed: int) -> np.ndarray:
    """Labels (size,) of a stream by noise of `scale` times the claimed scale."""
    mechanism = PLAN.claim.mechanism
    wrong = mechanism.mechanism(mechanism.noise.times(scale))
    votes = np.array(PLAN.streams[stream].histogram)
    return np.asarray(wrong.sample(votes, size, np.random.default_rng(seed)))


@pytest.mark.slow("ten thousands of labels for each check")
def test_the_highest_evidence_of_labels_is_not_handed_over() -> None:
    """What rose by a fault falls by sound labels: a running maximum would not."""
    setting = LabelsSetting(PLAN.claim, 1, PLAN)
    seeing = [check.make(setting) for check in labels_checks(PLAN.claim, PLAN) if check.sees_labels]
    checks = [check for check in seeing if isinstance(check, LabelsEvidence)]
    for scale, size in ((0.5, 200), (1.0, 4_000)):
        for stream in range(len(PLAN.streams)):
            labels = labels_of(stream, scale, size, size + stream)
            for check in checks:
                check.observe(stream, labels)
    risen = {check.id: check for check in checks if check.log_e_value > 5.0}
    for name in ("class-probabilities", "noise-scale"):  # of a law that changes `fresh-noise` tells
        check = risen[name]
        assert check.parts.log_e_value < check.log_e_value - 1.0


def test_parts_of_class_probabilities_make_its_evidence() -> None:
    """Weights and all, but for the last, on which a ledger wagers alone. Catches a part lost."""
    check = ClassProbabilities(PLAN)
    assert check.parts.log_e_value == pytest.approx(0.0, abs=1e-9)
    for stream in (0, 1, 0):
        check.observe(stream, labels_of(stream, 0.8, 300, stream))
        parts = check.parts
        own = Parts(parts.names[:-1], parts.log_weights[:-1], parts.logs[:-1])
        assert own.log_e_value == pytest.approx(check.current + np.log(7 / 8), abs=1e-9)
        assert np.exp(parts.log_weights).sum() == pytest.approx(1.0)
    assert len(parts.names) == len(PLAN.faults) + 2


def test_the_part_of_rarely_bare_answers_is_a_ratio_of_laws() -> None:
    """Written out for one stream: catches a leader of another stream, and a share that is not 1."""
    check, q = ClassProbabilities(PLAN), np.exp(PLAN.log_q[0])
    labels, leader = labels_of(0, 1.0, 50, 1), int(np.argmax(PLAN.streams[0].histogram))
    check.observe(0, labels)
    bare = 0.99 * q + 0.01 * (np.arange(q.size) == leader)
    assert check.parts.logs[-1] == pytest.approx(float(np.log(bare / q)[labels].sum()))


def runs_until_bare_answers_show(rng: np.random.Generator, first: int) -> int:
    """Runs of 20,000 labels, of a plurality of about .3, since a hundredth of them are bare."""
    made = plan(gnmax(40, 10, 250), 0.02)
    tops = np.exp(made.log_q.max(-1))
    stream = int(np.argmin(np.abs(tops - 0.3)))
    q, leader = np.exp(made.log_q[stream]), int(np.argmax(made.streams[stream].histogram))
    bare = 0.99 * q + 0.01 * (np.arange(q.size) == leader)
    check = ClassProbabilities(made)
    whole = WholeEvidence(1, check.parts.log_weights)
    needed = log_threshold(CHECKS.shares[check.id], 1e-6) + whole.log_price
    for run in range(1, first + 60):
        check = ClassProbabilities(made)
        law = q if run < first else bare
        counts = rng.multinomial(20_000, law / law.sum())
        check.observe(stream, np.repeat(np.arange(counts.size), counts))
        parts, build = check.parts, str(run >= first)
        if whole.log_value_with(build, parts.logs) >= needed:
            return run - first + 1
        whole.add(build, parts.logs)
    return 60


@pytest.mark.slow("some thousand runs")
@pytest.mark.parametrize(("first", "most"), [(1, 9), (31, 13)])
def test_bare_answers_show_within_so_many_runs(first: int, most: int) -> None:
    """Medians of lives at 1e-6; catches the part left out, and one added up with the rest."""
    rng = np.random.default_rng(4)
    found = [runs_until_bare_answers_show(rng, first) for _ in range(25)]
    assert np.median(found) <= most


@pytest.mark.parametrize("text", ["laplace:2", "discrete-laplace:2"])
def test_parts_of_the_noise_law_make_its_evidence(text: str) -> None:
    """Weights and all, with groups that have come and groups that may; also of a proof."""
    noise, rng = parse_number_noise(text), np.random.default_rng(2)
    evidence, placing = NoiseLawEvidence(noise, 3), Placing(noise, rng)
    assert evidence.parts.log_e_value == pytest.approx(0.0, abs=1e-9)
    for _ in range(3):
        y = noise.times(0.8).sample(8.0, 300, rng)
        evidence.observe(placing.placed(y, np.full(300, 8.0)), {"a": np.arange(300) < 50})
        assert evidence.parts.log_e_value == pytest.approx(evidence.log_e_value, abs=1e-9)
    assert np.exp(evidence.parts.log_weights).sum() == pytest.approx(1.0)
    if noise.family.whole:
        evidence.observe(placing.placed(np.array([8.5]), np.array([8.0])), {})
        assert np.isposinf(evidence.parts.log_e_value)


def test_parts_of_the_scale_of_tables_are_of_now() -> None:
    """The mean over aggregates; catches that of their highest evidence."""
    each = [SimpleNamespace(parts=Parts.whole(log), log_e_value=9.0) for log in (2.0, -1.0)]
    found = TableNoiseScale.parts.fget(SimpleNamespace(each=each))  # type: ignore[attr-defined]
    assert found.log_e_value == pytest.approx(np.log(np.exp([2.0, -1.0]).mean()))


def test_parts_of_the_scale_are_ratios_to_the_claimed_one() -> None:
    """Of expectation at most 1 by themselves, as the mixture is; catches the highest evidence."""
    evidence = ScaleEvidence(scale_factors(0.1))
    rng = np.random.default_rng(2)
    for scale in (0.8, 1.0):
        squares = float((rng.normal(size=1_000) ** 2).sum()) * scale**2
        evidence.add(-1_000 * np.log(evidence.factors) - 0.5 * squares / evidence.factors**2)
    parts, claimed = evidence.parts, int(np.argmin(np.abs(evidence.factors - 1.0)))
    assert parts.logs[claimed] == 0.0
    assert parts.log_e_value == pytest.approx(evidence.log_e_values[claimed])
    assert parts.log_e_value < evidence.log_e_value
    evidence.add(np.where(np.arange(evidence.factors.size) == claimed, -np.inf, 0.0))
    assert np.isposinf(evidence.parts.logs).all()
