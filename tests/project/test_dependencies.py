"""What is documented of the dependencies, and what works where the optional ones are absent."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from claims import COARSE, SMALL, in_toml

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "dependencies.md").read_text()
ABSENT = """
import sys
from importlib.abc import MetaPathFinder


class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"jax", "jaxlib", "dp_accounting"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
sys.argv[0] = "dpassay"
from dpassay.verifiers.cli import main

main()
"""
CLAIM = in_toml(
    mechanism=SMALL,
    privacy={"epsilon": 12.0, "delta": 1e-05, "queries": 100},
    gate=COARSE | {"false_alarm": 1e-3},
)


def without_them(*arguments):
    """The command line in a process that finds neither JAX nor dp-accounting."""
    return subprocess.run(
        [sys.executable, "-c", ABSENT, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def names(requirements):
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


def test_the_table_names_every_dependency_and_no_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    rows = re.findall(r"^\| ([\w-]+) \| [\d.]+ \|", TABLE, re.MULTILINE)
    assert set(rows) == names(project["dependencies"])
    assert len(rows) == len(set(rows))


def test_what_to_install_without_jax_is_all_the_rest() -> None:
    (line,) = re.findall(r"^pip install (numpy .*)$", TABLE, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(line.split()) == names(project["dependencies"]) - {"jax", "dp-accounting"}


@pytest.mark.slow("processes that load everything; others are")
def test_verify_gives_its_verdict_and_its_page_says_what_is_missing(tmp_path) -> None:
    (tmp_path / "claim.toml").write_text(CLAIM)
    files = ("--claim", str(tmp_path / "claim.toml"), "--report", str(tmp_path / "report"))
    found = without_them("verify", *files, "--json")
    assert found.returncode == 0, found.stderr
    report = json.loads(found.stdout)
    judged = {check["id"] for check in report["checks"] if check["verdict"] == "pass"}
    assert judged >= {"class-probabilities", "privacy-claim", "histogram-leakage"}
    page = (tmp_path / "report" / "index.html").read_text()
    assert "not computed: dp-accounting" in page


@pytest.mark.slow("processes that load everything; others are")
def test_the_command_that_needs_jax_says_so_in_one_line() -> None:
    asked = ("--counts", "620,230,100,50", "--noise", "gaussian:40", "--teachers", "120")
    found = without_them("reconstruct", *asked, "--method", "gradient-descent")
    assert found.returncode == 2
    assert found.stderr.startswith("dpassay: --method gradient-descent ")
    assert found.stderr.endswith("pip install jax [package-missing]\n")
    assert found.stderr.count("\n") == 1
    assert found.stdout == ""


@pytest.mark.slow("processes that load everything; others are")
@pytest.mark.parametrize("method", ["mle", "posterior"])
def test_the_other_methods_need_none(method) -> None:
    asked = ("--counts", "620,230,100,50", "--noise", "gaussian:40", "--teachers", "120")
    assert without_them("reconstruct", *asked, "--method", method).returncode == 0


PEOPLE = ("--data", "people.csv", "--label", "income", "--attribute", "sex")
AT_ONCE = """
import atexit, sys
from importlib.abc import MetaPathFinder

absent = sys.argv.pop(1)


class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
atexit.register(lambda: print("numpy" in sys.modules))
from dpassay.verifiers.cli import main

sys.argv[0] = "dpassay"
main()
"""


@pytest.mark.parametrize(
    ("module", "arguments", "needs"),
    [
        ("jax", ("play", "m.py:f", *PEOPLE), "play needs jax"),
        ("sklearn", ("play", "m.py:f", *PEOPLE), "play needs scikit-learn"),
        ("optax", ("play", "m.py:f", *PEOPLE, "--defence", "dp-sgd"), "play needs optax"),
        ("sklearn", ("chain",), "chain needs scikit-learn"),
        ("pandas", ("chain", "--data", "people.csv"), "chain needs pandas"),
        ("sklearn", ("audit", "--mechanism", "pate"), "audit --mechanism needs scikit-learn"),
        ("distributed", ("verify", "--dask", "tcp://h:1"), "--dask needs distributed"),
        ("starlette", ("serve",), "serve needs starlette"),
        (
            "prometheus_client",
            ("monitor", "a.csv", "--claim", "a", "--state", "b", "--metrics-port", "9999"),
            "--metrics-port needs prometheus_client",
        ),
        (
            "jax",
            (
                *("reconstruct", "--noise", "gaussian:4", "--teachers", "9", "--counts", "5,4"),
                *("--method", "gradient-descent"),
            ),
            "--method gradient-descent needs jax",
        ),
    ],
)
def test_a_missing_package_is_said_before_anything_is_loaded(module, arguments, needs) -> None:
    """Catches a command that loads, or works, for seconds and then finds that a package is absent.

    On a busy machine `play` took 55 seconds for it.
    """
    found = subprocess.run(
        [sys.executable, "-c", AT_ONCE, module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (found.returncode, found.stdout) == (2, "False\n"), found.stderr
    assert found.stderr.startswith(f"dpassay: {needs}, ")
    assert "pip install " in found.stderr
    assert found.stderr.count("\n") == 1
