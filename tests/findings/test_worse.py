"""What became worse from one report to the next: by rules, each with a rule that is wrong."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from dpassay.verifiers.findings.compared import ComparedReports
from dpassay.verifiers.findings.report import Report
from dpassay.verifiers.findings.worse import Worse

CLAIM = {
    "mechanism": {"name": "noisy-histogram", "noise": "laplace:2"},
    "gate": {"max_queries": 1000},
    "privacy": {"epsilon": 3.0, "delta": 1e-5, "queries": 5},
}
SCALE = {"noise": "laplace:2", "claimed": 2.0, "confidence": "", "points": (), "emptied": None}
COST = {"epsilon": 3.0, "delta": 1e-5, "queries": 5, "here": (3, 0), "there": (2, 1), "times": 5}
COST |= {"test_delta": 0.0, "certified_delta": 0.0}


def check(name: str = "noise-scale", verdict: str = "pass", **fields: Any) -> dict[str, Any]:
    """A check of a report."""
    return {"id": name, "verdict": verdict, "message": "said", **fields}


def excluded(code: str, probability: float = 0.99, **size: Any) -> dict[str, Any]:
    """An entry of what a pass excludes."""
    where = {"where": ("a",), "queries": 10, "false_alarm": 1e-7, "method": "known"}
    return {"code": code, "size": size, "probability": probability, **where}


def report(*checks: dict[str, Any], notes: Sequence[str] = (), **fields: Any) -> Report:
    """A report of these checks."""
    said = {"verdict": "pass", "meaning": "m", "claimed": "c", "queries": 1, "seconds": 1.0}
    run = {"kind": "numbers", "seed": 7, "false_alarm": 1e-6, "claim": CLAIM}
    made = {
        **said,
        **run,
        "versions": {"dpassay": "0.1.0", "python": "3"},
        "notes": [{"code": code, "message": "noted"} for code in notes],
        "checks": checks or (check(),),
        **fields,
    }
    return Report.read(made)


def worse(before: Report, after: Report) -> list[Worse]:
    """What became worse."""
    return list(ComparedReports.of("", before, after).worse)


def kinds(before: Report, after: Report) -> list[str]:
    """What became worse, by kind."""
    return [one.what for one in worse(before, after)]


VERDICTS = ("fail", "error", "inconclusive", "not-applicable", "pass")
LOWER = {
    *product(("pass",), VERDICTS[:-1]),
    *product(("inconclusive", "not-applicable"), ("fail", "error")),
    ("error", "fail"),
}


@pytest.mark.parametrize(("before", "after"), list(product(VERDICTS, VERDICTS)))
def test_a_verdict_is_lower(before: str, after: str) -> None:
    """Catches the order of severity, in which not-applicable stands below pass, and equality."""
    found = kinds(report(check(verdict=before)), report(check(verdict=after)))
    assert found == (["verdict"] if (before, after) in LOWER else [])


def test_the_verdict_of_the_run_counts_where_no_check_is_lower() -> None:
    """A check that the earlier version did not have."""
    later = report(check(), check("joint", "inconclusive"), verdict="inconclusive")
    (found,) = worse(report(), later)
    assert (found.what, found.check, found.before, found.after) == (
        "verdict",
        None,
        "pass",
        "inconclusive",
    )


def test_what_the_failure_of_another_cut_short_is_told_once() -> None:
    cut = check("joint", "inconclusive", cut_short=True)
    failed = check(verdict="fail", code="scale-too-small")
    found = worse(report(check(), check("joint")), report(failed, cut))
    assert [(one.what, one.check, one.code) for one in found] == [
        ("verdict", "noise-scale", "scale-too-small")
    ]


def test_a_check_that_passed_and_is_missing() -> None:
    """One that had not passed says nothing that could be missed."""
    silent = check("order", "not-applicable")
    found = worse(report(check(), check("joint"), silent), report())
    assert [(one.what, one.check) for one in found] == [("missing", "joint")]


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ([], ["claim-is-fitted"], []),  # no defect
        ([], ["order-tells-counts"], ["order-tells-counts"]),
        (["order-tells-counts"], ["order-tells-counts"], []),
        (["order-tells-counts"], [], []),
        ([], ["votes-recoverable"], []),
        ([], ["of-a-later-version"], []),
    ],
)
def test_a_new_code_of_a_defect(before: list[str], after: list[str], new: list[str]) -> None:
    """Catches any new code, and one that is counted by its number and not by its name."""
    found = worse(report(notes=before), report(notes=after))
    assert [one.code for one in found] == new


def test_another_cause_of_a_failure_is_new() -> None:
    before, after = (
        report(check(verdict="fail", code=code), verdict="fail")
        for code in ("scale-too-small", "noise-reused")
    )
    assert [(one.what, one.code) for one in worse(before, after)] == [("code", "noise-reused")]
    uncoded = report(check(verdict="fail"), verdict="fail")
    assert worse(uncoded, after) == []


def test_what_allow_waives_and_what_had_no_code_is_not_new() -> None:
    code = "order-tells-counts"
    assert kinds(report(), report(notes=[code], waived=[code])) == []
    early = report(notes=["uncoded"], schema_version=1)
    found = ComparedReports.of("", early, report(notes=[code]))
    assert found.worse == ()
    assert any("codes of warnings" in line for line in found.not_compared)


def costing(low: float, high: float | None = None, **more: Any) -> Report:
    """A report whose certified cost is from `low` to `high`."""
    cost = {**COST, "refuted_below": low, "proven_from": high, **more}
    return report(check("privacy-claim", figures={"cost": cost}))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (costing(1.0), costing(1.01), ["cost"]),
        (costing(1.01), costing(1.0), []),
        (costing(1.0), costing(1.0 + 1e-9), []),  # rounding
        (costing(1.0, 2.0), costing(1.0, 2.1), ["cost"]),
        (costing(1.0, 2.0), costing(1.5, 2.1), ["cost"]),  # told once
        (costing(1.0, 2.0), costing(1.0), []),
        (costing(1.0), costing(1.5, delta=1e-6), []),  # another question
        (costing(1.0), costing(1.5, epsilon=9.0), ["cost"]),  # a claim that allows more
    ],
)
def test_a_higher_certified_cost(before: Report, after: Report, found: list[str]) -> None:
    assert kinds(before, after) == found


def test_a_cost_stands_in_what_a_pass_excludes_or_in_the_fields_of_a_failure() -> None:
    """Of numbers a pass has it, whose higher cost is no power; of a failure its code's fields."""
    code = "cost-above-claim"
    of = {"delta": 1e-5, "queries": 5}
    one, more = (
        report(check("privacy-claim", excludes=(excluded(code, 1.0, epsilon=cost, **of),)))
        for cost in (2.0, 2.5)
    )
    failed = report(check("privacy-claim", "fail", code=code, fields={"cost": 3.5, "queries": 5}))
    assert kinds(one, more) == ["cost"]
    assert kinds(more, one) == []
    assert kinds(more, failed) == ["verdict", "cost"]


def test_the_claimed_epsilon_of_labels_is_no_cost() -> None:
    """A pass of labels has it beside the certified delta; an early figure lacks the cost."""
    one, more = (
        report(
            check(
                "privacy-claim",
                excludes=(excluded("cost-above-claim", 1.0, epsilon=claimed, delta=1e-7),),
                figures={"cost": {**COST, "epsilon": claimed}},
            )
        )
        for claimed in (2.0, 3.0)
    )
    assert worse(one, more) == []


def seeing(*entries: dict[str, Any], **fields: Any) -> Report:
    """A report of a pass that excludes these, beside one that always excludes something."""
    other = check("joint", excludes=(excluded("noise-missing-at-times", share=0.1),))
    return report(check(excludes=entries), other, **fields)


LAW, SMALL, LARGE = "law-unexplained", "scale-too-small", "scale-too-large"
OFF, CUT = "releases-off-centre", "noise-tails-cut"


@pytest.mark.parametrize(
    ("before", "after", "less"),
    [
        ([excluded(LAW, total_variation=0.2)], [excluded(LAW, total_variation=0.2)], []),
        ([excluded(LAW, total_variation=0.2)], [excluded(LAW, total_variation=0.15)], []),
        ([excluded(LAW, total_variation=0.2)], [excluded(LAW, total_variation=0.21)], [LAW]),
        ([excluded(LAW, total_variation=0.2)], [], [LAW]),
        ([], [excluded(LAW, total_variation=0.2)], []),
        ([excluded(LAW)], [excluded(LAW, 0.9)], [LAW]),
        ([excluded(LAW, 0.9)], [excluded(LAW)], []),
        ([excluded(SMALL, factor=0.6)], [excluded(SMALL, factor=0.7)], []),
        ([excluded(SMALL, factor=0.6)], [excluded(SMALL, factor=0.5)], [SMALL]),
        ([excluded(LARGE, factor=1.4)], [excluded(LARGE, factor=1.5)], [LARGE]),
        ([excluded(CUT, reach=6.0, share=0.05)], [excluded(CUT, reach=8.0, share=0.04)], []),
        ([excluded(CUT, reach=8.0, share=0.04)], [excluded(CUT, reach=6.0, share=0.05)], [CUT]),
        (
            [excluded("released-too-often", rate=0.2, claimed=0.1)],
            [excluded("released-too-often", rate=0.3, claimed=0.25)],
            [],
        ),
        (
            [excluded(OFF, offset=-0.1), excluded(OFF, offset=0.1)],
            [excluded(OFF, offset=-0.1), excluded(OFF, offset=0.2)],
            [OFF],
        ),
        (
            [
                excluded(LAW, share=0.1, aggregate="count"),
                excluded(LAW, share=0.3, aggregate="sum"),
            ],
            [excluded(LAW, share=0.1, aggregate="count")],
            [LAW],
        ),
        (
            [excluded(LAW, present=3, share=0.2), excluded(LAW, present=4, share=0.3)],
            [excluded(LAW, present=3, share=0.2), excluded(LAW, present=4, share=0.4)],
            [LAW],
        ),
    ],
)
def test_a_pass_that_would_have_seen_less(
    before: list[dict[str, Any]], after: list[dict[str, Any]], less: list[str]
) -> None:
    """Catches sizes as bare numbers, sides mixed up, and the sharpest entry alone."""
    found = worse(seeing(*before), seeing(*after))
    assert [(one.what, one.code) for one in found] == [("foreseen", code) for code in less]


@pytest.mark.parametrize(
    ("size", "found"), [(0.2, []), (0.239, []), (0.25, ["foreseen"]), (None, ["foreseen"])]
)
def test_under_another_seed_a_fifth_is_left(size: float | None, found: list[str]) -> None:
    """Inputs are other ones then; what is lost as a whole is lost under any seed."""
    after = [] if size is None else [excluded(LAW, total_variation=size)]
    one, other = seeing(excluded(LAW, total_variation=0.2)), seeing(*after, seed=8)
    assert kinds(one, other) == found


def test_what_a_failed_run_had_not_asked_yet_is_no_power_lost() -> None:
    """A failure ends a run: what passes beside it exclude is of what was asked by then."""
    sharp, blunt = (
        check("joint", excludes=(excluded(LAW, total_variation=size),)) for size in (0.1, 0.3)
    )
    for verdict in ("fail", "error"):
        after = report(check(verdict=verdict, code=SMALL), blunt, verdict=verdict)
        found = ComparedReports.of("", report(check(), sharp), after)
        assert {one.what for one in found.worse} == {"verdict"}
        assert any("what passes exclude: the later run" in line for line in found.not_compared)
    failed_before = report(check(verdict="fail", code=SMALL), sharp, verdict="fail")
    found = ComparedReports.of("", failed_before, report(check(), blunt))
    assert [one.what for one in found.worse] == ["foreseen"]
    assert found.not_compared == ()


def test_a_lower_verdict_says_what_lies_behind_it() -> None:
    """Codes of the checks that decide, and the one cause; not of a check that was cut short."""
    cause, other = "noise of half the scale", "as noise of half the scale (see noise-scale)"
    after = report(
        check(verdict="fail", code=SMALL, diagnosis=cause),
        check("joint", "fail", code=SMALL, diagnosis=other),
        check("order", "inconclusive", code="cut-short", cut_short=True),
        verdict="fail",
    )
    run, *checks = worse(report(check(), check("joint"), check("order")), after)
    assert (run.code, [one.code for one in checks]) == (SMALL, [SMALL, SMALL])
    for words in (f"noise-scale ({SMALL}), joint ({SMALL})", f"likely cause: {cause}"):
        assert words in run.message
    assert "see noise-scale" not in run.message
    assert "order" not in run.message
    few = check(verdict="inconclusive", code="too-few-queries")
    (run, one) = worse(report(), report(few, verdict="inconclusive"))
    assert run.code == one.code == "too-few-queries"
    assert "inconclusive by noise-scale (too-few-queries)" in run.message


def test_which_of_several_ways_shows_may_follow_from_the_seed() -> None:
    """Under one seed it does not."""
    ways = [excluded("labels-depend-on-order", factor=0.5, on=way) for way in ("a", "b")]
    assert kinds(seeing(*ways), seeing(ways[0], seed=8)) == []
    assert kinds(seeing(*ways), seeing(ways[0])) == ["foreseen"]


SHARP = seeing(excluded(LAW, total_variation=0.1))
OF_A_LOG = seeing(excluded(LAW, total_variation=0.3), asked=False)
TOO_OLD = report(check(), check("joint"))


@pytest.mark.parametrize("later", [OF_A_LOG, TOO_OLD])
def test_what_is_not_said_of_a_plan_is_no_power_lost(later: Report) -> None:
    """Of a log it follows from the rows, and an early report does not say it; either is told."""
    found = ComparedReports.of("", SHARP, later)
    assert found.worse == ()
    assert any("what passes exclude: the later" in line for line in found.not_compared)


def measuring(low: float, high: float | None, claimed: float = 2.0) -> Report:
    """A report of a scale in an interval."""
    measured = {"what": "scale", "low": low, "high": high, "confidence": 1.0 - 1e-7}
    scale = {**SCALE, "claimed": claimed}
    return report(check(measured=measured, figures={"scale": scale}))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (measuring(1.8, 2.2), measuring(1.7, 2.1), []),  # they overlap: nothing has moved
        (measuring(1.8, 2.2), measuring(1.6, 1.8), []),  # they touch
        (measuring(1.8, 2.2), measuring(2.2, 2.6), []),
        (measuring(1.9, 2.2), measuring(1.6, 1.8), ["measured"]),  # less noise
        (measuring(1.9, 2.1), measuring(2.2, 2.4), ["measured"]),  # more than is claimed
        (measuring(2.2, 2.4), measuring(1.9, 2.1), []),  # back to the claim
        (measuring(1.6, 1.8), measuring(1.9, 2.1), []),
        (measuring(1.9, 2.1), measuring(2.2, None), ["measured"]),
        (measuring(1.9, None), measuring(2.2, 2.4), []),
        (measuring(1.9, 2.1), measuring(2.9, 3.1, 3.0), []),  # more noise by another claim
        (measuring(2.9, 3.1, 3.0), measuring(1.9, 2.1), ["measured"]),  # less by another claim
    ],
)
def test_intervals_count_where_they_are_disjoint(
    before: Report, after: Report, found: list[str]
) -> None:
    """Catches a comparison of their middles or of one end, which overlapping ones would fail."""
    assert kinds(before, after) == found


def test_it_says_where_the_runs_differ() -> None:
    """By the claim's keys, also in tables of tables; what is the same is not told."""
    mechanism = {"name": "table", "noise": "laplace:2", "aggregates": {"n": {"noise": "laplace:4"}}}
    tables: dict[str, Any] = {"mechanism": mechanism, "gate": {"max_queries": 10, "strict": False}}
    other = {
        "mechanism": {**mechanism, "aggregates": {"n": {"noise": "laplace:5"}}},
        "gate": {"max_queries": 20, "strict": False},
    }
    versions = {"dpassay": "0.1.0", "python": "3", "numpy": "2"}
    found = ComparedReports.of(
        "",
        report(claim=tables, versions=versions, target="a.py:f"),
        report(claim=other, versions={**versions, "numpy": "3"}, seed=8, target="a.py:f"),
    )
    assert [(one.what, one.key, one.before, one.after) for one in found.differs] == [
        ("seed", "seed", 7, 8),
        ("claim", "mechanism.aggregates.n.noise", "laplace:4", "laplace:5"),
        ("budget", "gate.max_queries", 10, 20),
        ("version", "numpy", "2", "3"),
    ]
    assert found.worse == ()
