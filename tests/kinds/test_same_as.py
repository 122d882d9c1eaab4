"""The law of a reference: equal and different pairs, what a run tells of them, claims."""

import itertools
import json
import tomllib
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from every_kind import CLAIMS
from runs import result
from same_as_zoo import (
    DIFFERENT,
    EQUAL,
    OF_GNMAX,
    VALUES,
    Pair,
    claim_of,
    each,
    keeping,
    laplace,
    refusing,
    run,
)

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.same_as import planned, session
from dpassay.verifiers.kinds.same_as.drawn import drawn_inputs
from dpassay.verifiers.kinds.same_as.session import Sides
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.targets import InProcessTarget, TargetError


def accused(name: str, seed: int, queries: int) -> bool:
    """Whether an equal pair fails at an error of 1 in 20."""
    return run(EQUAL[name], seed, queries, 0.05).verdict is Verdict.FAIL


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.quick_cases(1)
def test_equal_pairs_are_not_accused(name) -> None:
    """Not in all of three runs at 1 in 20, which chance does once in 8,000; all follow from seeds.

    Catches kept answers judged call by call, and a shared generator asked in a fixed order.
    """
    assert not all(accused(name, seed, 150) for seed in range(3))


TURNS: dict[int, Any] = {}


def alternating(rng: Any) -> Any:
    """Of a counter that both share every second number is larger."""
    turns = TURNS.setdefault(id(rng), itertools.count())
    return lambda data, size: [float(next(turns) % 2) + rng.random() for _ in range(size)]


def test_a_fixed_order_of_asking_would_accuse_two_that_share_a_file() -> None:
    """Which the coin does not: the counter that both share tells who was asked first."""
    pair = Pair(alternating, alternating, shared=True)
    told = {"replies-differ", "reference-remembers"}
    assert result(run(pair, 1, 200, 0.05), "same-law").code not in told
    with patch("dpassay.verifiers.kinds.same_as.session.Sides.order", lambda _: (0, 1)):
        assert result(run(pair, 1, 200, 0.05), "same-law").code in told


def test_a_fixed_order_of_starts_would_accuse_two_that_count_them_in_one_file() -> None:
    """Which the coin does not, either."""
    starts = itertools.count()

    def started(rng: Any) -> Any:
        offset = float(next(starts) % 2)
        return lambda data, size: [offset + rng.random() for _ in range(size)]

    pair = Pair(started, started, lives=3)
    assert result(run(pair, 1, 200, 0.05), "same-law").verdict is not Verdict.FAIL
    with patch("dpassay.verifiers.kinds.same_as.session.Sides.order", lambda _: (0, 1)):
        assert result(run(pair, 1, 200, 0.05), "same-law").verdict is Verdict.FAIL


FOUND = [
    pytest.param(
        name,
        marks=pytest.mark.slow("hundreds of pairs or more") if name != "kept-for-drawn" else (),
    )
    for name in DIFFERENT
]


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.quick_cases(1)
def test_different_pairs_are_found(name) -> None:
    """In the median of five within `times` what the best test takes, or 200 units; by code.

    Catches a learner that is left out: each difference is one of few.
    """
    pair = DIFFERENT[name]
    assert pair.limit is not None
    most = int(max(pair.times * pair.limit, 200) * (pair.lives or 1)) + len(pair.values)
    found = [result(run(pair, seed, most), "same-law") for seed in range(5)]
    assert sum(one.verdict is Verdict.FAIL for one in found) >= 3
    assert {one.code for one in found if one.verdict is Verdict.FAIL} == {"replies-differ"}


@pytest.mark.slow("over half a second")
def test_a_failure_says_what_differs_most() -> None:
    found = result(run(DIFFERENT["gaussian-half"], 2, 400), "same-law")
    assert found.fields["number"] == "the reply"
    assert found.fields["factor"] == pytest.approx(0.5, abs=0.2)


def silent(rng: Any) -> Any:
    """Refuses whatever is asked."""

    def release(data: Any, size: int) -> Any:
        raise ValueError("no call aggregate")

    return release


@pytest.mark.parametrize(("place", "side"), [(0, "the target"), (1, "the reference")])
def test_a_side_that_refuses_every_call_is_not_compared(place, side) -> None:
    """It is named, with the text of its refusal; catches a right target that fails."""
    makers = [laplace(1.0), laplace(1.0)]
    makers[place] = silent
    found = result(run(Pair(makers[0], makers[1]), 1, 200), "same-law")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "nothing-to-compare")
    assert found.fields["side"] == side
    assert f"{side} answered none of 17 calls" in found.message
    assert "no call aggregate" in found.message


@pytest.mark.slow("over half a second")
def test_refusals_by_chance_of_all_inputs_at_first_are_compared() -> None:
    """Of the first three calls all are; catches an end after the first asking."""

    def late(rng: Any) -> Any:
        calls = itertools.count()

        def release(data: Any, size: int) -> Any:
            if next(calls) < 3:
                raise ValueError("not now")
            return [rng.normal()] * size

        return release

    found = result(run(Pair(laplace(1.0), late, values=tuple(VALUES)), 1, 60), "same-law")
    assert found.code != "nothing-to-compare"


@pytest.mark.slow("over half a second")
def test_a_failure_of_withheld_answers_says_with_what_text() -> None:
    """Of the side that withholds, and the input; catches a refusal that nobody is shown."""
    found = result(run(Pair(refusing(0.5), laplace(1.0)), 1, 300), "same-law")
    assert found.verdict is Verdict.FAIL
    assert "it withholds" in found.diagnosis
    assert "the target withheld" in found.diagnosis
    assert "not now" in found.diagnosis


@pytest.mark.parametrize("side", ["the target", "the reference"])
def test_an_error_is_told_of_the_side_that_it_is_of(side) -> None:
    """In the verdict, and where other checks are cut short; catches a reference's error as ours."""

    def broken(rng: Any) -> Any:
        return lambda data, size: [float(n) for n in range(size + 1)]

    makers = {"the target": laplace(1.0), "the reference": laplace(1.0), side: broken}
    found = run(Pair(*makers.values()), 1, 60)
    assert found.verdict is Verdict.ERROR
    assert found.meaning == f"{side} did not answer a call as it must"
    assert result(found, "same-law").message == f"the run ended when {side} failed"


def test_an_error_of_a_second_instance_of_the_reference_is_its_own() -> None:
    """Which stands in the target's place there; catches an error that is told as the target's."""
    instances = itertools.count()

    def broken(rng: Any) -> Any:
        size_of = 1 + (next(instances) > 0)
        return lambda data, size: [rng.normal() for _ in range(size * size_of)]

    found = run(Pair(laplace(1.0), broken), 1, 60)
    assert found.meaning == "the reference did not answer a call as it must"


def test_an_interrupt_of_the_self_test_says_no_number() -> None:
    """How many more are needed is not known then. Catches those that a pass would have taken."""
    with patch.object(session, "reference_itself", side_effect=KeyboardInterrupt):
        found = result(run(Pair(laplace(1.0), laplace(1.0)), 1, 200), "same-law")
    assert found.code == "interrupted"
    assert "put against itself" in found.message
    assert "more draws" not in found.message
    assert "more" not in found.fields


def test_a_reference_that_remembers_needs_lives() -> None:
    found = result(run(Pair(keeping(1.0), keeping(1.0)), 1, 200), "same-law")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "reference-remembers")


@pytest.mark.slow("over half a second")
def test_a_start_that_differs_too_little_for_the_first_pairs_accuses_nobody() -> None:
    """More pairs of the reference follow than have told the target apart; 200 are too few."""
    starts = itertools.count()

    def started(rng: Any) -> Any:
        offset = 0.35 * (next(starts) % 2)
        return lambda data, size: [offset + rng.normal() for _ in range(size)]

    found = result(run(Pair(started, started), 1, 3_000), "same-law")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "reference-remembers")
    assert found.fields["units"] > 200


@pytest.mark.slow("over half a second")
def test_a_budget_charged_by_what_came_accuses_nobody() -> None:
    """It ends at other queries on two equal sides, which 200 pairs do not reach."""

    def charged(rng: Any) -> Any:
        answers = itertools.count()

        def release(data: Any, size: int) -> list[float]:
            if rng.random() < 0.5:
                raise ValueError("below the threshold")
            if next(answers) >= 150:
                raise BudgetExhausted
            return [rng.random() for _ in range(size)]

        return release

    found = [result(run(Pair(charged, charged), seed, 700, 0.05), "same-law") for seed in range(4)]
    assert Verdict.FAIL not in {one.verdict for one in found}


def test_a_reference_that_is_a_server_is_not_put_against_itself() -> None:
    """There are no two of it, of which the run warns; catches one server that is both."""
    found = run(DIFFERENT["one-noise"], 1, 60, reference="http://127.0.0.1:9")
    assert "reference-not-tried" in {note.code for note in found.notes}


@pytest.mark.slow("over half a second")
def test_a_pass_says_which_faults_would_have_shown() -> None:
    """Of 600 pairs half the noise, and not .95 of it; and no more than the plan foresaw."""
    report = run(EQUAL["laplace"], 3, 601)
    found = result(report, "same-law")
    assert found.verdict is Verdict.PASS
    shown, hidden = found.message.split("; and not: ")
    assert "half the noise" in shown
    assert "noise of .95" in hidden
    (entry,) = found.excludes
    claim = parse_claim(tomllib.loads(TEXT))
    assert entry.size == planned.planned_units(claim, 601, 0).excluded["same-law"][0].size


@pytest.mark.slow("two runs")
def test_a_pass_takes_pairs_that_would_have_shown_half_the_noise() -> None:
    """Catches one of pairs that show repeats alone, and a number of queries that is not enough."""
    found = result(run(EQUAL["laplace"], 3, 301), "same-law")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "too-few-queries")
    enough = found.fields["queries"]
    assert isinstance(enough, int)
    assert f"about {enough:,} queries would be enough" in found.message
    assert result(run(EQUAL["laplace"], 3, enough), "same-law").verdict is Verdict.PASS


@pytest.mark.slow("five runs")
def test_the_share_that_a_plan_excludes_is_found() -> None:
    """Of five targets that withhold as many answers all fail; catches a share told too small."""
    claim = parse_claim(tomllib.loads(TEXT))
    (entry,) = planned.planned_units(claim, 301, 0).excluded["same-law"]
    pair = Pair(refusing(entry.size["withheld"]), laplace(1.0))
    assert all(run(pair, seed, 301).verdict is Verdict.FAIL for seed in range(5))


@pytest.mark.slow("over half a second")
def test_where_no_fault_would_show_there_is_no_pass() -> None:
    """Replies that are all equal: a half of no noise is none, and nothing else varies."""
    pair = Pair(*[lambda rng: lambda data, size: ["same"] * size] * 2)
    found = result(run(pair, 1, 100), "same-law")
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "no-fault-would-show")


TEXT = '[mechanism]\nname = "same-as"\nreference = "old.py:aggregate"\n[inputs]\nvalues = [1]\n'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('reference = "old.py:aggregate"\n', "", "mechanism.reference"),
        ("[inputs]\nvalues = [1]\n", "", "0 inputs: expected from 1 to 100"),
        ("values = [1]", "values = [1]\nfile = 'x.jsonl'", "expected values, or file"),
        ("values = [1]", "file = 'x.jsonl'", "x.jsonl"),
        ("values = [1]", "values = [2024-01-01]", "no JSON"),
        ("[inputs]", "[privacy]\nepsilon = 1.0\ndelta = 0.1\nqueries = 1\n[inputs]", "[privacy]"),
        ('"same-as"', '"same-as"\nlives = 1', "lives"),
        ("[inputs]\nvalues = [1]\n", 'inputs_of = "any"', "inputs_of = 'any': expected a mech"),
        ("[inputs]\nvalues = [1]\n", "inputs_of = 3", "inputs_of = 3: expected a mechanism"),
        ("[inputs]\nvalues = [1]\n", 'inputs_of = "gnmax"', "mechanism.noise"),
        ('"same-as"', '"same-as"\nteachers = 20', "teachers"),
        ("[inputs]", f"{OF_GNMAX}[inputs]", "inputs.values"),
        (
            "[inputs]\nvalues = [1]\n",
            f"{OF_GNMAX}[[pairs]]\nhere = 1\nthere = 2",
            "pairs beside inp",
        ),
        (
            "[inputs]\nvalues = [1]\n",
            f"search = 3\n{OF_GNMAX}",
            "search beside inputs_of: expected one of the two",
        ),
        ("[mechanism]", "planner = 1\n[mechanism]", "planner"),
        ('"same-as"', "\"same-as\"\nreference_fresh_state = ''", "expected a command"),
    ],
)
def test_a_claim_that_is_none_is_told_in_one_line(old, new, said) -> None:
    with pytest.raises(ClaimError) as error:
        parse_claim(tomllib.loads(TEXT.replace(old, new)))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_and_pairs_are_asked_each_once(tmp_path) -> None:
    rows = [json.dumps({"input": {"n": n}}) for n in (1, 2, 1)]
    (tmp_path / "asked.jsonl").write_text("\n".join(rows))
    text = "pairs = [{here = {n = 2}, there = {n = 3}}]\n" + TEXT.replace(
        "values = [1]", 'file = "asked.jsonl"'
    )
    claim = parse_claim(tomllib.loads(text), folder=tmp_path)
    assert claim.asked(0) == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("kind", ["labels", "numbers", "tables"])
def test_the_inputs_of_a_mechanism_are_those_that_its_planner_asks(kind) -> None:
    """Each once, and none else, on either side. Catches a plan of another seed or its own."""
    _, keys = CLAIMS[kind].split('name = "', 1)
    inputs_of = f'inputs_of = "{keys}'
    own = parse_claim(tomllib.loads(CLAIMS[kind]))
    claim = claim_of(Pair(laplace(1.0), laplace(1.0), inputs_of=inputs_of))
    seen: dict[int, list[Any]] = {0: [], 1: []}

    def side(number: int) -> Any:
        def release(data: Any, size: int) -> Any:
            seen[number].append(data)
            raise ValueError("not answered")

        return lambda _: release

    pair = Pair(side(0), side(1), inputs_of=inputs_of)
    run(pair, 5, len(claim.asked(5)) + 40)
    wanted = [own.release.argument(values) for values in own.kind.inputs_asked(own, 5)]
    assert len(wanted) == len(claim.asked(5))
    for found in seen.values():
        assert [repr(one) for one in found[: len(wanted)]] == [repr(one) for one in wanted]


def test_histograms_of_gnmax_have_the_claimed_teachers_and_classes() -> None:
    """All that are asked; catches those of other totals, which an aggregator may refuse."""
    asked = claim_of(DIFFERENT["half-of-gnmax"]).asked(3)
    assert {(len(votes), int(votes.sum())) for votes in asked} == {(3, 20)}
    assert len(asked) > 5


def test_a_label_is_looked_at_by_its_rank_too() -> None:
    """By its votes, which on all inputs say the same; catches a rank that depends on the label."""
    claim = claim_of(DIFFERENT["half-of-gnmax"])
    target = InProcessTarget(lambda votes, size: [1] * size, release=claim.release)
    both = Sides(claim, [np.array([5, 3, 12])], (target, target), np.random.default_rng(0)).ask(0)
    assert both.target.release == {"label": 1, "rank": 2}


NAMED = [{"rows": [3, 5, 8], "by": "day"}, {"rows": [3, 5], "by": "day"}]


def test_a_search_draws_around_what_is_named() -> None:
    """By the seed; catches inputs that are named already, and values that are none of such."""
    found = drawn_inputs(NAMED, 40, np.random.default_rng(1))
    assert found == drawn_inputs(NAMED, 40, np.random.default_rng(1))
    assert found != drawn_inputs(NAMED, 40, np.random.default_rng(2))
    texts = [json.dumps(one) for one in [*NAMED, *found]]
    assert len(set(texts)) == len(texts) == 42
    assert all(one.keys() == {"rows", "by"} and one["by"] == "day" for one in found)
    assert all(type(n) is int and n >= 0 for one in found for n in one["rows"])
    sizes = {len(one["rows"]) for one in found}
    assert {0, 1, 2, 3, 4} <= sizes
    assert NAMED[0] == {"rows": [3, 5, 8], "by": "day"}, "what is named stays as it is"


def test_a_search_keeps_the_length_of_histograms() -> None:
    """Where all have one; catches cells that are left out as records are."""
    found = drawn_inputs([[8, 3, 1], [4, 4, 4]], 20, np.random.default_rng(0))
    assert len(found) == 20
    assert {len(one) for one in found} == {3}


def test_a_search_of_what_has_no_values_draws_nothing() -> None:
    assert drawn_inputs(["day", {"by": True}], 5, np.random.default_rng(0)) == []


@pytest.mark.parametrize(("value", "drawn"), [('"day"', 0), ("[3, 5, 8]", 7)])
def test_a_plan_says_how_many_inputs_were_drawn(value, drawn) -> None:
    """Which before a run is not known; catches the number that was wished for."""
    text = TEXT.replace("values = [1]", f"values = [{value}]")
    claim = parse_claim(tomllib.loads(text.replace('"same-as"', '"same-as"\nsearch = 7')))
    assert "an input and up to 7 drawn" in claim.summary
    assert f"an input and {drawn} drawn" in planned.planned_units(claim, 200, 1).claim.summary


@pytest.mark.slow("hundreds of pairs")
def test_a_search_finds_what_the_named_inputs_do_not_show() -> None:
    """No noise where there is no record, which no named input has."""

    def bare_of_none(rng: Any) -> Any:
        def once(rows: Any) -> float:
            return float(sum(rows) + (rng.normal() if rows else 0.0))

        return lambda data, size: [once(data["rows"]) for _ in range(size)]

    noisy = each(lambda rng, data: sum(data["rows"]) + rng.normal())
    codes = {}
    for search in (0, 12):
        pair = Pair(bare_of_none, noisy, values=tuple(NAMED), search=search)
        codes[search] = result(run(pair, 1, 1_500), "same-law").code
    assert codes[12] == "replies-differ"
    assert codes[0] != "replies-differ"


def test_a_reference_that_is_not_there_is_misuse() -> None:
    claim = parse_claim(tomllib.loads(TEXT))
    with pytest.raises(ClaimError, match=r"reference in \[mechanism\]: .* no file old.py"):
        claim.kind.ready(claim, None)


def test_a_name_that_the_references_file_lacks_is_misuse(tmp_path) -> None:
    """Told before the run: in it the target would be said not to have answered."""
    (tmp_path / "old.py").write_text("def agregate(data, size):\n    return [0.0] * size\n")
    claim = parse_claim(tomllib.loads(TEXT), folder=tmp_path)
    with pytest.raises(ClaimError, match=r"no attribute 'aggregate'.*did you mean agregate"):
        claim.kind.ready(claim, None)


def test_a_program_that_is_not_there_is_misuse() -> None:
    text = TEXT.replace('"same-as"', '"same-as"\nreference_fresh_state = "no-such-program"')
    claim = parse_claim(tomllib.loads(text.replace("old.py:aggregate", "json:loads")))
    with pytest.raises(ClaimError, match=r"in \[mechanism\]: 'no-such-program' was not found"):
        claim.kind.ready(claim, None)


def test_lives_of_what_cannot_be_begun_anew_are_refused() -> None:
    claim = parse_claim(tomllib.loads(TEXT.replace('"same-as"', '"same-as"\nlives = 6')))
    side = InProcessTarget(laplace(1.0)(np.random.default_rng(0)), release=claim.release)
    with pytest.raises(TargetError, match="or name fresh_state in") as error:
        Sides(claim, [1], (side, side), np.random.default_rng(0)).check_fresh()
    assert error.value.code == "options-do-not-fit"


def test_few_queries_are_refused() -> None:
    """Less than any law needs; catches a plan of a run that could not fail."""
    claim = parse_claim(tomllib.loads(TEXT))
    with pytest.raises(ValueError, match="20 queries are too few"):
        claim.kind.planned(claim, PlanRequest(20))
