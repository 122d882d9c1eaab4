"""`assert_conforms`: what it returns, raises and refuses."""

from pathlib import Path

import numpy as np
import pytest
from claims import histogram
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_in import CLAIM, ORDER, TABLE, in_order

from dpassay.verifiers import Inconclusive, assert_conforms
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.inputs.release_log import LogError
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


@pytest.mark.slow("over half a second")
def test_a_violation_is_an_assertion_error_told_in_order() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_conforms(gaussian(1), TABLE, seed=5)
    assert in_order(str(caught.value), ORDER)
    assert "seed=5" in str(caught.value)


@pytest.mark.slow("over half a second")
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


@pytest.mark.slow("over half a second")
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
    for name in ("queries", "max_queries"):
        with pytest.raises(ValueError, match=rf"^{name} = 0: .*whole.*from 1"):
            assert_conforms(gaussian(4), TABLE, **{name: 0})
    with pytest.raises(ValueError, match=r"max_seconds = 0: .*above 0, up to 604800"):
        assert_conforms(gaussian(4), TABLE, max_seconds=0)
    with pytest.raises(ValueError, match=r"queries and max_queries: give one or the other"):
        assert_conforms(gaussian(4), TABLE, queries=900, max_queries=900)
    with pytest.raises(ValueError, match=r"target or log: .* one of both, and both were given"):
        assert_conforms(gaussian(4), TABLE, log="log.csv")
    with pytest.raises(ValueError, match=r"target or log: .* one of both, and neither was given"):
        assert_conforms(None, TABLE)
    with pytest.raises(ValueError, match=r"log = log.csv: only claim and seed go with it"):
        assert_conforms(None, TABLE, log="log.csv", queries=900)
    with pytest.raises(ClaimError, match=r"log.csv: it releases numbers, and a claim of labels"):
        assert_conforms(None, {"mechanism": histogram()}, log="log.csv")


@pytest.mark.slow("over half a second")
def test_queries_plan_for_the_sharpest_pass_and_seconds_end_the_run(tmp_path, gate) -> None:
    target, claim = tmp_path / "mine.py", tmp_path / "claim.toml"
    target.write_text("def answer(votes, size): return [0] * size")
    claim.write_text(CLAIM)
    gate.special = {}
    assert_conforms(f"{target}:answer", claim, queries=900, max_seconds=9)
    assert gate.asked == [(900, 9.0)]
    assert gate.runs[0][1].endswith("--queries 900")


@pytest.mark.slow("over half a second")
def test_too_few_queries_for_any_pass_are_one_line() -> None:
    with pytest.raises(ValueError, match=r"queries") as error:
        assert_conforms(gaussian(4), TABLE, queries=3)
    assert "\n" not in str(error.value)


def logged(folder, scale, rows=4000):
    """A log of one histogram's labels under such noise, for the claim of these tests."""
    rng = np.random.default_rng(7)
    labels = rng.normal([14, 12, 4], scale, (rows, 3)).argmax(1)
    text = "a,b,c,label\n" + "".join(f"14,12,4,{label}\n" for label in labels)
    (folder / "log.csv").write_text(text)
    return folder / "log.csv"


@pytest.mark.slow("over half a second")
def test_a_log_is_judged_in_place_of_a_target(tmp_path) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_conforms(None, TABLE, log=logged(tmp_path, 1.0), seed=5)
    place = str(tmp_path / "log.csv")
    assert f"reproduce: assert_conforms(None, claim, log={place!r}, seed=5)" in str(caught.value)
    with pytest.raises(LogError, match=r"nowhere\.csv"):
        assert_conforms(None, TABLE, log="nowhere.csv")
    report = assert_conforms(None, TABLE, log=logged(tmp_path, 4.0), seed=5)
    assert (report.verdict, report.queries, report.target) == (Verdict.PASS, 4000, place)


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
