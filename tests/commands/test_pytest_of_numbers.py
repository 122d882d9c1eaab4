"""The pytest plugin and `assert_conforms` with a claim of numbers, as users meet them."""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import histogram, in_toml

from dpassay.verifiers import Inconclusive, assert_conforms
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import TargetError

INSTALLED = bool(entry_points(group="pytest11", name="dpassay"))
PLUGIN = [] if INSTALLED else ["-p", "dpassay.verifiers.pytest_plugin"]

TABLE: dict[str, Any] = {
    "mechanism": histogram("laplace:2;round", cells=6),
    "gate": {"smallest_effect": 0.2, "tolerance": 0.3},
}
CLAIM = in_toml(**TABLE)
TARGETS = """
import numpy as np
rng, seeded = np.random.default_rng(), np.random.default_rng(3)
def good(counts, size):
    return np.rint(counts + rng.laplace(0, 2, (size, counts.size)))
def half(counts, size):
    return np.rint(counts + seeded.laplace(0, 1, (size, counts.size)))
"""


def rounded(scale: float) -> Any:
    rng = np.random.default_rng(8)
    return lambda counts, size: np.rint(counts + rng.laplace(0, scale, (size, counts.size)))


def assayed(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    (project.path / "claim.toml").write_text(CLAIM)
    project.makepyfile(targets=TARGETS)
    options = ("--dpassay-claim", "claim.toml", *arguments)
    return project.runpytest_inprocess(*PLUGIN, *options)


def test_one_item_for_each_check_of_numbers(project: pytest.Pytester) -> None:
    found = assayed(project, "--collect-only", "-q")
    wanted = [f"dpassay::{name}" for name in SHARES] + ["test_mine.py::test_mine"]
    assert [line for line in found.outlines if "::" in line] == wanted


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "target",
    [
        pytest.param((), marks=pytest.mark.slow("a whole run; another is in the quick suite")),
        ("--dpassay-target", "targets.py:good"),
    ],
)
def test_a_correct_one_passes(project: pytest.Pytester, target: tuple[str, ...]) -> None:
    """The reference where no target is given; checks that do not apply are skipped."""
    found = assayed(project, *target)
    outcomes = found.parseoutcomes()
    assert "failed" not in outcomes
    assert outcomes["passed"] >= 10


@pytest.mark.slow("over half a second")
def test_a_violation_is_told_in_words(project: pytest.Pytester) -> None:
    found = assayed(project, "--dpassay-target", "targets.py:half", "--dpassay-seed", "5")
    assert found.parseoutcomes()["failed"] >= 1
    found.stdout.fnmatch_lines(
        [
            "noise-law: the deployment does not do what it claims",
            "observed: releases do not follow laplace:2;round*",
            "allowed: noisy-histogram with laplace:2;round, add-remove of a record*",
            "likely cause: noise of half the claimed scale*",
            "reproduce: dpassay verify targets.py:half --claim claim.toml --seed 5",
        ]
    )
    found.stdout.no_fnmatch_line("*Traceback*")


MORE = pytest.mark.slow("whole runs; another form is in the quick suite")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "form", [TABLE, *(pytest.param(form, marks=MORE) for form in ("claim.toml", None))]
)
def test_a_conforming_target_returns_its_report(
    form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("claim.toml").write_text(CLAIM)
    report = assert_conforms(rounded(2), parse_claim(TABLE) if form is None else form)
    assert report.verdict is Verdict.PASS


@pytest.mark.slow("over half a second")
def test_what_a_test_gets_of_other_verdicts() -> None:
    with pytest.raises(AssertionError, match=r"likely cause: .*half") as caught:
        assert_conforms(rounded(1), TABLE, seed=5, after_failure="stop")
    assert "assert_conforms(target, claim, seed=5)" in str(caught.value)
    with pytest.raises(Inconclusive, match="max_queries = 100 "):
        assert_conforms(rounded(2), TABLE, max_queries=100)
    with pytest.raises(TargetError, match=r"numbers.* \(2, 6\)"):
        assert_conforms(lambda counts, size: ["x"] * size, TABLE)
    with pytest.raises(ClaimError, match=r"cells is missing"):
        assert_conforms(rounded(2), {"mechanism": {**TABLE["mechanism"], "cells": None}})
