"""`order`: fair under the claim, and it sees noise that depends on what was asked before."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from claims import gnmax
from plans import GNMAX, SCREENED, plan
from small import small_claim

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.kinds.labels.checks import Order
from dpassay.verifiers.kinds.labels.planning.traffic import Traffic
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget, Refused

MECHANISMS = {
    "argmax": gnmax(2, 3, 6),
    "threshold": {"name": "confident-gnmax", "noise": "gaussian:2", "classes": 2, "teachers": 6}
    | {"threshold": 4.0, "threshold_noise": "gaussian:2"},
}


class Few(Traffic):
    """Four calls: a query twice, a near-duplicate, and fewer votes."""

    @property
    def histograms(self):
        full = np.array([(3, 3, 0), (3, 3, 0), (4, 2, 0), (2, 1, 0)])
        return full[:, : self.claim.classes]


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.slow("over half a second")
def test_its_expectation_is_one_under_the_claim(name) -> None:
    """Enumerated over all labels of four calls: every wager, weight and law of the check.

    Catches weights that do not sum to 1, a law of one call used for another, and a label that is
    wagered on after it is known.
    """
    made = plan(MECHANISMS[name], effect=0.5)
    mechanism = made.claim.mechanism
    made = replace(made, traffic=Few(mechanism, 0, 4))
    votes = made.traffic.histograms.astype(float)
    law = np.exp(mechanism.mechanism().log_probabilities(votes))
    outcomes, total = law.shape[1], 0.0
    for path in product(range(outcomes), repeat=4):
        labels = np.array([-1 if y == mechanism.classes else y for y in path])
        check = Order(made)
        check.observe_in_order(np.arange(2), labels[:2])
        check.observe_in_order(np.arange(2, 4), labels[2:])
        total += math.prod(law[i, y] for i, y in enumerate(path)) * math.exp(check.average)
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow("over half a second")
def test_a_pass_says_apart_of_what_it_would_have_seen_nothing() -> None:
    """Four calls show no dependence surely; "0 of 21" among the ways seen read like a mark."""
    made = plan(MECHANISMS["argmax"], effect=0.5)
    message = Order(replace(made, traffic=Few(made.claim.mechanism, 0, 4))).pass_finding().message
    caught, missed = message.split("; not where it depends on ")
    assert " in 0 of " in caught
    assert "(0 of" not in message
    assert "the call before (" in missed


def test_a_check_none_of_whose_calls_is_answered_does_not_apply() -> None:
    """Catches a pass that has looked at nothing; one label is enough to be looked at."""
    made = plan(MECHANISMS["argmax"], effect=0.5)
    made = replace(made, traffic=Few(made.claim.mechanism, 0, 4))
    check = Order(made)
    check.pass_over(np.arange(3))
    assert check.not_applicable is None
    check.pass_over(np.arange(4))
    assert check.not_applicable is not None
    assert check.not_applicable.code == "input-refused"
    seen = Order(made)
    seen.observe_in_order(np.arange(1), np.array([0]))
    seen.pass_over(np.arange(1, 4))
    assert seen.not_applicable is None
    assert seen.samples_needed() == 0


class Bare:
    """Claimed noise, but none in the second call of a histogram."""

    def __init__(self, mended: bool) -> None:
        self.rng, self.met, self.mended = np.random.default_rng(0), {}, mended

    def sample(self, histogram, size):
        key = histogram.tobytes()
        self.met[key] = self.met.get(key, 0) + 1
        bare = self.met[key] == 2 and not self.mended
        return (histogram + self.rng.normal(0, 0 if bare else 40, (size, 10))).argmax(1)


@pytest.mark.parametrize("mended", [False, True])
@pytest.mark.slow("over half a second")
def test_a_second_answer_without_noise_is_told_as_that(mended) -> None:
    claim = parse_claim({"mechanism": GNMAX})
    target = InProcessTarget(Bare(mended))
    report = verify(target, claim, seed=0, selection=select(check=["order"], of=SHARES))
    found = next(check for check in report.checks if check.id == "order")
    assert found.verdict.value == ("pass" if mended else "fail")
    if mended:
        assert found.code is None
    else:
        assert found.code == "labels-depend-on-order"
        assert found.fields["fault"] in ("noise-missing", "scale-too-small")
        assert 2 in (found.fields.get("call"), found.fields.get("from_call"))


class Answers:
    """Labels of the claimed law; refuses totals other than 250, and ends after some calls."""

    no_restart = "no"

    def __init__(self, most=10**9) -> None:
        self.rng, self.most, self.asked = np.random.default_rng(0), most, []

    def ask(self, histogram, size):
        if histogram.sum() != 250:
            raise Refused("other totals are not served")
        self.most -= size
        if self.most < 0:
            raise BudgetExhausted
        self.asked.append(tuple(histogram.tolist()))
        return (histogram + self.rng.normal(0, 40, (size, 10))).argmax(1)


def judged(target, **gate):
    claim = parse_claim({"mechanism": GNMAX, "gate": gate})
    report = verify(target, claim, seed=0, selection=select(check=["order"], of=SHARES))
    return report, next(check for check in report.checks if check.id == "order")


@pytest.mark.slow("over half a second")
def test_a_target_of_one_total_is_asked_that_total_alone() -> None:
    report, found = judged(Answers())
    assert found.verdict.value == "pass"
    assert found.queries == 4000
    assert not any("(in turn)" in note.message for note in report.notes)


@pytest.mark.slow("over half a second")
def test_a_run_that_is_cut_short_is_inconclusive() -> None:
    """By the claim's queries, and by the target's own budget: neither is a pass."""
    assert judged(Answers(), max_queries=1000)[1].verdict.value == "inconclusive"
    assert judged(Answers(1000))[1].verdict.value == "inconclusive"


@pytest.mark.slow("over half a second")
def test_a_check_that_is_left_out_asks_nothing() -> None:
    target = Answers()
    claim = small_claim()
    assert claim.mechanism.classes  # the claim of the small runs serves as well
    report = verify(
        target,
        parse_claim({"mechanism": GNMAX}),
        seed=0,
        selection=select(check=["input-contract"], of=SHARES),
    )
    assert report.queries < 200


@pytest.mark.slow("over half a second")
def test_kept_answers_are_asked_once_each() -> None:
    """Of a caching claim no query comes twice, so that every label is a new draw."""
    kept, screened = (
        Traffic(parse_claim({"mechanism": GNMAX | more}).mechanism, 7, 4000)
        for more in ({"caching": True}, SCREENED)
    )
    assert len(np.unique(kept.histograms, axis=0)) == len(kept.histograms) > 1000
    assert len(screened.histograms) == 4000
