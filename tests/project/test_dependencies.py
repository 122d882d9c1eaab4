"""What is documented of the dependencies, and what works where the optional ones are absent."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from claims import COARSE, SMALL, in_toml

from dpassay.verifiers.kinds.tally.kind import KIND

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "dependencies.md").read_text()
HIDING = """
import json, sys
from importlib.abc import MetaPathFinder

absent = sys.argv.pop(1).split(",")


class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
sys.argv[0] = "dpassay"
"""
COMMAND = "from dpassay.verifiers.cli import main; main()"
CLAIM = in_toml(
    mechanism=SMALL,
    privacy={"epsilon": 12.0, "delta": 1e-05, "queries": 100},
    gate=COARSE | {"false_alarm": 1e-3},
)


def hiding(modules, script, *arguments):
    """A script in a process that finds none of these modules."""
    return subprocess.run(
        [sys.executable, "-c", HIDING + script, modules, *arguments],
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


@pytest.mark.slow("over half a second")
def test_jax_is_an_extra_that_only_what_trains_models_loads() -> None:
    """Catches a module of the attacks that loads JAX for one of its functions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "jax" not in names(project["dependencies"])
    assert names(project["optional-dependencies"]["jax"]) == {"jax"}
    loaded = (
        "import dpassay.attacks, dpassay.attacks.auditing, dpassay.attacks.memorisation\n"
        "import dpassay.attacks.gradients.canary_audit, dpassay.attacks.gradients.vendor_game"
    )
    found = hiding("jax,jaxlib,optax", loaded)
    assert found.returncode == 0, found.stderr


ASKED = ("reconstruct", "--counts", "620,230,100,50", "--noise", "gaussian:40", "--teachers", "120")


@pytest.mark.slow("a process that loads everything; of `verify` another test says what it loads")
def test_the_commands_that_need_no_jax_run_without_it(tmp_path) -> None:
    (tmp_path / "claim.toml").write_text(CLAIM)
    (tmp_path / "asked.csv").write_text("30,10,0,0\n")
    claim = ("--claim", str(tmp_path / "claim.toml"))
    commands = [
        ("--version",),
        ("plan", *claim),
        ("verify", *claim, "--report", str(tmp_path / "report")),
        ("account", str(tmp_path / "asked.csv"), *claim),
        ("probabilities", "12,7,6,30", "--noise", "gaussian:40", "--digits", "30"),
        ASKED,
        (*ASKED, "--method", "posterior"),
    ]
    in_turn = """
from dpassay.verifiers.cli import main

for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as end:
        if end.code:
            sys.exit(f"{arguments[0]}: {end.code}")
"""
    found = hiding("jax,jaxlib", in_turn, json.dumps(commands))
    assert (found.returncode, found.stderr) == (0, "")


PEOPLE = ("--data", "people.csv", "--label", "income", "--attribute", "sex")
AT_ONCE = f"""
import atexit
atexit.register(lambda: print("numpy" in sys.modules))
{COMMAND}
"""


@pytest.mark.quick_cases(3)
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
            (*ASKED, "--method", "gradient-descent"),
            "--method gradient-descent needs jax",
        ),
    ],
)
def test_a_missing_package_is_said_before_anything_is_loaded(module, arguments, needs) -> None:
    """Catches a command that loads, or works, for seconds and then finds that a package is absent.

    On a busy machine `play` took 55 seconds for it.
    """
    found = hiding(module, AT_ONCE, *arguments)
    assert (found.returncode, found.stdout) == (2, "False\n"), found.stderr
    assert found.stderr.startswith(f"dpassay: {needs}, ")
    assert "pip install " in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.slow("over half a second")
def test_the_demonstration_of_exposure_names_jax_and_its_optimiser() -> None:
    found = hiding("jax,optax", COMMAND, "exposure", "--demo")
    said = "exposure --demo needs jax and optax, which are not installed: pip install jax optax"
    assert (found.returncode, found.stderr) == (2, f"dpassay: {said} [package-missing]\n")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("asked", [("--demo", "secure-tally"), ("--claim", "votes.toml")])
def test_the_reference_of_tallies_names_its_package(tmp_path, monkeypatch, asked) -> None:
    """It ended by a traceback, as a fault of dpassay itself."""
    monkeypatch.chdir(tmp_path)
    Path("votes.toml").write_text(KIND.demos["secure-tally"])
    found = hiding("cryptography", COMMAND, "verify", *asked)
    said = "the reference of tallies needs cryptography, which is not installed"
    line = f"dpassay: {said}: pip install cryptography [package-missing]\n"
    assert (found.returncode, found.stderr) == (2, line)
