"""Evidence on inputs that the search has found: fair to a correct target, and blind to nothing.

The expectation is summed over all labels, not simulated: it would be above 1 if the largest of the
inputs' e-values were taken, or if a weight were counted twice.
"""

import copy
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.verifiers.kinds.labels.checks import ClassProbabilities
from dpassay.verifiers.kinds.labels.checks.at_branches import BranchHistogram, LabelsAtBranches
from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.planning.plan import Plan
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Extent
from dpassay.verifiers.kinds.labels.steering.asking import LabelAsker
from dpassay.verifiers.kinds.labels.steering.candidates import LabelSource
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.decision import Decision
from dpassay.verifiers.paths.search import Candidate, Reached
from dpassay.verifiers.paths.steering import Answers, Steering, choose
from dpassay.verifiers.targets import Refused
from dpassay.verifiers.targets.replies import CallError


def _plan(classes: int) -> Plan:
    table = {"name": "gnmax", "noise": "gaussian:4", "classes": classes, "teachers": 20}
    claim = parse_claim({"mechanism": table})
    assert isinstance(claim, LabelsClaim)
    return make_plan(claim, 1, True, (), Extent(0.1))


def _input(*votes: int) -> BranchHistogram:
    return BranchHistogram(votes, "target.py:3", "x > 3", "true", 1)


def test_its_expectation_under_the_claim_is_one() -> None:
    plan, labels = _plan(2), 2
    inputs = [_input(12, 8), _input(7, 13)]
    laws = np.exp(LabelsAtBranches(plan, inputs).log_q)
    total = 0.0
    for one in product((0, 1), repeat=labels):
        for other in product((0, 1), repeat=labels):
            evidence = LabelsAtBranches(plan, inputs)
            for label_of_each in zip(one, other, strict=True):
                for place, label in enumerate(label_of_each):
                    evidence.observe(place, np.array([label]))
            chance = np.prod(laws[0, list(one)]) * np.prod(laws[1, list(other)])
            total += float(chance) * np.exp(evidence.log_e_value)
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow("a thousand runs")
def test_of_a_thousand_correct_targets_few_reach_one_in_twenty() -> None:
    """At most 72 of 1,000 where 50 are allowed for: more has a chance below 1e-3 at a rate of .05.

    The rate is far below, as the evidence is looked at after every call and bounded by Ville's
    inequality. A mixture that counted an input twice would be above.
    """
    plan, rng = _plan(4), np.random.default_rng(7)
    inputs = [_input(8, 6, 4, 2), _input(2, 8, 6, 4), _input(9, 9, 1, 1), _input(20, 0, 0, 0)]
    fresh = LabelsAtBranches(plan, inputs)
    laws, over = np.exp(fresh.log_q), 0
    for _ in range(1_000):
        evidence, highest = copy.deepcopy(fresh), 0.0
        for _ in range(8):
            for place, law in enumerate(laws):
                evidence.observe(place, rng.choice(4, size=5, p=law / law.sum()))
                highest = max(highest, evidence.log_e_value)
        over += highest >= np.log(20.0)
    assert over <= 72


def test_a_correct_target_that_branches_on_its_own_noise_is_not_accused() -> None:
    """Its answers would refute the claim if they were sorted by the branch that they took."""
    plan, rng = _plan(4), np.random.default_rng(2)
    votes, given = np.array([8, 6, 4, 2]), _input(8, 6, 4, 2)
    noisy = votes + rng.normal(0.0, 4.0, (3_000, 4))
    labels = noisy.argmax(-1)
    margins = np.sort(noisy, -1)[:, -1] - np.sort(noisy, -1)[:, -2]
    all_of_them, sorted_ones = (ClassProbabilities(plan) for _ in range(2))
    for check, kept in ((all_of_them, labels), (sorted_ones, labels[margins > 6.0])):
        check.begin_branches([given])
        check.observe_branch(0, kept)
    assert sorted_ones.refuted
    assert not all_of_them.refuted


def test_labels_without_noise_at_one_of_several_inputs_refute() -> None:
    """Of four inputs one has no noise: what is pooled over all of them would not tell."""
    plan = _plan(4)
    inputs = [_input(8, 6, 4, 2), _input(2, 8, 6, 4), _input(4, 2, 8, 6), _input(9, 5, 3, 3)]
    check, rng = ClassProbabilities(plan), np.random.default_rng(0)
    check.begin_branches(inputs)
    assert check.branches is not None
    laws = np.exp(check.branches.log_q)
    for _ in range(60):
        for place in (0, 1, 2):
            check.observe_branch(place, rng.choice(4, size=2, p=laws[place]))
        check.observe_branch(3, np.zeros(2, dtype=np.int64))
    assert check.refuted
    found = check.fail_finding()
    assert "target.py:3 (x > 3: true)" in found.message
    assert found.histogram == (9, 5, 3, 3)


def test_its_labels_are_no_evidence_of_another_kind() -> None:
    check = ClassProbabilities(_plan(4))
    check.begin_branches([_input(8, 6, 4, 2)])
    check.observe_branch(0, np.zeros(50, dtype=np.int64))
    assert not check.counts.any()
    assert check.pooled.log_e_value == ClassProbabilities(_plan(4)).pooled.log_e_value


def test_only_inputs_that_the_contract_asked_are_made_where_other_totals_are_refused() -> None:
    """No votes at all, or another total, would end or accuse a correct run."""
    source = LabelSource(_plan(4), 1, 55.0, other_totals=False)
    refused = set[int]()
    for candidate in source.candidates((0, 7, 40, 300)):
        totals = [int(votes.sum()) for votes, _ in candidate.calls]
        assert totals[-1] == 20
        refused.update(total for total in totals[:-1] if total != 20)
    assert refused == {1, 60, 10_000}


def test_no_histogram_is_empty_or_larger_than_valid_ones_where_any_total_is_served() -> None:
    source = LabelSource(_plan(4), 1, 55.0, other_totals=True)
    totals = {int(v.sum()) for c in source.candidates((0, 7, 20_000)) for v, _ in c.calls}
    assert min(totals) >= 1
    assert max(totals) <= 10_000


class _Refusing(LabelAsker):
    """Answers so often, then refuses."""

    rounds = 2

    def __init__(self, answers: int) -> None:
        self.left, self.shown = answers, 0
        state = SimpleNamespace(target=object(), claim=_plan(4).claim)
        state.tell = state.spend = lambda _: None
        self.state = cast(Any, state)

    def ask(self, values: Any, size: int, place: int | None) -> NDArray[np.int64]:
        if not self.left:
            raise Refused("no more")
        self.left -= 1
        return np.zeros(size, dtype=np.int64)

    def show(self, answers: Answers) -> None:
        self.shown += len(answers)

    @property
    def goes_on(self) -> bool:
        return True


def _asked(answers: int) -> int:
    """How many answers are shown of two calls, of a target that has so many."""
    asker, steering = _Refusing(answers), Steering.__new__(Steering)
    steering.asker, steering._answered, steering._partly = asker, set(), set()
    steering._ask(choose([_reached((0, "true"), 2.0, 1)], _key, 9))
    return asker.shown


def test_a_refusal_after_an_answer_is_an_error_and_one_before_any_leaves_the_input_out() -> None:
    """To leave it out after an answer would favour those runs whose noise had a refusal."""
    assert _asked(0) == 0
    assert _asked(2) == 2
    with pytest.raises(CallError, match="was refused, although this input was answered before"):
        _asked(1)


def _key(votes: NDArray[np.int64]) -> bytes:
    return votes.tobytes()


def _reached(outcome: tuple[int, str], answers: float, *sizes: int) -> Reached:
    votes = np.array([outcome[0], len(sizes), sizes[-1]])
    calls = tuple((votes, size) for size in sizes)
    return Reached(outcome, Decision("a.py", 1, "x", ("true",)), Candidate(calls, answers))


def test_every_outcome_has_its_cheapest_input_before_any_has_a_second() -> None:
    dear, cheap = _reached((1, "true"), 900.0, 1), _reached((0, "true"), 50.0, 1)
    second = _reached((0, "true"), 60.0, 4, 1)
    found = [cheap, second, dear]
    assert [*choose(found, _key, 960).values()] == [cheap, dear]
    assert [*choose(found, _key, 2_000).values()] == [cheap, dear, second]


def test_one_large_call_is_enough_where_it_answers_all_that_is_needed() -> None:
    large = _reached((0, "true"), 66.0, 1_031)
    assert [*choose([large], _key, 1_031).values()] == [large]
    assert not choose([large], _key, 1_030)
