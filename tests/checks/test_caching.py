"""Deployments that keep their answers: judged by first labels alone, within the budget."""

import math
from functools import partial

import numpy as np
import pytest
from claims import COARSE
from runs import claimed, number, result

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.embedded import reference_target
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

PRIVACY = {"epsilon": 5.0, "delta": 1e-5, "queries": 1000}

usual = partial(claimed, caching=True, privacy=PRIVACY, **COARSE)
small = partial(usual, "gaussian:2", classes=5, teachers=10)


class Keeping:
    """The claimed mechanism with one draw a histogram; asked: labels in all."""

    def __init__(self, made, total=None):
        self.mechanism, self.rng = made.mechanism.mechanism(), np.random.default_rng(1)
        self.total, self.kept, self.asked = total, {}, 0

    def __call__(self, histogram, size):
        if self.total not in (None, histogram.sum()):
            raise ValueError(f"expected {self.total} votes")
        self.asked += size
        key = tuple(histogram.tolist())
        if key not in self.kept:
            self.kept[key] = int(self.mechanism.sample(histogram, 1, self.rng)[0])
        return [self.kept[key]] * size


@pytest.mark.slow("whole runs; others are")
def test_only_the_first_label_of_a_histogram_counts() -> None:
    """The same histogram stands in several streams; its one label may count only once."""
    made = small()
    deployment = Keeping(made)
    deployment.kept[(10, 0, 0, 0, 0)] = 1  # the unlikely label, once
    own = [(10, 0, 0, 0, 0)] * 5
    report = verify(InProcessTarget(deployment), made, seed=7, own=own)
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]
    # a hundred histograms are asked three times more, two of them some sixty, and the contract
    assert report.queries < len(deployment.kept) + 500
    audited = result(report, "privacy-audit")  # its pair would be asked as other histograms
    assert audited.verdict is Verdict.NOT_APPLICABLE
    assert audited.code == "answers-cached"


@pytest.mark.slow("over half a second")
def test_there_are_enough_histograms_of_each_law() -> None:
    """Equal counts, renumbered, would be the same histogram; ten classes serve the default gate."""
    plan = make_plan(usual(tolerance=0.05, smallest_effect=0.02), 0)
    for stream in plan.streams:
        if stream.is_anchor:
            votes = np.array(stream.histogram)
            groups = np.unique(votes, return_counts=True)[1]
            numbered = math.factorial(votes.size) // math.prod(math.factorial(n) for n in groups)
            shifted = (10_000 - votes.sum()) // votes.size + 1
            assert numbered * shifted > 2 * stream.queries, stream.kind


@pytest.mark.slow("over half a second")
def test_one_total_alone_runs_out_of_histograms() -> None:
    """Renumbered alone, few histograms have the same law: no pass on repeated labels."""
    made = small()
    report = verify(InProcessTarget(Keeping(made, total=10)), made, seed=7)
    assert report.verdict is Verdict.INCONCLUSIVE
    found = result(report, "class-probabilities")
    assert found.code == "inputs-used-up"
    assert number(found, "more") > 0


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("most", [60, pytest.param(2000, marks=pytest.mark.slow("more"))])
def test_the_budget_is_kept(most) -> None:
    """Asking again counts too: a deployment may pay for each answer."""
    made = small(max_queries=most)
    deployment = Keeping(made)
    report = verify(InProcessTarget(deployment), made, seed=7)
    assert deployment.asked == report.queries <= most
    assert report.verdict is Verdict.INCONCLUSIVE


@pytest.mark.slow("a pass on ten classes that keep answers")
def test_kept_answers_are_asked_again_although_some_histograms_ran_out() -> None:
    """A small total has few histograms of one law: that ends its stream, not the run."""
    made = usual(smallest_effect=0.1)
    report = verify(InProcessTarget(Keeping(made)), made, seed=0)
    assert result(report, "fresh-noise").verdict is Verdict.PASS
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]


@pytest.mark.slow("whole runs; others are")
def test_a_deployment_that_claims_to_keep_answers_must() -> None:
    made = small()
    mechanism, rng = made.mechanism.mechanism(), np.random.default_rng(0)
    fresh = InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))
    found = result(verify(fresh, made, seed=7), "fresh-noise")
    assert found.verdict is Verdict.FAIL
    assert found.code == "answers-drawn-anew"
    assert found.fields["first"] != found.fields["again"]


def test_the_reference_keeps_its_answers_where_the_claim_says_so() -> None:
    """It drew anew, and failed the claim. A restart leaves them, as a store on disk does."""
    made, votes = small(), np.array([2, 2, 2, 2, 2])
    target = reference_target(made)
    first = np.asarray(target.ask(votes, 20))
    target.restart()
    again = [np.asarray(target.ask(votes, 1)).item() for _ in range(20)]
    assert {*first.tolist(), *again} == {first[0]}
    others = {np.asarray(target.ask(np.full(5, each), 1)).item() for each in range(3, 43)}
    assert len(others) > 1  # one label of 40 even histograms: probability 1e-27
    drawn = np.asarray(reference_target(usual(caching=False)).ask(np.full(10, 25), 40))
    assert len(set(drawn.tolist())) > 1  # one label in 40 of ten alike: probability 1e-39
