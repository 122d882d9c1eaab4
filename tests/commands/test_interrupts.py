"""An interrupt that arrives while Python collects garbage is noticed all the same."""

import gc
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from claims import SMALL_TOML

from dpassay.verifiers.cli import interrupts as module
from dpassay.verifiers.cli.interrupts import remembered_interrupts

MORE = pytest.mark.slow("processes that load everything; others are")


def test_an_interrupt_lost_in_the_garbage_collector_is_raised_later(monkeypatch) -> None:
    """With Python's own handler the run would go on as if nothing had been pressed."""
    messages = []
    monkeypatch.setattr(sys, "unraisablehook", messages.append)

    def collecting(phase, info):
        if phase == "start":
            signal.raise_signal(signal.SIGINT)

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with remembered_interrupts() as interrupts:
        interrupts.check()
        gc.callbacks.append(collecting)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(collecting)
        assert messages == []
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert sys.unraisablehook == messages.append


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_raised_at_once_where_it_can_be(number) -> None:
    with remembered_interrupts(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_a_second_interrupt_soon_after_the_first_is_let_pass() -> None:
    """The first ends the run; raised again, the second would lose the report that is written."""
    with remembered_interrupts():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_a_later_interrupt_gets_a_person_out(monkeypatch) -> None:
    """Catches a handler that ignores Ctrl-C for good: a report may go to a disk that hangs."""
    with remembered_interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        interrupts.run_is_over()
        monkeypatch.setattr(module, "PATIENCE", 0.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_run_that_missed_the_first_is_interrupted_by_the_next(monkeypatch) -> None:
    """Catches a call of an hour that goes on, whatever is pressed, after one that was lost."""
    with remembered_interrupts():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(module, "_UNNOTICED", 0.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_once_a_run_is_over_the_first_interrupt_is_let_pass_too() -> None:
    with remembered_interrupts() as interrupts:
        interrupts.run_is_over()
        signal.raise_signal(signal.SIGINT)
        assert interrupts.pressed


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("apart", "times", "number"),
    [
        (0.0, 20, signal.SIGINT),
        pytest.param(0.02, 20, signal.SIGINT, marks=MORE),
        pytest.param(0.1, 20, signal.SIGINT, marks=MORE),
        pytest.param(0.0, 1, signal.SIGTERM, marks=MORE),
    ],
)
def test_what_was_found_is_kept(tmp_path, apart, times, number) -> None:
    """Ctrl-C as a person in a hurry presses it, or the end that a runner of CI puts to a job.

    The report is complete, on stdout and in its folder.
    """
    (tmp_path / "claim.toml").write_text(SMALL_TOML)
    started = tmp_path / "started"
    (tmp_path / "asleep.py").write_text(
        "import pathlib, time\n"
        "def asked(histogram, size):\n"
        f"    pathlib.Path({str(started)!r}).touch()\n"
        "    time.sleep(300)\n"
    )
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", "asleep.py:asked"]
    command += ["--claim", "claim.toml", "--json", "--report", "out"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while not started.exists() and process.poll() is None:
                time.sleep(0.02)
            pressed_until = time.monotonic() + 2.0  # up to the end of the process, or nearly
            for _ in range(times):
                process.send_signal(number)
                time.sleep(apart)
                if time.monotonic() > pressed_until:
                    break
            out, errors = process.communicate(timeout=60)
        finally:
            process.kill()  # a run that hangs is a failure, and not to be waited for
    assert process.returncode == 3, errors
    assert errors == ""
    assert json.loads(out)["verdict"] == "inconclusive"
    assert "interrupted" in json.loads(out)["checks"][1]["message"]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "inconclusive"
    assert sorted(os.listdir(tmp_path / "out")) == ["index.html", "junit.xml", "report.json"]
