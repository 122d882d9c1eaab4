"""What a pass says where no code was counted, of accepted lines, and of the way that none took."""

import tomllib
from typing import Any

import numpy as np
import pytest
from every_kind import CLAIMS, answers

from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.registry import CHECKS as OF_NUMBERS
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.background import left_out_of_few
from dpassay.verifiers.paths.decision import CUT, NO, TAKEN, YES, Decision
from dpassay.verifiers.paths.lines import stale_allowances
from dpassay.verifiers.run.request import RunRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import Selection, select
from dpassay.verifiers.targets import InProcessTarget


class OfAFile(InProcessTarget):
    """A target whose source is at hand, as that of a Python file in its own process."""

    python_spec = "absent.py:target"


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("name", "queries", "more", "told"),
    [
        ("numbers", 5_000, "", True),
        ("numbers", 5_000, "[gate]\npaths = false\n", False),
        ("keys", 2_000, "", False),
    ],
)
def test_a_small_run_says_that_no_code_was_counted(
    name: str, queries: int, more: str, told: bool
) -> None:
    """Catches `fail_on = ["path-never"]` that passes as nothing was counted, without a word.

    Of keys the calls of the run are made again, whatever its size: they have a line of their own.
    """
    claim: Any = parse_claim(tomllib.loads(CLAIMS[name] + more))
    answer = answers(claim, 1.0, np.random.default_rng(3))
    report = verify(OfAFile(answer, release=claim.release), claim, seed=1, queries=queries)
    assert report.verdict is Verdict.PASS
    small = [note for note in report.notes if "smaller than its default" in note.message]
    assert [note.code for note in small] == ["paths-left-out"] * told


def test_what_is_not_searched_is_told_where_code_is_at_hand() -> None:
    """Catches a line of targets without a source, of partial runs, and under `paths = false`."""
    for more, chosen, made, told in (
        ("", Selection(), OfAFile, True),
        ("[gate]\npaths = false\n", Selection(), OfAFile, False),
        ("", select(["noise-law"], of=OF_NUMBERS.ids), OfAFile, False),
        ("", Selection(), InProcessTarget, False),
    ):
        claim: Any = parse_claim(tomllib.loads(CLAIMS["numbers"] + more))
        request = RunRequest(claim, 1, (), None, chosen, "diagnose", None, planned=False)
        target = made(lambda given, size: None, release=claim.release)
        found = left_out_of_few(target, claim, request, "it is a small run")
        assert [note.code for note in found] == ["paths-left-out"] * told


def test_an_entry_of_allow_that_spares_nothing_is_told_in_one_line() -> None:
    """Catches codes without a line, and entries of what other files of `--coverage` name."""
    line = Note("path-never", "not exercised: a.py:4", {"file": "a.py", "line": 4})
    spared, stale = "path-never:a.py:4", ("path-never:a.py:51", "code-hint:b.py:1")
    assert not stale_allowances((spared, "path-seldom", "coverage-never:c.py:9"), [line])
    (told,) = stale_allowances((spared, *stale), [line])
    assert (told.code, told.fields) == ("allowance-stale", {"entries": 2})
    assert all(entry in told.message for entry in stale)
    assert spared not in told.message


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (CUT, "a.py:4 (rows[:2]: cut)"),
        (YES, "a.py:4 (rows[:2])"),
        (NO, "a.py:4 (not (rows[:2]))"),
        (TAKEN, "a.py:4 (rows[:2])"),
        (None, "a.py:4 (rows[:2])"),
    ],
)
def test_a_line_says_which_way_none_took(outcome: str | None, said: str) -> None:
    """Catches a slice that is told without the way that it never went."""
    assert Decision("a.py", 4, "rows[:2]", ("cut", "whole")).shown_place(outcome) == said
