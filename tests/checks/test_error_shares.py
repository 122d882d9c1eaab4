"""`false_alarm` is spent once: what all wagers of all checks get of it sums to the whole.

Runs on correct deployments cannot see that a wager has twice its share: they fail too seldom.
"""

import math
import tomllib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from every_kind import CLAIMS, deployment
from numeric_zoo.claims import BALL, PRIVATE, REPLACED, WHOLE
from scipy.stats import chi2
from table_zoo.shelf import GEOMETRIC

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee
from dpassay.verifiers.claims.tables import PrivacyClaim
from dpassay.verifiers.evidence.repetition import LONGEST, WAGERS, log_mixture
from dpassay.verifiers.findings import pair_bounds
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.kinds.batches.checks import made_checks
from dpassay.verifiers.kinds.batches.watch import Watch
from dpassay.verifiers.kinds.labels.checks.asked_again import AskedAgain
from dpassay.verifiers.kinds.labels.checks.base import LabelsSetting
from dpassay.verifiers.kinds.labels.checks.fresh_noise import LabelsFreshNoise
from dpassay.verifiers.kinds.labels.gathering import explaining
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.lawless.fresh_replies import FreshReplies
from dpassay.verifiers.kinds.lawless.pair_audit import PairAudit
from dpassay.verifiers.kinds.lawless.privacy_audit import LawlessPrivacyAudit
from dpassay.verifiers.kinds.numbers import simplest as simplest_values
from dpassay.verifiers.kinds.numbers.checks import moving
from dpassay.verifiers.kinds.numbers.checks.at_branches import BRANCHES
from dpassay.verifiers.kinds.numbers.checks.fresh_noise import CopyOf
from dpassay.verifiers.kinds.numbers.checks.pair_check import PairCheck
from dpassay.verifiers.kinds.numbers.planning.neighbours import simple_neighbours
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.checks.joint import TableJoint
from dpassay.verifiers.kinds.tables.checks.of_numbers import OfEachAggregate, TableNoiseLaw
from dpassay.verifiers.kinds.tables.planning.asked import NEAR
from dpassay.verifiers.kinds.tally.checks.several_ways import present_of
from dpassay.verifiers.run.checks import EvidenceCheck, Setting
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.registry import Entry, Registry
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.state import RunState

TEXTS = {name: CLAIMS[name] for name in ("keys", "tallies")} | {
    "labels": CLAIMS["labels"] + PRIVATE.format(9, 10),
    "numbers": f"[mechanism]\n{WHOLE}{PRIVATE.format(9, 1)}",
    "records": f"[mechanism]\n{REPLACED}",
    "norms": f"[mechanism]\n{BALL}",
    "tables": CLAIMS["tables"] + 'aggregates.privacy-id-count = {noise = "laplace:6"}\n',
    "private": f"[mechanism]\n{GEOMETRIC}",
    "batches": '[mechanism]\nname = "batches"\nsampling = "poisson:0.2"\nrecords = 60\n',
}


_GAINED = 1e3  # nats, of one wager


class Gained:
    """Evidence of one wager."""

    log_e_value = _GAINED


def claim_of(name: str) -> Any:
    return parse_claim(tomllib.loads(TEXTS[name]))


def checks_of(claim: Any) -> Iterator[Any]:
    """All checks that a claim has room for, which have seen nothing."""
    if claim.kind.name == "labels":
        plan = make_plan(claim, 0)
        setting: Setting = LabelsSetting(claim, 0, plan)
        return (check.make(setting) for check in claim.kind.checks.applicable(claim, plan))
    if claim.kind.name == "batches":
        return iter(made_checks(claim, Watch(claim.mechanism.batches), 100))
    setting = Setting(claim, 0, claim.kind.planned(claim, PlanRequest()).plan)
    return (check.make(setting) for check in claim.kind.checks.applicable(claim))


@pytest.mark.parametrize("name", TEXTS)
def test_wagers_share_what_their_check_has(name) -> None:
    """By the thresholds of wagers that are judged one by one; of others by weights that sum to 1.

    Their average over wagers that have seen nothing is 1, unless one has more than is left.
    """
    claim = claim_of(name)
    for check in checks_of(claim):
        wagers = 1
        if isinstance(check, PairCheck):
            wagers = len(check.pairs)
        elif isinstance(check, moving.MovingRecords):
            ways = 3 if check.id == "sensitivity" else 2  # numbers, along it, and with those alike
            wagers = ways * len(check.asked)
        elif isinstance(check, LabelsFreshNoise):
            check._look()
        elif isinstance(check, OfEachAggregate):
            parts = 2.0 if isinstance(check, TableJoint) and check.pairs else 1.0
            parts /= 1.0 - BRANCHES if isinstance(check, TableNoiseLaw) else 1.0
            for each in check.each:
                of_all = each.log_threshold - math.log(len(check.each) * parts)
                assert of_all == pytest.approx(check.log_threshold)
        error = claim.kind.checks.shares[check.id] * 1e-6
        if check.id == "order":
            assert check.average == pytest.approx(0.0, abs=1e-9)
        if hasattr(check, "alpha"):
            assert check.alpha == pytest.approx(error)
        if hasattr(check, "log_threshold"):
            assert wagers * math.exp(-check.log_threshold) == pytest.approx(error), check.id
            nothing = getattr(check, "log_e_value", 0.0)
            assert nothing == pytest.approx(0.0, abs=1e-9) or nothing == -math.inf, check.id


def test_checks_that_together_have_more_than_all_are_refused() -> None:
    with pytest.raises(AssertionError):
        Registry("", (Entry("one", 0.75), Entry("other", 0.5)), 0.25)


def test_an_emptied_store_and_a_new_start_share_the_error_of_fresh_noise() -> None:
    found = AskedAgain(claim_of("labels"), [(30, 0, 0)], [0])
    assert 2 * math.exp(-found.log_threshold) == pytest.approx(1e-6 / 8)


def test_pairs_of_the_claim_and_drawn_ones_have_half_each(monkeypatch) -> None:
    """Of a deployment without a law; so what a pass excludes, and the bounds that are told."""
    text = 'search = "rows"\n[mechanism]\nname = "any"\n[privacy]\nepsilon = 1.0\ndelta = 0\n'
    pair = "[[pairs]]\nhere = {rows = [3, 5, 8]}\nthere = {rows = [3, 5, 8, 13]}\n"
    claim = parse_claim(tomllib.loads(text + pair))
    audit, replies, asked = LawlessPrivacyAudit(claim), FreshReplies(claim), list[float]()
    assert audit.claim.drawn
    assert audit.log_e_value == pytest.approx(0.0, abs=1e-9) == replies.log_e_value
    thresholds = [math.exp(-check.log_threshold) for check in (audit, replies)]
    assert thresholds == pytest.approx([1e-6 * 15 / 16, 1e-6 * 3 / 64])

    def recorded(lines: Any, draws: int, wanted: float, predicted: bool) -> Any:
        asked.append(wanted)
        return None, (None, None)

    monkeypatch.setattr("dpassay.verifiers.kinds.lawless.privacy_audit._surely_seen", recorded)
    spent = list[float]()

    def least_epsilon(pair: PairAudit, delta: float, error: float) -> float:
        spent.append(error)
        return 0.0

    monkeypatch.setattr(PairAudit, "least_epsilon", least_epsilon)
    audit.pass_finding()
    for one in audit.each:
        one.guarantees = [Guarantee(1.0)] * 3
        one.audit = CoinAudit(one.guarantees)
        assert one.log_e_value == pytest.approx(0.0, abs=1e-9)
    audit.fail_finding()
    of_each = 0.05 / len(audit.each)  # of what is told at 95 %: each pair, or each of its lines too
    assert spent == pytest.approx([*[of_each] * (len(spent) - 1), of_each / 3])
    of_pair: Any = Gained()
    audit.each[0] = of_pair
    assert audit.log_e_value == pytest.approx(_GAINED - math.log(2.0))
    assert asked == pytest.approx([audit.log_threshold + math.log(2.0)])


def test_two_intervals_share_the_error_of_the_bounds_of_a_pair(monkeypatch) -> None:
    """And the pair is said to be as sure; the event is that of the pilot, not of what is judged."""
    spent = []

    def recorded(successes: int, trials: int, alpha: float) -> tuple[float, float]:
        spent.append((successes, trials, alpha))
        return 0.0, 1.0

    monkeypatch.setattr(pair_bounds, "anytime_interval", recorded)
    pairs = pair_bounds.PairLabels(2, pilot=2)
    pairs.observe(0, np.array([0, 0, 1, 1, 1]))
    pairs.observe(1, np.array([1, 1, 0, 0]))
    found = pairs.bounds(PrivacyClaim(epsilon=1.0, delta=1e-5, queries=10), 10, 0.03)
    assert spent == [(0, 3, 0.015), (2, 2, 0.015)]
    assert found.confidence == 0.97


def test_a_pair_at_its_delta_is_not_refuted() -> None:
    """Coins of 0.6 and 0.5 differ by 0.1 at epsilon 0."""
    for delta in (0.1, 0.0999):
        claim = PrivacyClaim(epsilon=1e-9, delta=delta, queries=1)
        found = pair_bounds.bounds_of(0.6, 0.5, claim, 1, queries=10, confidence=0.9)
        assert found.refuted is (delta < 0.1)


class Shown(EvidenceCheck):
    """Evidence of a number."""

    id, log_e_value, log_threshold, queries = "shown", 4.99, 5.0, 1

    def __init__(self) -> None:
        """It is of no claim."""

    def samples_needed(self) -> int:
        return 0

    def fail_finding(self) -> Finding:
        return Finding("")

    pass_finding = fail_finding


def test_evidence_refutes_at_its_threshold_and_not_below() -> None:
    shown: Any = Shown()
    assert not shown.refuted
    shown.log_e_value = 5.0
    assert shown.refuted


class StoppedError(Exception):
    """Ends a search as it asks for its threshold; its argument is the share of the error."""


def stop(share: float, false_alarm: float) -> float:
    raise StoppedError(share)


def test_simple_inputs_share_the_error_of_their_search(monkeypatch) -> None:
    """Half is on the law of the noise, a quarter on records of `clipping` and of `sensitivity`."""
    claim, spent = claim_of("records"), 0.0
    state = RunState(deployment(claim), claim, RunOutcome(None), None)
    monkeypatch.setattr(simplest_values, "log_threshold", stop)
    with pytest.raises(StoppedError) as of_law:
        simplest_values.find_simplest(state, claim, 0, singly=False)
    spent += of_law.value.args[0] * len(simplest_values.simple_inputs(claim))
    checks = [check for check in checks_of(claim) if isinstance(check, moving.MovingRecords)]
    monkeypatch.setattr(moving, "log_threshold", stop)
    for check in checks:
        with pytest.raises(StoppedError) as of_records:
            check._with_simplest(state, Finding(""), 1.0)
        # each is wagered on by its numbers and along itself
        spent += of_records.value.args[0] * 2 * len(list(simple_neighbours(claim.mechanism)))
    assert len(checks) == 2
    assert spent == pytest.approx(claim.kind.checks.simplest_share)


def test_simple_histograms_share_the_error_of_their_search(monkeypatch) -> None:
    """And the two wagers on each: no label is no evidence."""
    claim, spent = claim_of("labels"), []
    plan = make_plan(claim, 0)

    def threshold(share: float, false_alarm: float) -> float:
        spent.append(share)
        return 0.0

    monkeypatch.setattr(explaining, "log_threshold", threshold)
    nothing = np.zeros(0, dtype=np.int64)
    found = explaining.find_simplest(plan, 0, lambda stream, size: nothing, 10**9)
    assert isinstance(found, explaining.SimplestHistogram)
    assert found.log_e_value == pytest.approx(0.0, abs=1e-9)
    assert spent == pytest.approx([claim.kind.checks.simplest_share / len(plan.of(Role.SIMPLE))])


def copies_of_one_stream(check: Any) -> None:
    """On the stream that shows them best, at the largest distance, less what any law explains."""
    varied = 1.0 - np.square(np.exp(check.plan.log_q)).sum(-1)
    ratios = np.zeros((WAGERS, LONGEST))
    ratios[0, -1] = _GAINED
    misfit = chi2.isf(0.01, check.plan.log_q.shape[1] - 1) / 2.0
    at = np.argmax(check.planned * varied)
    check._alike._logs["single"][at] = log_mixture(ratios) - misfit
    check._look()


ALONE: dict[tuple[str, str], tuple[str, Callable[[Any], object]]] = {
    ("numbers", "fresh-noise"): (
        "numbers.checks.fresh_noise.share_seen",
        lambda check: np.add.at(check.ways[CopyOf.LAST]._ratios, (0, 0), _GAINED),
    ),
    ("numbers", "shift-invariance"): (
        "numbers.checks.invariance.pairs_to_see",
        lambda check: np.add(wealth := check.comparisons[0].evidence.gains, _GAINED, out=wealth),
    ),
    ("norms", "independence"): (
        "numbers.checks.independence.seen_correlation",
        lambda check: np.put(check.kinds[0].evidence.gains, 0, _GAINED),
    ),
    ("keys", "independence"): (
        "keys.checks.keys_together.seen_correlation",
        lambda check: check.evidence[0].gains.fill(_GAINED),
    ),
    ("tables", "joint"): (
        "tables.checks.joint.seen_correlation",
        lambda check: np.put(check.pairs[0].gains, 0, _GAINED),
    ),
    ("tables", "contribution-bounding"): (
        "tables.evidence.linear.LinearEvidence.shows",
        lambda check: next(iter(check._made.values())).gains.fill(_GAINED),
    ),
    ("tallies", "recovery"): (
        "tally.checks.recovery.seen_effect",
        lambda check: check.left.update(
            {present_of(check.inputs[0]): SimpleNamespace(law=Gained())}
        ),
    ),
    ("labels", "fresh-noise"): (
        "labels.checks.fresh_noise.copies_to_see",
        copies_of_one_stream,
    ),
}
"""Of a check: what says which fault shows by a wager with so many nats, and how one alone gains."""


@pytest.mark.parametrize(("name", "of"), ALONE, ids=str)
def test_what_a_pass_excludes_would_refute_by_one_wager_alone(name, of, monkeypatch) -> None:
    """It is asked for the threshold, and for what its share of the average costs."""
    shows, gain = ALONE[name, of]
    (check,) = (check for check in checks_of(claim_of(name)) if check.id == of)
    asked = []

    def recorded(*given):
        asked.append(given[-1])
        return 0

    monkeypatch.setattr(f"dpassay.verifiers.kinds.{shows}", recorded)
    _ = check.foreseen if name == "labels" else check.excluded
    gain(check)
    value = check._log_e_value if of == "recovery" else check.log_e_value
    wanted = check.log_threshold + _GAINED - value
    assert asked
    assert asked == pytest.approx([wanted] * len(asked))


def test_masks_that_are_used_again_would_refute_by_one_wager_alone(monkeypatch) -> None:
    """Of the ways that are looked for, each has an equal part; values may tell 5 nats less."""
    checks = checks_of(claim_of("tallies"))
    (check,) = (check for check in checks if check.id == "mask-uniformity")
    wagers = len(check.evidence.wagers) + len(check.wagers_again)
    wanted = check.log_threshold + math.log(wagers) + 5.0
    for nats in (wanted + 0.01, wanted - 0.01):
        mean = f"{type(check).__module__}.log_mean_of"
        monkeypatch.setattr(mean, lambda parts, nats=nats: nats)
        assert any(check._excluded_masks()) is (nats > wanted)


def test_other_selections_would_refute_by_one_wager_alone(monkeypatch) -> None:
    checks = checks_of(claim_of("private"))
    (check,) = (check for check in checks if check.id == "partition-release")
    near = [asked for asked in check._inputs if asked.role in NEAR]
    releases = sum(math.ceil(check._wanted / (asked.rows > 0).sum()) for asked in near)
    check.evidence.gains[0] = _GAINED
    wanted = check.log_threshold + _GAINED - check.log_e_value
    found = []
    for nats in (wanted + 0.01, wanted - 0.01):
        each = np.full(len(check.evidence.others), nats / releases)
        monkeypatch.setattr(check.evidence, "moments", lambda *_, each=each: (each, 0.0 * each))
        found.append(len(check.excluded))
    assert found[0] > found[1]


def test_another_rate_of_a_key_would_refute_by_one_wager_alone() -> None:
    checks = checks_of(claim_of("keys"))
    (check,) = (check for check in checks if check.id == "partition-release")
    check.evidence._add("a key", np.append(_GAINED, np.zeros(len(check.evidence.faults) - 1)))
    assert check._nats == pytest.approx(check.log_threshold + _GAINED - check.log_e_value)


def test_half_the_noise_of_some_calls_would_refute_by_their_wager_alone(monkeypatch) -> None:
    (check,) = (check for check in checks_of(claim_of("labels")) if check.id == "order")
    check._conditional.log_ratios[0, 0] = _GAINED
    wanted = check.log_threshold + _GAINED - check.average
    calls, held = len(check._holds), check._holds[:, 0].sum()
    for nats in (wanted + 0.01, wanted - 0.01):
        of_each = np.tile([nats / held, 0.0], (calls, 1))
        monkeypatch.setattr(check, "_half_of", lambda answered, each=of_each: each)
        assert check._surely(np.ones(calls, dtype=bool))[0] == (nats > wanted)
