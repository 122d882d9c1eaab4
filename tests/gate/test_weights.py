"""Claims of teachers who have weights: what is asked, what is told apart, and what is refused."""

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from runs import result
from small import small_claim

from dpassay.reference.accounting.analyses import answer_data_independent
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.verifiers.cli import commands
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.weighted import (
    cost_by_weight,
    each_weight,
    made_inputs,
    moves_of_one,
    weighed,
)
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

GROUPS = [[25, 1], [15, 4]]
WEIGHTS = np.repeat([1, 4], [25, 15])
VOTES = {"inputs": {"form": "votes"}}


def weighing(weights: np.ndarray, seen: set[bytes] | None = None, claim: Any = None) -> Any:
    """A target that takes the votes (teachers,) of the small claim."""
    rng = np.random.default_rng(0)

    def aggregate(votes, size):
        assert votes.shape == (40,)
        if seen is not None:
            seen.add(votes.astype(np.int64).tobytes())
        counts = np.bincount(votes, weights, 4)
        return (counts + rng.normal(0, 10, (size, 4))).argmax(1)

    return InProcessTarget(aggregate, release=claim.release)


def test_what_an_answer_costs_is_told_by_weight() -> None:
    """One of weight 4 pays as one vote does under a quarter of the noise; none without weights.

    Catches a cost of one vote for all, and w^2 in place of w. By the accountant of dp-accounting's
    form: the least of a / s^2 + log((a - 1) / a) - (log d + log a) / (a - 1) over orders a.
    """
    told = cost_by_weight(small_claim(weights=GROUPS, **VOTES).mechanism)
    assert told is not None
    assert told.code == "costs-by-weight"
    found = {weight: told.fields[f"epsilon_of_weight_{weight}"] for weight in (1, 4)}
    orders = np.linspace(1.01, 300.0, 200_000)
    for weight, epsilon in found.items():
        renyi = orders * weight**2 / 10.0**2
        least = (
            renyi + np.log1p(-1 / orders) - (np.log(1e-5) + np.log(orders)) / (orders - 1)
        ).min()
        assert epsilon == pytest.approx(least, rel=0.01)
    assert set(found) == {1, 4}
    assert cost_by_weight(small_claim().mechanism) is None


def test_weighted_votes_are_counted_and_a_teacher_moves_its_weight() -> None:
    """By hand: two light teachers vote for 0, one for 2; two heavy ones for 0 and 1."""
    votes, groups = np.array([0, 0, 2, 0, 1]), ((3, 1), (2, 4))
    here = weighed(votes, each_weight(groups), 4)
    assert here == (6, 4, 1, 0)
    moved = moves_of_one(np.array(here), votes, groups, np.array([2, 0, 1]))
    assert sorted(tuple(there.tolist()) for there in moved) == [
        (2, 4, 5, 0),
        (2, 8, 1, 0),
        (6, 0, 5, 0),
        (6, 5, 0, 0),
        (7, 4, 0, 0),
        (10, 0, 1, 0),
    ]


@pytest.mark.parametrize("groups", [((25, 1), (15, 4)), ((7, 3),), ((1, 5), (1, 1), (1, 2))])
@pytest.mark.parametrize("classes", [2, 6])
def test_inputs_that_are_made_are_votes_of_all_teachers(groups, classes) -> None:
    """Groups vote apart, or another order of the weights would never show."""
    inputs, weight = made_inputs(groups, classes), each_weight(groups)
    assert inputs == made_inputs(groups, classes)
    assert len({row.histogram for row in inputs}) == len(inputs)
    for row in inputs:
        assert row.votes is not None
        assert row.histogram == weighed(np.array(row.votes), weight, classes)
    if len(groups) > 1:
        assert any(
            weighed(np.array(row.votes), weight[::-1], classes) != row.histogram for row in inputs
        )


@pytest.mark.parametrize("noise", ["gaussian:10", "laplace:8"])
def test_what_the_heaviest_teacher_costs(noise) -> None:
    """Scaled to one vote its bound holds for every move; that of weight 1 does not."""
    name = "lnmax" if noise.startswith("laplace") else "gnmax"
    mechanism = {"name": name, "noise": noise, "classes": 4, "teachers": 40, "weights": GROUPS}
    claim = parse_claim({"mechanism": mechanism, **VOTES}).mechanism
    law, orders = claim.mechanism().log_probabilities, np.array([2.0, 8.0, 32.0])
    costs = []
    for row in made_inputs(claim.weights, 4)[:60]:
        here, votes = np.array(row.histogram), np.array(row.votes)
        there = np.array(list(moves_of_one(here, votes, claim.weights, np.arange(4))))
        log_q = law(there.astype(float))
        log_p = np.broadcast_to(law(here.astype(float)), log_q.shape)
        costs.append(renyi_divergence(log_p, log_q, orders).max(0))
    assert claim.heaviest == 4
    most = np.max(costs, 0)
    assert (most <= answer_data_independent(claim.noise.times(1 / 4), orders)).all()
    assert (most > answer_data_independent(claim.noise, orders)).all()


@pytest.mark.slow("whole runs; the zoo has weights that are left out")
def test_a_right_one_passes_and_wrong_weights_are_named() -> None:
    claim, seen = small_claim(weights=GROUPS, **VOTES), set[bytes]()
    report = verify(weighing(WEIGHTS, seen, claim), claim, seed=0)
    assert report.verdict is Verdict.PASS
    assert len(seen) > 20
    assert result(report, "histogram-leakage").verdict is Verdict.NOT_APPLICABLE
    assert not any("None" in warning.message for warning in report.notes)
    for weights, named in ((np.ones(40), "left out"), (WEIGHTS[::-1], "teachers reversed")):
        report = verify(weighing(weights, None, claim), claim, seed=0)
        assert report.verdict is Verdict.FAIL
        failed = [check for check in report.checks if check.verdict is Verdict.FAIL]
        assert {(check.code, check.fields["weights"]) for check in failed} == {
            ("weights-differ", named)
        }


def test_inputs_of_a_file_are_weighed(tmp_path) -> None:
    """A row that has a histogram alone is refused: whose votes they are is not said."""
    file = tmp_path / "inputs.jsonl"
    votes = [0] * 20 + [1] * 20
    file.write_text(f'{{"id": "a", "votes": {votes}}}\n')
    inputs = {"file": str(file), "form": "votes"}
    claim = small_claim(weights=GROUPS, inputs=inputs)
    assert claim.given[0].histogram == (20, 5 + 15 * 4, 0, 0)
    file.write_text('{"id": "a", "histogram": [20, 20, 0, 0]}\n')
    with pytest.raises(ValueError, match=r"input 'a'.*no votes"):
        small_claim(weights=GROUPS, inputs=inputs)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"weights": [[40, 1.5]]}, "whole numbers from 1"),
        ({"weights": [40, 1]}, "expected [[teachers, weight], ...]"),
        ({"weights": [[40, 0]]}, "whole numbers from 1"),
        ({"weights": [[39, 2]]}, "of 39 teachers, but teachers = 40"),
        ({"weights": GROUPS, "sampled": "fixed:10"}, "sampled and caching"),
        ({"weights": GROUPS, "adjacency": "add-remove"}, "not add-remove of a teacher"),
        ({"weights": [[40, 10**6]]}, "40000000 in all, expected at most 10000000"),
        ({"weights": [[20_000, 1]], "teachers": 20_000}, "expected at most 10000"),
    ],
)
def test_what_cannot_be_claimed_is_one_line(more, said) -> None:
    mechanism = {"name": "gnmax", "noise": "gaussian:10", "classes": 4, "teachers": 40}
    with pytest.raises(ValueError, match="weights") as refused:
        parse_claim({"mechanism": mechanism | more, **VOTES})
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({}, "the target must get each teacher's vote"),
        (VOTES | {"privacy": {"epsilon": 1.0, "delta": 1e-5, "queries": 10}}, "no epsilon"),
    ],
)
def test_weights_need_votes_and_go_without_epsilon(tables, said) -> None:
    with pytest.raises(ValueError, match=said):
        small_claim(weights=GROUPS, **tables)


TOML = """
[mechanism]
name = "gnmax"
noise = "gaussian:10"
classes = 4
teachers = 40
weights = [[25, 1], [15, 4]]
[inputs]
form = "votes"
"""


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "--log", "log.csv"],
        ["monitor", "log.csv", "--state", "state"],
        ["account", "log.csv", "--delta", "1e-5"],
    ],
)
def test_histograms_alone_are_not_held_to_weights(words, tmp_path, monkeypatch) -> None:
    """A log of plain counts of a right deployment would be of another law than the claimed one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claim.toml").write_text(TOML)
    (tmp_path / "log.csv").write_text("a,b,c,d,label\n20,20,0,0,1\n")
    ended = CliRunner().invoke(commands, [*words, "--claim", "claim.toml"])
    assert ended.exit_code == 2
    assert "whose votes" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "state").exists()
