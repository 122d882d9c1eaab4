"""What becomes of a command's status where its output cannot be written."""

import subprocess
import sys
from pathlib import Path

import pytest
from runs import TOML

HERE = Path(__file__).parents[1]
DPASSAY = f"{sys.executable} -m dpassay.verifiers.cli"
CLAIM = TOML + "[gate]\nsmallest_effect = 0.1\ntolerance = 0.2\n"
VERIFY = f"{DPASSAY} verify {HERE}/aggregators.py:half_noise --claim claim.toml --max-queries 2000"
ALONE = "--check class-probabilities --stop-at-once"
BROKEN = [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")]

if sys.platform != "linux":
    pytest.skip("/dev/full is Linux's own", allow_module_level=True)


def run(line, folder):
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def in_one_line(stderr, why):
    """Whether one line says that stdout failed, and the system's reason."""
    return stderr.startswith("dpassay: stdout ") and why in stderr and stderr.count("\n") == 1


MORE = pytest.mark.slow("a run for each way of printing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("broken")
    (found / "claim.toml").write_text(CLAIM)
    return found


@pytest.mark.slow("whole runs in processes; others are")
@pytest.mark.parametrize(
    ("options", "redirection", "why"),
    [("", *BROKEN[0]), pytest.param("--json", *BROKEN[1], marks=MORE)],
)
def test_with_a_report_the_status_is_the_verdicts(options, redirection, why, folder) -> None:
    """A refutation that is on disk is not to read as misuse because a terminal went away."""
    found = run(f"{VERIFY} {ALONE} {options} --report out {redirection}", folder)
    assert found.returncode == 1, found.stderr
    assert in_one_line(found.stderr, why)
    assert found.stderr.endswith(" in out\n")
    assert (folder / "out" / "report.json").exists()


@pytest.mark.parametrize(
    ("options", "redirection", "why"),
    [("", *BROKEN[1]), pytest.param("--json", *BROKEN[0], marks=MORE)],
)
@pytest.mark.slow("whole runs in processes; other commands are")
def test_without_one_it_is_neither_a_pass_nor_a_fail(options, redirection, why, folder) -> None:
    """Nobody saw the verdict: a script must not go on as if it had been one."""
    found = run(f"{VERIFY} {ALONE} {options} {redirection}", folder)
    assert found.returncode == 2
    assert in_one_line(found.stderr, why)
    assert found.stderr.endswith(" is lost [file-not-written]\n")


@pytest.mark.parametrize(
    ("words", "redirection", "why"),
    [
        ("--help", *BROKEN[0]),
        pytest.param("--help", *BROKEN[1], marks=MORE),
        pytest.param("probabilities 12,7,6 --noise gaussian:40", *BROKEN[0], marks=MORE),
        ("probabilities 12,7,6 --noise gaussian:40", *BROKEN[1]),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.quick_cases(1)
def test_other_commands_say_so_in_a_line(words, redirection, why, unbuffered, folder) -> None:
    """Python alone says nothing of a closed stdout, and exits with 120 for a full one."""
    found = run(f"PYTHONUNBUFFERED={unbuffered} {DPASSAY} {words} {redirection}", folder)
    assert found.returncode == 2
    assert in_one_line(found.stderr, why)
    assert found.stderr.endswith(" is lost [file-not-written]\n")


@pytest.mark.slow("processes that load everything; others are")
@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_a_broken_stderr_leaves_the_status_of_misuse(redirection, folder) -> None:
    assert run(f"{DPASSAY} verify nosuch.py:x {redirection}", folder).returncode == 2
