"""The pytest plugin as users meet it: items, verdicts, one run a session, misuse.

Most runs have a stand-in for the gate, whose verdicts are known; the last ones have none.
"""

import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points

import pytest
from claims import in_toml
from stand_in import ORDER, SPECIAL, TABLE, in_order

from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.testing import shared_run

INSTALLED = bool(entry_points(group="pytest11", name="dpassay"))
PLUGIN = [] if INSTALLED else ["-p", "dpassay.verifiers.pytest_plugin"]


CLAIMED = ["--dpassay-claim", "claim.toml"]


def run(project, *arguments):
    return project.runpytest_inprocess(*PLUGIN, *arguments)


def assay(project, *arguments):
    return run(project, "--dpassay-claim", "claim.toml", *arguments)


# -- what is collected ---------------------------------------------------------------------------


@pytest.mark.slow("over half a second")
def test_without_the_options_nothing_is_collected_or_imported(project) -> None:
    run(project).assert_outcomes(passed=1)
    code = (
        "import sys, dpassay.verifiers.pytest_plugin\n"
        "heavy = {'numpy', 'scipy', 'jax', 'mpmath', 'hypothesis', 'pydantic', 'rich', 'click'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_one_item_for_each_check_beside_the_users_own(project, gate) -> None:
    found = assay(project, "--collect-only", "-q")
    wanted = [f"dpassay::{name}" for name in SHARES] + ["test_mine.py::test_mine"]
    assert [line for line in found.outlines if "::" in line] == wanted
    assert gate.runs == []


def test_a_code_of_fail_on_is_an_item_which_its_warning_fails(project, gate) -> None:
    """Catches a session that is green although a rule of the user's fails the run."""
    given = {**TABLE["gate"], "fail_on": ["claim-is-fitted", "not-restarted"]}
    claim = in_toml(mechanism={**TABLE["mechanism"], "fitted": True}, gate=given)
    (project.path / "claim.toml").write_text(claim)
    gate.special = {}
    found = assay(project, "-rA")
    found.assert_outcomes(passed=len(SHARES) + 2, failed=1)
    found.stdout.fnmatch_lines(["FAILED *claim-is-fitted*"])
    assert "by your fail_on: the claim says fitted" in found.stdout.str()


@pytest.mark.parametrize(
    ("selection", "count"),
    [(["-k", "noise-scale"], 1), (["-m", "dpassay"], len(SHARES)), (["-m", "not dpassay"], 1)],
)
def test_items_are_selected_as_any_others(selection, count, project, gate) -> None:
    found = assay(project, *selection, "--collect-only", "-q")
    assert len([line for line in found.outlines if "::" in line]) == count


def test_a_target_that_no_selected_item_needs_is_left_alone(project, gate) -> None:
    """-k of one's own tests must not start a deployment; opening this one would be misuse."""
    found = assay(project, "--dpassay-target", "no_such_module:x", "-k", "test_mine")
    found.assert_outcomes(passed=1, deselected=len(SHARES))


# -- verdicts ------------------------------------------------------------------------------------


def test_verdicts_become_outcomes(project, gate) -> None:
    """Not applicable is a skip, an error a failure; what those cut short adds no failure."""
    found = assay(project, "-rA")
    passed = len(SHARES) - len(SPECIAL) + 1
    found.assert_outcomes(passed=passed, failed=2, skipped=2)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    text = found.stdout.str()
    assert "gnmax refuses" in text
    assert "warning: it leaks" in text
    assert "Traceback" not in text
    assert "runtest" not in text


def test_a_violation_is_told_in_order(project, gate) -> None:
    """A text that puts the command before the cause, or drops one of the four, is caught."""
    found = assay(project, "-k", "class-probabilities")
    text = found.stdout.str()
    assert in_order(text, [*ORDER])
    told = ("label 2 came", "10^6.5, but it is 10^21.7", "gaussian:2", "dpassay verify x:y")
    assert in_order(text, told)


def test_what_is_no_violation_is_worded_otherwise(project, gate) -> None:
    text = assay(project, "-k", "fresh-noise").stdout.str()
    assert "fresh-noise: the target" in text
    assert "assert_conforms(target, claim, seed=7)" in text
    assert "does not do" not in text


def test_a_check_cut_short_is_no_pass_where_the_failure_is_not_shown(project, gate) -> None:
    """A skip of the one check selected would turn CI green although the deployment fails."""
    found = assay(project, "-k", "noise-scale")
    found.assert_outcomes(failed=1, deselected=len(SHARES))
    text = found.stdout.str()
    assert "noise-scale: too little" in text
    assert "reproduce: again" in text


@pytest.mark.parametrize("mark", ["xfail", "skip"])
def test_a_failure_that_is_expected_hides_no_other(project, gate, mark) -> None:
    """One known fault accepted, what it cut short was never looked at: that is no pass."""
    project.makeconftest(
        f"""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.name in ("class-probabilities", "fresh-noise"):
                    item.add_marker(pytest.mark.{mark}(reason="known"))
        """
    )
    found = assay(project)
    assert found.parseoutcomes()["failed"] == 1
    assert "noise-scale: too little" in found.stdout.str()


def test_junit_xml_has_each_check(project, gate) -> None:
    assay(project, "--junitxml=out.xml")
    cases = {
        case.get("name"): case
        for case in ET.parse(project.path / "out.xml").iter("testcase")
        if case.get("classname") == "dpassay"
    }
    assert list(cases) == list(SHARES)
    assert in_order(cases["class-probabilities"].find("failure").get("message"), ORDER[:3])
    assert "gnmax refuses" in cases["abstention"].find("skipped").get("message")
    told = cases["input-contract"].find("properties/property[@name='dpassay-message']")
    assert told.get("value") == "ok"


# -- one run -------------------------------------------------------------------------------------


def test_all_items_share_one_run(project, gate) -> None:
    """A run an item would multiply the false alarms by the number of checks."""
    assay(project, "--dpassay-seed", "7")
    assert gate.runs == [(7, "dpassay verify --claim claim.toml")]


def test_the_last_failed_are_run_again_by_name(project, gate) -> None:
    assay(project)
    found = assay(project, "--lf")
    found.assert_outcomes(failed=2)
    assert len(gate.runs) == 2


def test_processes_that_share_a_folder_share_a_run(gate, tmp_path) -> None:
    runs = [
        shared_run.SharedRun(None, parse_claim(TABLE), "claim.toml", None, tmp_path)
        for _ in range(2)
    ]
    (first, made), (second, made_again) = (run.report() for run in runs)
    assert first == second
    assert (made, made_again, len(gate.runs)) == (True, False, 1)


@pytest.mark.slow("over half a second")
def test_an_interrupted_run_interrupts_pytest(project, gate) -> None:
    """The gate keeps what it has when it is interrupted; pytest must stop all the same."""
    gate.interrupted = True
    with pytest.raises(KeyboardInterrupt):  # pytester hands on what ended the inner session
        assay(project)


def test_queries_and_seconds_reach_the_run(project, gate) -> None:
    assay(project, "--dpassay-queries", "900", "--dpassay-max-seconds", "60")
    assert gate.asked == [(900, 60.0)]
    assert gate.runs == [(None, "dpassay verify --claim claim.toml --queries 900")]


def test_a_ledger_and_its_build_reach_the_run(project, gate) -> None:
    """And the command that repeats it: the evidence of the runs before is part of the verdict."""
    assay(project, "--dpassay-ledger", "l.jsonl", "--dpassay-build", "2")
    assert gate.builds == ["2"]
    assert gate.runs == [(None, "dpassay verify --claim claim.toml --ledger l.jsonl --build 2")]
    (project.path / "l.jsonl").write_text("no ledger\n")
    found = assay(project, "--dpassay-ledger", "l.jsonl", "-k", "noise-scale")
    found.assert_outcomes(failed=1, deselected=len(SHARES))
    assert "l.jsonl" in found.stdout.str()
    assert "Traceback" not in found.stdout.str()


def test_a_log_has_the_items_of_its_claim(project) -> None:
    """All labels are the third of three classes: no law of the claim."""
    (project.path / "log.csv").write_text("a,b,c,label\n" + "14,12,4,2\n" * 300)
    found = assay(project, "--dpassay-log", "log.csv", "-k", "class-probabilities")
    found.assert_outcomes(failed=1, deselected=len(SHARES))
    assert "dpassay: log.csv, under claim.toml" in found.stdout.str()
    (project.path / "log.csv").write_text("a,b,c,label\n14,12,4,9\n")
    found = assay(project, "--dpassay-log", "log.csv", "-k", "class-probabilities")
    found.assert_outcomes(failed=1, deselected=len(SHARES))
    assert "log.csv, line 2: label 9" in found.stdout.str()
    assert "Traceback" not in found.stdout.str()


# -- misuse --------------------------------------------------------------------------------------


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dpassay-target", "x:y"], "--dpassay-target x:y needs --dpassay-claim FILE"),
        (["--dpassay-target", "https://me:key@host"], "--dpassay-target https://***@host needs"),
        (["--dpassay-seed", "3"], "--dpassay-seed 3 needs --dpassay-claim"),
        (["--dpassay-claim", "none.toml"], "none.toml: No such file"),
        (["--dpassay-claim", "wrong.toml"], "wrong.toml: mechanism is missing"),
        (["--dpassay-claim", "claim.toml", "--dpassay-seed=-1"], "expected a whole number from 0"),
        (
            ["--dpassay-claim", "claim.toml", "--dpassay-target", "x"],
            "expected package.module:attr",
        ),
        (["--dpassay-claim", "claim.toml", "--dpassay-target", "nowhere:y"], "ModuleNotFoundError"),
        ([*CLAIMED, "--dpassay-build", "2"], "--dpassay-build 2 needs --dpassay-ledger FILE"),
        (["--dpassay-log", "a.csv"], "--dpassay-log a.csv needs --dpassay-claim FILE"),
        (["--dpassay-max-seconds", "9"], "--dpassay-max-seconds 9.0 needs --dpassay-claim FILE"),
        ([*CLAIMED, "--dpassay-queries", "0"], "queries = 0: expected a whole number from 1"),
        ([*CLAIMED, "--dpassay-max-seconds", "0"], "max_seconds = 0.0: expected seconds above 0"),
        ([*CLAIMED, "--dpassay-log", "a.csv"], "log = a.csv: expected a file"),
        (
            [*CLAIMED, "--dpassay-log", "claim.toml", "--dpassay-target", "x:y"],
            "target or log: expected exactly one of both",
        ),
        (
            [*CLAIMED, "--dpassay-log", "claim.toml", "--dpassay-queries", "9"],
            "no option but claim and seed",
        ),
    ],
)
def test_misuse_exits_4_with_one_line(arguments, words, project) -> None:
    (project.path / "wrong.toml").write_text("")
    found = run(project, *arguments)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in found.errlines if line]
    assert line.startswith("ERROR: ")
    assert words in line


# -- nothing stands in ---------------------------------------------------------------------------

STRATEGIES = """
from dpassay.verifiers.strategies import claims, histograms, neighbours
from hypothesis import given

@given(histograms(classes=3, teachers=30))
def test_histograms(votes):
    assert votes.shape == (3,) and votes.sum() == 30 and votes.min() >= 0

@given(neighbours())
def test_neighbours(pair):
    assert sorted((pair[1] - pair[0])[pair[1] != pair[0]]) == [-1, 1]

@given(claims())
def test_claims(claim):
    assert claim.mechanism.classes >= 2
"""

TARGET = """
import os
import numpy as np

rng = np.random.default_rng()
asked = False

def answer(votes, size):
    global asked
    if not asked:
        asked = True
        with open("asked", "a") as file:
            file.write(f"{os.getpid()}\\n")
    return (votes + rng.normal(0, 1, (size, len(votes)))).argmax(1)
"""


@pytest.mark.slow("over half a second")
def test_the_strategies_serve_a_users_module(project) -> None:
    project.makepyfile(test_mine=STRATEGIES)
    run(project, "-p", "no:cacheprovider").assert_outcomes(passed=3)


@pytest.mark.slow("starts workers of its own")
def test_workers_of_xdist_share_one_run(project) -> None:
    """Each asked target leaves its process's id: a gate a worker would leave two."""
    pytest.importorskip("xdist")
    (project.path / "mine.py").write_text(TARGET)
    found = project.runpytest_subprocess(
        *PLUGIN,
        *(
            "-n",
            "2",
            "--dist",
            "load",
            "-k",
            "input-contract or class-probabilities or noise-scale",
        ),
        *("--dpassay-target", "mine.py:answer", "--dpassay-claim", "claim.toml"),
    )
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    assert "class-probabilities: the deployment" in found.stdout.str()
    assert len((project.path / "asked").read_text().split()) == 1
