"""What findings, warnings and reasons of labels say: each sentence once, from what made it.

Programs read codes and fields, people read these. Catches a template that has lost a number.
"""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from runs import claimed
from small import small_claim

from dpassay.reference import Gaussian
from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.kinds.labels.checks import LabelsFreshNoise
from dpassay.verifiers.kinds.labels.checks.beyond_one_histogram import ComparedRestarts
from dpassay.verifiers.kinds.labels.checks.budget_asking import LabelsBudgetAsking, Rises
from dpassay.verifiers.kinds.labels.checks.certain_cost import BudgetHistogram
from dpassay.verifiers.kinds.labels.checks.compared_streams import CUT
from dpassay.verifiers.kinds.labels.checks.noise_scale import LabelsNoiseScale
from dpassay.verifiers.kinds.labels.checks.reuse import WORDS, of_wager
from dpassay.verifiers.kinds.labels.logs.changes import OnsetInterval
from dpassay.verifiers.kinds.labels.logs.column_order import ColumnOrder
from dpassay.verifiers.kinds.labels.logs.excluded import exclusions_text
from dpassay.verifiers.kinds.labels.logs.laws import Alternatives
from dpassay.verifiers.kinds.labels.mechanism import LabelsMechanism
from dpassay.verifiers.kinds.labels.planning.faults import known_faults
from dpassay.verifiers.kinds.labels.planning.features import earlier_calls, features
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.weighted import cost_by_weight
from dpassay.verifiers.replay.pairs import DIFFERENT, Limits
from dpassay.verifiers.replay.refusals import REFUSED
from dpassay.verifiers.run.budget import BudgetProof

SCREENED = small_claim("confident-gnmax").mechanism
VOTES = (20, 15, 5, 0)

FAULTS = {
    ("scale-too-small", 0.5): "gaussian:5, half the claimed scale",
    ("scale-too-large", 2.0): "gaussian:20, twice the claimed scale",
    ("threshold-noise-too-small", 0.5): "threshold noise gaussian:5, half the claim",
}


@pytest.mark.parametrize(("told", "words"), FAULTS.items())
def test_a_fault_of_the_law(told: tuple[str, float], words: str) -> None:
    notes = {(note.code, note.fields.get("factor")): str(note) for note in notes_of(SCREENED)}
    assert notes[told] == words


def notes_of(mechanism: LabelsMechanism) -> list[Note]:
    return [fault.note for fault in known_faults(mechanism)]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("noise-missing", "the plurality without any noise"),
        ("votes-ignored", "a uniform draw that ignores the votes"),
        ("smallest-count-released", "the smallest noisy count, argmin for argmax"),
        ("noise-missing-on-classes", "noise missing on classes without votes"),
        ("few-votes-left-out", "classes with few votes left out"),
        ("noise-missing-at-times", "the plurality without noise one time in twenty"),
        ("noise-clipped", "gaussian:10 clipped at twice its scale"),
        ("noise-family-differs", "laplace:10, another family at the same scale"),
        ("noise-missing-beyond-lead", "no noise where the leader is more than 5 votes ahead"),
        ("class-favoured", "the last class given 1 votes more than were cast"),
        ("threshold-not-applied", "an answer to every query: no threshold"),
        ("noise-scales-swapped", "the two noise scales swapped"),
    ],
)
def test_a_known_fault(code: str, words: str) -> None:
    assert str(next(note for note in notes_of(SCREENED) if note.code == code)) == words


def test_another_order_of_columns() -> None:
    order = ColumnOrder(3)
    order.observe(np.log(np.tile([0.1, 0.8, 0.1], (40, 1))), np.array([0] * 40))
    _, note = order.likeliest(["cat", "dog", "bird"]) or (0.0, None)
    assert str(note) == (
        "the columns may be in another order than the classes, or labels be numbered in another: "
        "label 'cat' fits the votes of 'dog', label 'dog' fits the votes of 'cat' (histogram in "
        "[log] says the order of the columns)"
    )


def test_where_a_fault_is_confined_to() -> None:
    asked = np.array([(6, 4, 0), (6, 4, 0), (5, 5, 0), (0, 0, 10)])
    where = {tuple(one.fields.items()): one.words for one in features(asked, 10)}
    assert where[("call", 2),] == "in call 2 of a histogram"
    assert where[("voted_for", 2),] == "where 2 classes have votes"
    sure = "where the leader has more than 0.8 of the teachers"
    assert where[("leader_of_teachers", 0.8), ("in_a_row", 1)] == sure
    assert earlier_calls(asked)[1].words == "of the call before, 1 or 2 votes away"


def test_copies_of_labels() -> None:
    found = of_wager(0, 1, VOTES)
    assert found.message == "answers repeat the one before on the same histogram"
    assert (
        found.diagnosis
        == "noise is reused: look for a pool, a buffer, or a generator that is reset"
    )
    seldom = of_wager(len(WORDS), 3, VOTES)
    assert seldom.message == (
        "answers avoid the one 3 before on the same histogram: they agree too rarely"
    )


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("periodic", "of every 2 answers one repeats the one before it"),
        ("calls", "a call of 32 answers gives the answers of an earlier call again"),
        ("in turn", "an answer depends on the answer to another histogram asked just before"),
    ],
)
def test_what_is_seen_of_noise_that_is_not_fresh(part: str, message: str) -> None:
    found = LabelsFreshNoise(make_plan(small_claim(), 0))._found(part)
    assert found.message == message
    assert found.diagnosis == WORDS[part][2]


def test_an_interval_of_the_scale() -> None:
    check = LabelsNoiseScale(make_plan(small_claim(), 0))
    assert check.pass_finding().message.startswith("scale of any size (confidence 1 - ")


def test_an_account_that_is_too_low() -> None:
    asking = LabelsBudgetAsking(claimed(privacy={"epsilon": 1.0, "delta": 1e-5, "queries": 5}))
    proof = BudgetProof(0.2, "2 answers to [49, 1]", {"answers": 2}, 3, ".")
    histogram = BudgetHistogram(np.array([49, 1]), (), None)
    with patch.object(asking, "_proof", return_value=proof):
        found = asking._judge_account(histogram, 0.1, 1e-5)
    assert found is not None
    assert found.message == (
        "spent said epsilon 0.1 after 2 answers to [49, 1] and 3 to others, but the former alone "
        "cost at least 0.2 at delta 1e-05."
    )


def rising() -> Note | None:
    rises = Rises()
    for before, after in ((1.0, 1.25), (1.25, 2.25)):
        rises.note(before, after)
    return rises.warning


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (CUT, "noisy counts are cut towards zero, which a shift of all votes moves"),
        (
            rising(),
            "spent rose by 0.25 for one answer and later by 1, so that it depends on the votes: "
            "when the budget ends then tells of them",
        ),
        (
            cost_by_weight(
                small_claim(weights=[[25, 1], [15, 4]], inputs={"form": "votes"}).mechanism
            ),
            "an answer costs each teacher by its weight: epsilon 0.546 for one of weight 1, "
            "2.48 for one of weight 4 (at delta 1e-05, by the data-independent analysis)",
        ),
        (
            Alternatives(small_claim().mechanism, 0.05, answered=False).causes[-1],
            "30 % fewer labels other than the plurality's (rows left out by their label, or noise "
            "that is at times too small)",
        ),
        (REFUSED, "the target refuses these inputs"),
        (DIFFERENT, "two runs on one input with the same draws give different releases"),
    ],
)
def test_a_note(note: Note, words: str) -> None:
    assert str(note) == words


def test_what_a_log_excludes() -> None:
    def entry(code: str, size: dict[str, Any], *where: str) -> Excluded:
        told = {"queries": 9, "probability": 0.99, "false_alarm": 1e-6, "method": "bound"}
        return Excluded(code=code, size=size, where=where, **told)

    some = {"of": "worker", "seen": 1, "groups": 3, "rows": 70}
    each = {"of": "hour", "seen": 24, "groups": 24, "rows": 30}
    excludes = (
        entry("noise-missing", {"rows": 59}, "rows in a row"),
        entry("noise-missing", {"rows": 50}, "the last rows"),
        entry("noise-missing-at-times", {"share": 0.036}, "rows at random"),
        entry("noise-missing", some, "w7"),
        entry("noise-missing", each, "00"),
        entry("scale-too-small", {"factor": 0.95}, "all rows"),
        entry("scale-too-large", {"factor": 1.05}, "all rows"),
    )
    assert exclusions_text(excludes) == (
        "missing noise in any 59 rows in a row, in the last 50, in 3.6 % of the rows, drawn at "
        "random, in all rows of any one of 1 of the 3 workers (w7), all with 70 rows or more among "
        "them, in all rows of any one of the 24 hours of the day; and noise of 0.95 or 1.05 times "
        "the scale in all rows"
    )


def test_a_change_of_noise() -> None:
    change = OnsetInterval((8, 12), ("10", "14"), (0.4, 0.6))
    assert change.text(Gaussian(40.0), scaled=True) == (
        "with confidence 0.99 from between rows 8 and 12 (10 and 14), with a scale since then "
        "between 16 and 24"
    )
    assert OnsetInterval((8, 12), (None, None), None).text(Gaussian(40.0), scaled=True) == (
        "with confidence 0.99 from between rows 8 and 12"
    )


def test_a_release_that_moves_too_far() -> None:
    found = Limits({np.inf: 1.0}).exceeded(np.zeros(2), np.array([0.0, 5.0]))
    assert found is not None
    assert found.message == "moves by 5 in one number, the claim allows 1"
    assert (found.code, found.fields["norm"]) == ("moves-too-far", "max")


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ((0.1,) * 10, "11 values would have shown, from many more it would not"),
        ((0.9, 0.07, 0.03), "2 values would have shown, from many more it would not"),
        ((1 - 1e-6, 1e-6), "few values, as one of 16 bits, would not have shown"),
    ],
)
def test_seeds_that_are_drawn_at_each_start(law: tuple[float, ...], words: str) -> None:
    """Catches as many values wherever a start may show that repeats another."""
    compared = ComparedRestarts(np.log(law))
    for _ in range(10):
        compared.begin(np.zeros(32, dtype=np.int64), new=True)
    compared.observe(np.zeros(32, dtype=np.int64), np.ones(32, dtype=np.int64), "begun", None)
    ends = f"; 11 starts were compared: a seed drawn at each of them from {words}"
    assert compared.shown(17.0).endswith(ends)
