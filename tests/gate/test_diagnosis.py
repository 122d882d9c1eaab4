"""After a failure: which fault is named, what is asked for it, and what ends a run at once."""

import json

import numpy as np
import pytest
from claims import COARSE, SMALL, in_toml
from click.testing import CliRunner
from runs import number, result
from small import drawing, small_claim

from dpassay.verifiers import assert_conforms
from dpassay.verifiers.cli import commands
from dpassay.verifiers.evidence.dirichlet import PointedEvidence
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities
from dpassay.verifiers.kinds.labels.checks.fits import MOST, Fits, divergences
from dpassay.verifiers.kinds.labels.checks.reuse import OTHERWISE
from dpassay.verifiers.kinds.labels.gathering.diagnosis import LEAST, telling_batches
from dpassay.verifiers.kinds.labels.planning.laws import ScaledNoise
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.cause import SURE
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget
from zoo import BROKEN
from zoo.names import is_told

LONGER = pytest.mark.slow("found after a longer run; others are")


def judged(name, *checks):
    """An entry of the zoo, and a run on it that has these checks alone."""
    entry = next(entry for entry in BROKEN if entry.id == name)
    target, chosen = InProcessTarget(entry.make(3)), select(checks, of=SHARES)
    return entry, verify(target, parse_claim(entry.claim), seed=0, selection=chosen)


@pytest.mark.parametrize(
    "name",
    [
        *("root-scale", "square-scale", "no-noise"),
        *(pytest.param(name, marks=LONGER) for name in ("clear-lead-shortcut", "none-after-5000")),
    ],
)
@pytest.mark.slow("over half a second")
def test_the_fault_that_is_named_is_the_one_that_is_there(name) -> None:
    """The first labels that refute fit several; each of these got a wrong name from them alone."""
    entry, report = judged(name, "class-probabilities", "noise-scale")
    failed = [found for found in report.checks if found.verdict is Verdict.FAIL]
    assert all(is_told(entry.named, found.code, found.fields) for found in failed)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "name", ["first-of-call-bare", pytest.param("single-bare-beyond-80", marks=LONGER)]
)
def test_what_is_wrong_with_calls_for_one_label_alone_is_named_from_them(name) -> None:
    """Catches a name from all labels: most are from calls without the fault."""
    entry, report = judged(name, "class-probabilities")
    found = result(report, "class-probabilities")
    assert is_told(entry.named, found.code, found.fields)


@pytest.mark.slow("whole runs; others are")
def test_noise_that_is_missing_is_not_taken_for_noise_that_is_kept() -> None:
    """The screening without noise refuses a histogram always or never, as a cache would."""
    entry, report = judged("screens-without-noise", "class-probabilities", "fresh-noise")
    for check in ("class-probabilities", "fresh-noise"):
        found = result(report, check)
        assert found.verdict is Verdict.FAIL
        assert is_told(entry.named, found.code, found.fields)
    assert found.diagnosis.endswith("(see class-probabilities)")
    assert found.message.startswith(OTHERWISE)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("name", ["frozen-per-histogram", "one-noise-a-call"])
def test_noise_that_is_kept_is_not_taken_for_noise_that_is_missing(name) -> None:
    """The other way round: what fails for the labels' law refers to fresh-noise."""
    entry, report = judged(name, "class-probabilities", "fresh-noise")
    for check in ("fresh-noise", "class-probabilities"):
        found = result(report, check)
        assert found.verdict is Verdict.FAIL
        assert is_told(entry.named, found.code, found.fields)
    assert found.diagnosis.endswith("(see fresh-noise)")


@pytest.mark.slow("over half a second")
def test_no_fault_is_named_where_none_fits() -> None:
    """Noise on the two largest counts alone: a quarter of the scale is nearest, and far off."""
    _, report = judged("noise-on-top-two", "class-probabilities")
    found = result(report, "class-probabilities")
    assert found.code == "law-unexplained"
    expected = number(found, "expected")
    assert abs(number(found, "times") - expected) > 0.1 * expected


@pytest.mark.parametrize(("general", "explained"), [(0.0, True), (70.0, True), (90.0, False)])
def test_a_fault_that_says_less_than_laws_of_any_kind_is_not_named(general, explained) -> None:
    """Two histograms with evidence 40 each: their priors cost 2.3 nats, so 75 against 70."""
    evidence = PointedEvidence(np.array([0.5, 0.5]))
    evidence.log_ratios = evidence.recent = np.array([70.0, 20.0])
    fits = Fits.of(evidence, np.array([general / 2.0, general / 2.0]))
    assert fits.best == 0
    assert fits.explained is explained


@pytest.mark.slow("over half a second")
def test_of_any_fault_the_evidence_for_all_laws_is_seldom_more() -> None:
    """A fault that is there is refuted with probability e^-7 at most: here in none of 40 runs."""
    plan = make_plan(small_claim(), 0)
    rng = np.random.default_rng(1)
    for at in range(0, len(plan.faults), max(1, len(plan.faults) // 40)):
        check = ClassProbabilities(plan)
        for stream in range(8):
            law = np.nan_to_num(np.exp(plan.log_q[stream] + plan.fault_log_ratios[stream, at]))
            check.observe(stream, rng.choice(law.size, 500, p=law / law.sum()))
        fits = check.seen.fits()
        assert fits.log_any - fits.ratios[at] < SURE, plan.faults[at].wording


def test_labels_are_asked_where_the_likeliest_faults_differ() -> None:
    """Two that fit alike: the first batch is of the stream that tells most, the last tells."""
    plan = make_plan(small_claim(), 0)
    half, root = (
        next(
            i for i, fault in enumerate(plan.faults) if fault.scaled == (ScaledNoise.VOTES, factor)
        )
        for factor in (0.5, 0.5**0.5)
    )
    ratios = np.full(len(plan.faults), -100.0)
    ratios[[half, root]] = 20.0, 19.9
    rng, batches = np.random.default_rng(0), []
    none = np.zeros(len(plan.streams))

    def fits():
        return Fits(ratios, np.zeros(ratios.size), none)

    for batch in telling_batches(plan, fits, lambda: none, set()):
        batches.append(batch)
        law = np.exp(plan.log_q[batch.stream] + plan.fault_log_ratios[batch.stream, root])
        labels = rng.choice(law.size, batch.size, p=law / law.sum())
        counts = np.bincount(labels, minlength=law.size)
        ratios += plan.fault_log_ratios[batch.stream] @ counts
    apart = divergences(plan, half)[:, root]
    assert apart[batches[0].stream] >= 0.9 * apart.max()
    assert fits().best == root
    assert ratios[root] - ratios[half] > SURE
    assert LEAST <= sum(batch.size for batch in batches) <= MOST


@pytest.mark.slow("whole runs; others are")
def test_what_a_failure_took_is_kept_apart_from_its_diagnosis() -> None:
    claim = small_claim()
    told, ended, finished = (
        verify(drawing(claim, 0.5), claim, seed=0, after_failure=how)
        for how in ("diagnose", "stop", "keep-going")
    )
    assert told.found_after == ended.found_after == finished.found_after
    assert ended.queries == ended.found_after
    assert told.queries >= told.found_after + LEAST
    assert all(found.code not in ("cut-short", "too-few-queries") for found in finished.checks)
    assert any(found.code == "cut-short" for found in told.checks)
    assert finished.queries > told.queries
    assert verify(drawing(claim), claim, seed=0).found_after is None


@pytest.fixture(scope="module")
def refuted():
    """A run of half the noise."""
    return verify(drawing(small_claim(), 0.5), small_claim(), seed=0)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("after_failure", ["diagnose", "keep-going"])
def test_a_diagnosis_stays_within_the_budget(after_failure, refuted) -> None:
    """One more call than the budget allows would be a promise broken."""
    found = refuted.found_after
    claim = small_claim(gate={"max_queries": found + 100})
    report = verify(drawing(claim, 0.5), claim, seed=0, after_failure=after_failure)
    assert report.verdict is Verdict.FAIL
    assert report.queries == found + 100


def test_the_two_options_exclude_each_other() -> None:
    asked = CliRunner().invoke(commands, ["verify", "--keep-going", "--stop-at-once"])
    assert asked.exit_code == 2
    assert asked.output.startswith("dpassay: ")
    assert asked.output.strip().count("\n") == 0
    assert "--keep-going" in asked.output
    assert "--stop-at-once" in asked.output


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("option", ["--keep-going", "--stop-at-once"])
def test_the_command_that_repeats_a_run_has_its_option(option, tmp_path) -> None:
    """Without it, the run repeated would end elsewhere."""
    claim = tmp_path / "claim.toml"
    claim.write_text(in_toml(mechanism=SMALL, gate=COARSE))
    target = tmp_path / "plurality.py"
    target.write_text("def plurality(votes, size):\n    return [int(votes.argmax())] * size\n")
    words = ["verify", f"{target}:plurality", "--claim", str(claim), option, "--json"]
    asked = CliRunner().invoke(commands, words)
    assert asked.exit_code == 1
    report = json.loads(asked.stdout)
    again = result_of(report, "class-probabilities")["reproduce"]
    assert option in again.split()
    assert (report["queries"] == report["found_after"]) is (option == "--stop-at-once")


def result_of(report, check):
    return next(found for found in report["checks"] if found["id"] == check)


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"after_failure = 'never': .*diagnose, "):
        assert_conforms(lambda votes, size: [0] * size, small_claim(), after_failure="never")
