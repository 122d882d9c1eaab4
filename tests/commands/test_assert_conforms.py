"""`assert_conforms`: what it returns, raises and refuses."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_in import CLAIM, ORDER, TABLE, in_order

from dpassay.verifiers import Inconclusive, assert_conforms
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import TargetError


def gaussian(scale):
    rng = np.random.default_rng()
    return lambda votes, size: (votes + rng.normal(0, scale, (size, votes.size))).argmax(1)


def broken(votes, size):
    raise RuntimeError("no model")


@pytest.mark.slow("a pass; of numbers another is in the quick suite")
def test_a_conforming_target_returns_its_report() -> None:
    report = assert_conforms(gaussian(4), TABLE)
    assert report.verdict is Verdict.PASS


def test_a_violation_is_an_assertion_error_told_in_order() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_conforms(gaussian(1), TABLE, seed=5)
    assert in_order(str(caught.value), ORDER)
    assert "seed=5" in str(caught.value)


def test_what_is_no_violation_raises_something_else() -> None:
    """A test that expects an AssertionError of a broken target must not be satisfied by these."""
    with pytest.raises(TargetError, match=r"aggregate\(.*\) raised RuntimeError: "):
        assert_conforms(broken, TABLE)
    with pytest.raises(Inconclusive, match="max_queries = 300 "):
        assert_conforms(gaussian(4), TABLE, max_queries=300)
    assert not any(issubclass(kind, AssertionError) for kind in (Inconclusive, TargetError))


@pytest.mark.parametrize("form", [TABLE, "claim.toml", Path("claim.toml"), parse_claim(TABLE)])
def test_a_claim_may_be_a_table_a_path_or_a_claim(form, tmp_path, monkeypatch, gate) -> None:
    monkeypatch.chdir(tmp_path)
    Path("claim.toml").write_text(CLAIM)
    gate.special = {}
    report = assert_conforms(gaussian(4), form)
    assert report.kind == "labels"
    assert report.claim == parse_claim(TABLE).model_dump(mode="json", exclude_none=True)


def test_a_spec_is_opened_and_named_in_the_command(tmp_path, gate) -> None:
    target, claim = tmp_path / "mine.py", tmp_path / "claim.toml"
    target.write_text("def answer(votes, size): return [0] * size")
    claim.write_text(CLAIM)
    gate.special = {}
    assert_conforms(f"{target}:answer", claim, max_queries=9)
    command = f"dpassay verify {target}:answer --claim {claim} --max-queries 9"
    assert gate.runs == [(None, command)]


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ClaimError, match="mechanism is missing"):
        assert_conforms(gaussian(4), {})
    with pytest.raises(ValueError, match=r"^3 .*callable.* sample"):
        assert_conforms(3, TABLE)
    with pytest.raises(ValueError, match=r"max_queries = 0: .*whole.*from 1"):
        assert_conforms(gaussian(4), TABLE, max_queries=0)


def test_an_interrupted_run_interrupts_the_test(gate) -> None:
    gate.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        assert_conforms(gaussian(4), TABLE)


@settings(max_examples=1, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.none())
def test_a_hypothesis_test_body_is_refused_before_the_target_is_called(gate, example) -> None:
    with pytest.raises(RuntimeError, match="Hypothesis resets"):
        assert_conforms(broken, TABLE)
    assert gate.runs == []
