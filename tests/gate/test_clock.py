"""The time of a run: what ends it, what is kept, and whom it blames."""

import json
import time
from functools import partial

import numpy as np
import pytest
from claims import gnmax, in_toml
from runs import claimed, number
from typed import typed

from dpassay.reference import Gaussian, log_probabilities
from dpassay.reference import clock as module
from dpassay.reference.clock import OutOfTime, check_clock, run_clock, seconds_left, step, untimed
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

SEARCHING = "simplest histogram"
claim = partial(claimed, "gaussian:10", classes=3, teachers=50)


class Time:
    """A clock that only the test moves."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)  # type: ignore[attr-defined]


@pytest.fixture
def moved(monkeypatch):
    return Time(monkeypatch)


def target(scale, at=None, call=None):
    """Labels with noise of a scale; `call` is called before the answer to call number `at`."""
    rng, calls = np.random.default_rng(), 0

    def aggregate(histogram, size):
        nonlocal calls
        calls += 1
        if calls == at:
            call()
        return (histogram + rng.normal(0.0, scale, (size, histogram.size))).argmax(1)

    return InProcessTarget(aggregate)


def test_the_sooner_of_two_ends_counts(moved) -> None:
    assert seconds_left() == float("inf")
    with run_clock(10.0):
        with run_clock(20.0):
            moved.now = 9.0
            assert seconds_left() == 1.0
            check_clock()
            moved.now = 10.0
            with pytest.raises(OutOfTime, match=r"^run_timeout = 10 s "):
                step("anything")
        with run_clock(None), pytest.raises(OutOfTime):
            check_clock()
    check_clock()


@pytest.mark.slow("over half a second")
def test_a_run_out_of_time_is_inconclusive_and_says_so(monkeypatch) -> None:
    """Every check that was not done names the limit; without one the same target passes."""
    late = Time(monkeypatch)
    report = verify(target(10, 12, lambda: setattr(late, "now", 61.0)), claim(run_timeout=60.0))
    assert report.verdict == "inconclusive"
    (told,) = (warning for warning in report.notes if warning.code == "out-of-time")
    assert "(asking)" in told.message
    cut = [check for check in report.checks if check.verdict == "inconclusive"]
    assert len(cut) >= 5
    assert all(check.code == "out-of-time" for check in cut)
    by_id = {check.id: check for check in report.checks}
    assert number(by_id["class-probabilities"], "more") > 0
    assert by_id["input-contract"].verdict == "pass"


@pytest.mark.slow("over half a second")
def test_a_refutation_found_in_time_stays_a_fail(monkeypatch) -> None:
    """The time runs out in the search for the simplest histogram, after the evidence is in."""
    late = Time(monkeypatch)
    doing = []

    def listener(progress):
        doing.append(progress.doing)
        if SEARCHING in progress.doing:
            late.now = 61.0

    report = verify(target(1), claim(run_timeout=60.0), listener=listener)
    assert any(SEARCHING in each for each in doing)
    assert report.verdict == "fail"
    (told,) = (warning for warning in report.notes if warning.code == "out-of-time")
    assert SEARCHING in told.message


def test_time_that_runs_out_while_planning_ends_planning(monkeypatch) -> None:
    late = Time(monkeypatch)
    messages = []

    def listener(progress):
        messages.append(progress.doing)
        if len([doing for doing in messages if doing.startswith("choosing histograms: ")]) == 2:
            late.now = 61.0

    made = claim(teachers=51, run_timeout=60.0)  # planned by no other test
    report = verify(target(10), made, listener=listener)
    assert report.verdict == "inconclusive"
    (told,) = (warning for warning in report.notes if warning.code == "out-of-time")
    assert "(choosing histograms: " in told.message
    assert not any(doing.startswith("asking") for doing in messages)


SLEEPS = """
import time
from functools import partial
def asleep(histogram, size):
    time.sleep(300)
"""


@pytest.mark.slow("waits until its time is up")
def test_a_call_ends_with_the_run_and_the_target_is_not_blamed(tmp_path) -> None:
    """A call may take 30 s by `timeout`: the run's limit cuts it, and that is no error."""
    (tmp_path / "asleep.py").write_text(SLEEPS)
    (tmp_path / "claim.toml").write_text(in_toml(mechanism=gnmax(40, 3, 30)))
    started = time.monotonic()
    words = ("verify", f"{tmp_path}/asleep.py:asleep", "--claim", str(tmp_path / "claim.toml"))
    found = typed(*words, "--max-seconds", "12", "--json")
    assert found.returncode == 3, found.stderr
    assert time.monotonic() - started < 29.0
    report = json.loads(found.stdout)
    assert report["verdict"] == "inconclusive"
    assert report["claim"]["gate"]["run_timeout"] == 12.0
    assert report["notes"][0]["code"] == "out-of-time"
    assert "first call" in report["warnings"][0]


@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "604801", "soon"])
def test_limits_beyond_use_are_one_line(given) -> None:
    found = typed("verify", f"--max-seconds={given}")
    assert found.returncode == 2
    assert f"{given!r}: " in found.stderr
    assert "above 0" in found.stderr
    assert "604800" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_an_integral_is_cut_short_and_a_report_is_not(moved) -> None:
    """A simulated attack on a thousand classes is minutes of integrals without a step between."""
    votes = np.array([30.0, 15.0, 5.0])
    with run_clock(1.0):
        moved.now = 2.0
        with pytest.raises(OutOfTime):
            log_probabilities(votes, Gaussian(10.0))
        with untimed():
            assert np.isfinite(log_probabilities(votes, Gaussian(10.0))).all()
