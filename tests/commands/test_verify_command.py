"""`dpassay verify` as users and scripts meet it: exit codes, stdout, stderr, JSON."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from claims import COARSE, SMALL, in_toml
from runs import TOML, names_scale
from typed import assert_misuse, typed

HERE = Path(__file__).parents[1]
AGAIN = pytest.mark.slow("again with other seeds")


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


COARSE_CLAIM = in_toml(mechanism=SMALL, gate=COARSE)
"""For runs to the end that are about the command line alone: a tenth of the queries."""


def verify(name, claim_file, *more):
    return typed("verify", f"{HERE}/aggregators.py:{name}", "--claim", claim_file, "--json", *more)


@pytest.mark.slow("a pass in a process of its own")
def test_the_right_noise_exits_0(tmp_path) -> None:
    """In a process of its own, as a script meets it."""
    (tmp_path / "coarse.toml").write_text(COARSE_CLAIM)
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", "--json"]
    found = run(
        [*command, f"{HERE}/aggregators.py:quarter_noise", "--claim", str(tmp_path / "coarse.toml")]
    )
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (0, "pass")
    assert found.stderr == ""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("name", "most", "factor"),
    [
        ("half_noise", 1000, 0.5),
        pytest.param(
            *("nine_tenths", 20_000, 0.9),
            marks=pytest.mark.slow("another scale"),
        ),
    ],
)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=AGAIN) for s in (1, 2))])
def test_too_little_noise_exits_1_soon(name, most, factor, seed, claim_file) -> None:
    found = verify(name, claim_file, "--seed", str(seed))
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"], report["seed"]) == (1, "fail", seed)
    assert report["found_after"] <= most
    failed = [check for check in report["checks"] if check["verdict"] == "fail"]
    assert names_scale(failed[0]["diagnosis"], factor)
    for check in failed:
        assert check["log10_e_value"] >= check["threshold_log10"] > 6
        assert check["reproduce"].endswith(f"--seed {seed}")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", "raised RuntimeError: no model"),
        ("not_a_number", "returned label nan"),
        ("too_few", "returned an array of shape"),
        ("out_of_range", "returned label 10 at place 0: allowed are 0 to 9"),
        ("refuses_all", "although the claim covers it: closed on Saturdays"),
    ],
)
def test_broken_targets_exit_2_with_one_line(name, words, claim_file) -> None:
    found = verify(name, claim_file)
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (2, "error")
    message = report["checks"][0]["message"]
    assert words in message
    assert "\n" not in message
    assert "Traceback" not in found.stderr


@pytest.mark.slow("over half a second")
def test_too_small_a_budget_exits_3(tmp_path) -> None:
    (tmp_path / "coarse.toml").write_text(COARSE_CLAIM)
    found = verify("quarter_noise", str(tmp_path / "coarse.toml"), "--max-queries", "300")
    assert found.returncode == 3
    assert json.loads(found.stdout)["queries"] == 300


@pytest.mark.slow("a pass at the default gate; .ci/run has one")
def test_the_default_is_for_people_and_passes() -> None:
    found = typed("verify", "--seed", "1")
    assert found.returncode == 0
    assert found.stdout.startswith("PASS: ")
    assert "\x1b" not in found.stdout  # no colours where nobody sees them
    assert "\x1b" not in found.stderr


@pytest.mark.slow("whole runs in processes; others are")
def test_a_terminal_sees_progress(tmp_path) -> None:
    """On a real pseudo-terminal: the bar is drawn on it and gone again, the report stays."""
    main, side = pty.openpty()
    (tmp_path / "coarse.toml").write_text(COARSE_CLAIM)
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
def test_a_reader_that_goes_leaves_the_status(tmp_path, target, status) -> None:
    """`| head -1` in CI: rich would exit with 1, which means a violation."""
    (tmp_path / "claim.toml").write_text(TOML)
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
    assert (found.stdout.strip(), found.stderr) == (str(status), "")


def test_a_scope_that_cannot_be_read_is_named_before_anything_is_asked(tmp_path) -> None:
    privacy = '[privacy]\nepsilon = 2.0\ndelta = 1e-5\nqueries = 10\nscope = "nosuch.csv"\n'
    (tmp_path / "claim.toml").write_text(TOML + privacy)
    assert_misuse(
        typed("verify", "--claim", str(tmp_path / "claim.toml")),
        "claim.toml: privacy.scope: nosuch.csv: No such file",
    )


@pytest.mark.parametrize("row", ["150,30,20", "126,125,0,0,0,0,0,0,0,0"])
def test_a_scope_of_other_histograms_is_refused(row, tmp_path) -> None:
    """Held to such rows, a claim would pass whatever it says of its own."""
    (tmp_path / "scope.csv").write_text(f"{row}\n")
    privacy = "[privacy]\nepsilon = 2.0\ndelta = 1e-5\nqueries = 10\n"
    scope = f'scope = "{tmp_path / "scope.csv"}"\n'
    (tmp_path / "claim.toml").write_text(TOML + privacy + scope)
    assert_misuse(
        typed("verify", "--claim", str(tmp_path / "claim.toml")),
        "histogram 1: ",
        "the claim has 10 classes and 250 teachers",
    )


@pytest.mark.slow("over half a second")
def test_a_failure_is_explained_to_people(claim_file) -> None:
    half_noise = f"{HERE}/aggregators.py:half_noise"
    found = typed("verify", half_noise, "--claim", claim_file, "--seed", "0")
    assert found.returncode == 1
    for words in (
        "FAIL: ",
        "likely cause: labels fit gaussian:20, half",
        "reproduce: dpassay verify",
    ):
        assert words in found.stdout


@pytest.mark.slow("over half a second")
def test_a_target_that_cannot_be_loaded_exits_2_with_one_line(claim_file) -> None:
    assert_misuse(
        typed("verify", "no_such_module:x", "--claim", claim_file),
        "importing it raised ModuleNotFoundError",
    )


@pytest.mark.slow("whole runs in processes; others are")
def test_verify_loads_neither_jax_nor_sklearn() -> None:
    code = (
        "import sys; sys.argv = ['dpassay', 'verify', '--max-queries', '300', '--json']\n"
        "from dpassay.verifiers.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'jax', 'sklearn', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    found = run([sys.executable, "-c", code])
    assert found.stderr.strip() == "[]"


def test_a_claim_in_place_of_a_target_is_told(claim_file) -> None:
    assert_misuse(typed("verify", claim_file), "a claim, not a target: it goes with --claim")
