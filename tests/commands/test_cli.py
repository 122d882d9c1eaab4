"""The command line as users and scripts meet it: exit codes, stdout, stderr, JSON."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from typed import typed

from dpassay.verifiers.commands.exit_statuses import run_commands

HERE = Path(__file__).parents[1]
AGAIN = pytest.mark.slow("again with other seeds")

CLAIM = """
[mechanism]
name = "gnmax"
noise = "gaussian:40"
classes = 10
teachers = 250
"""


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


COARSE = """
[mechanism]
name = "gnmax"
noise = "gaussian:10"
classes = 4
teachers = 40

[gate]
smallest_effect = 0.1
tolerance = 0.2
"""
"""For runs to the end that are about the command line alone: a tenth of the queries."""


@pytest.fixture
def claim(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM)
    return str(path)


def verify(name, claim, *more):
    return typed("verify", f"{HERE}/aggregators.py:{name}", "--claim", claim, "--json", *more)


@pytest.mark.slow("a pass in a process of its own")
def test_the_right_noise_exits_0(tmp_path):
    """In a process of its own, as a script meets it."""
    (tmp_path / "coarse.toml").write_text(COARSE)
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", "--json"]
    found = run(
        [*command, f"{HERE}/aggregators.py:quarter_noise", "--claim", str(tmp_path / "coarse.toml")]
    )
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (0, "pass")
    assert found.stderr == ""


@pytest.mark.parametrize(
    ("name", "most", "diagnosis"),
    [
        ("half_noise", 1000, "gaussian:20, half the claimed scale"),
        ("nine_tenths", 20_000, "gaussian:36, 0.9 of the claimed scale"),
    ],
)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=AGAIN) for s in (1, 2))])
def test_too_little_noise_exits_1_soon(name, most, diagnosis, seed, claim):
    found = verify(name, claim, "--seed", str(seed))
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"], report["seed"]) == (1, "fail", seed)
    assert report["found_after"] <= most
    failed = [check for check in report["checks"] if check["verdict"] == "fail"]
    assert diagnosis in failed[0]["diagnosis"]
    for check in failed:
        assert check["log10_e_value"] >= check["threshold_log10"] > 6
        assert check["reproduce"].endswith(f"--seed {seed}")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", "raised RuntimeError: no model"),
        ("not_a_number", "returned label nan"),
        ("too_few", "returned an array of shape"),
        ("out_of_range", "returned label 10 at place 0: allowed are 0 to 9"),
        (
            "refuses_all",
            "although the claim covers it: closed on Saturdays",
        ),
    ],
)
def test_broken_targets_exit_2_with_one_line(name, words, claim):
    found = verify(name, claim)
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (2, "error")
    message = report["checks"][0]["message"]
    assert words in message
    assert "\n" not in message
    assert "Traceback" not in found.stderr


def test_too_small_a_budget_exits_3(claim):
    found = verify("correct", claim, "--max-queries", "500")
    assert found.returncode == 3
    assert json.loads(found.stdout)["queries"] == 500


def test_the_json_has_the_shape_of_the_contract(claim):
    report = json.loads(verify("correct", claim, "--max-queries", "300").stdout)
    assert set(report) == {
        "verdict",
        "target",
        "started",
        "ended",
        "queries",
        "found_after",
        "seconds",
        "seed",
        "false_alarm",
        "claim",
        "versions",
        "warnings",
        "opening",
        "checks",
    }
    for check in report["checks"]:
        assert set(check) == {
            "id",
            "verdict",
            "queries",
            "log10_e_value",
            "threshold_log10",
            "histogram",
            "message",
            "diagnosis",
            "reproduce",
            "cut_short",
            "figures",
        }


@pytest.mark.slow("a pass at the default gate; .ci/run has one")
def test_the_default_is_for_people_and_passes():
    found = typed("verify", "--seed", "1")
    assert found.returncode == 0
    assert found.stdout.startswith("PASS: ")
    assert "\x1b" not in found.stdout  # no colours where nobody sees them
    assert "\x1b" not in found.stderr


@pytest.mark.slow("whole runs in processes; others are")
def test_a_terminal_sees_progress(tmp_path):
    """On a real pseudo-terminal: the bar is drawn on it and gone again, the report stays."""
    main, side = pty.openpty()
    (tmp_path / "coarse.toml").write_text(COARSE)
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", "--claim"]
    command += [str(tmp_path / "coarse.toml"), "--max-queries", "300"]
    with subprocess.Popen(command, stdout=side, stderr=side) as process:
        os.close(side)
        shown = b""
        while True:
            try:
                chunk = os.read(main, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            shown += chunk
    os.close(main)
    assert process.returncode == 3, shown.decode()
    assert b"queries" in shown.split(b"INCONCLUSIVE")[0]


@pytest.mark.slow("whole runs in processes; others are")
@pytest.mark.parametrize(("target", "status"), [("half_noise", 1), ("raises", 2)])
def test_a_reader_that_goes_leaves_the_status(tmp_path, target, status):
    """`| head -1` in CI: rich would exit with 1, which means a violation."""
    (tmp_path / "claim.toml").write_text(CLAIM)
    command = f"dpassay verify {HERE}/aggregators.py:{target} --claim claim.toml --seed 0"
    line = f"{sys.executable} -m {command.replace('dpassay', 'dpassay.verifiers.cli', 1)}"
    found = subprocess.run(
        ["bash", "-c", f"{line} | true; echo ${{PIPESTATUS[0]}}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.stdout.strip() == str(status), found.stderr


def test_a_scope_that_cannot_be_read_is_named_before_anything_is_asked(tmp_path):
    privacy = '[privacy]\nepsilon = 2.0\ndelta = 1e-5\nqueries = 10\nscope = "nosuch.csv"\n'
    (tmp_path / "claim.toml").write_text(CLAIM + privacy)
    found = typed("verify", "--claim", str(tmp_path / "claim.toml"))
    assert found.returncode == 2
    assert "claim.toml: privacy.scope: nosuch.csv: No such file" in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize("row", ["150,30,20", "126,125,0,0,0,0,0,0,0,0"])
def test_a_scope_of_other_histograms_is_refused(row, tmp_path):
    """Held to such rows, a claim would pass whatever it says of its own."""
    (tmp_path / "scope.csv").write_text(f"{row}\n")
    privacy = "[privacy]\nepsilon = 2.0\ndelta = 1e-5\nqueries = 10\n"
    scope = f'scope = "{tmp_path / "scope.csv"}"\n'
    (tmp_path / "claim.toml").write_text(CLAIM + privacy + scope)
    found = typed("verify", "--claim", str(tmp_path / "claim.toml"))
    assert found.returncode == 2
    assert "histogram 1: " in found.stderr
    assert "the claim has 10 classes and 250 teachers" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_fault_of_ours_is_no_verdict(monkeypatch, capsys):
    """Python's status for a traceback, 1, would say that the claim is refuted."""
    monkeypatch.setattr(sys, "argv", ["dpassay"])
    broken = click.Command("broken", callback=lambda: 1 / 0)
    with pytest.raises(SystemExit) as ended:
        run_commands(broken)
    assert ended.value.code == 2
    assert "a fault of dpassay itself, please report it" in capsys.readouterr().err


def test_an_interrupted_run_reports_what_it_has(claim, tmp_path):
    """Ctrl-C is neither a fail nor a traceback."""
    started = tmp_path / "started"
    (tmp_path / "asleep.py").write_text(
        "import pathlib, time\n"
        "def asked(histogram, size):\n"
        f"    pathlib.Path({str(started)!r}).touch()\n"
        "    time.sleep(300)\n"
    )
    target = f"{tmp_path / 'asleep.py'}:asked"
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", target]
    with subprocess.Popen(
        [*command, "--claim", claim, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "interrupted" in json.loads(out)["checks"][1]["message"]
    assert errors == ""


@pytest.mark.slow("as where a reader that goes leaves the status, without a target")
def test_a_reader_that_leaves_early_is_no_traceback():
    command = f"{sys.executable} -m dpassay.verifiers.cli verify --max-queries 300 | true"
    found = run(["bash", "-c", command])
    assert found.stderr == ""


def test_a_failure_is_explained_to_people(claim):
    found = typed("verify", f"{HERE}/aggregators.py:half_noise", "--claim", claim)
    assert found.returncode == 1
    for words in (
        "FAIL: ",
        "likely cause: labels fit gaussian:20, half",
        "reproduce: dpassay verify",
    ):
        assert words in found.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "x.py:y"), "TARGET x.py:y needs --claim FILE"),
        (("verify", "--claim", "none.toml"), "none.toml: No such file or directory"),
        (("probabilities", "1,x", "--noise", "gaussian:1"), "'x' is not a whole number"),
        (("probabilities", "1,2", "--noise", "normal:1"), "expected FAMILY:SCALE"),
        (("probabilities", "12", "--noise", "gaussian:1"), "at least two"),
        (("probabilities", "12,7", "--noise", "gaussian:1e-300"), "SCALE from 0.001 to 1e9 votes"),
        (("verify", "--clam", "x.toml"), "No such option '--clam'"),
        (("verify", "x.py:y", "z"), "unexpected extra argument"),
        (("verify", "--seed", "x"), "'x': expected a whole number from 0"),
        (("serve", "--port", "70000"), "'70000': expected a whole number from 0 to 65,535"),
    ],
)
def test_misuse_exits_2_with_one_line(arguments, words):
    found = typed(*arguments)
    assert found.returncode == 2
    assert words in found.stderr
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


def test_a_target_that_cannot_be_loaded_exits_2_with_one_line(claim):
    found = typed("verify", "no_such_module:x", "--claim", claim)
    assert found.returncode == 2
    assert "importing it raised ModuleNotFoundError" in found.stderr
    assert found.stderr.count("\n") == 1


def test_probabilities_print_the_digits_asked_for():
    """sigma = 1, one vote ahead: (1 + erf(1/2))/2, erf(1/2) = 0.52049987781304653768...."""
    found = typed("probabilities", "1,0", "--noise", "gaussian:1", "--digits", "40", "--json")
    report = json.loads(found.stdout)
    assert report["probabilities"] == [
        "0.7602499389065232688413733269459822643682",
        "0.2397500610934767311586266730540177356318",
    ]
    plain = typed("probabilities", "1,0", "--noise", "gaussian:1").stdout.split()
    assert plain == ["0", "0.760249938907", "1", "0.239750061093"]


def test_probabilities_far_below_the_floats_are_correct_too():
    """Twelve digits of 1e-144764827156319144 need 30 digits of its log: the oracle takes over."""
    votes = ("probabilities", "1000000000,999999999,0", "--noise", "gaussian:1")
    assert typed(*votes).stdout == typed(*votes, "--digits", "12").stdout


def test_help_answers_at_once_because_heavy_imports_wait():
    """The rule, not the clock: none of the heavy libraries is loaded for --help."""
    code = (
        "import sys; sys.argv = ['dpassay', '--help']\n"
        "from dpassay.verifiers.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'jax', 'mpmath', 'hypothesis', 'pydantic', 'rich', 'flint',"
        " 'httpx', 'starlette', 'uvicorn'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    found = run([sys.executable, "-c", code])
    assert found.stderr.strip() == "[]"
    assert "verify" in found.stdout


@pytest.mark.slow("whole runs in processes; others are")
def test_verify_loads_neither_jax_nor_sklearn():
    code = (
        "import sys; sys.argv = ['dpassay', 'verify', '--max-queries', '300', '--json']\n"
        "from dpassay.verifiers.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'jax', 'sklearn', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    found = run([sys.executable, "-c", code])
    assert found.stderr.strip() == "[]"
