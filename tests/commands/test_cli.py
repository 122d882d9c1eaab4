"""The command line as users and scripts meet it: misuse, help, what prints at once."""

import json
import subprocess
import sys

import click
import pytest
from typed import assert_misuse, typed

from dpassay.verifiers.cli import COMMANDS, command
from dpassay.verifiers.cli.exit_statuses import run_commands


def test_a_fault_of_ours_is_no_verdict(monkeypatch, capsys) -> None:
    """Python's status for a traceback, 1, would say that the claim is refuted."""
    monkeypatch.setattr(sys, "argv", ["dpassay"])
    broken = click.Command("broken", callback=lambda: 1 / 0)
    with pytest.raises(SystemExit) as ended:
        run_commands(broken)
    assert ended.value.code == 2
    assert "dpassay itself" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "x.py:y"), "TARGET x.py:y needs --claim FILE"),
        (("verify", "--claim", "none.toml"), "none.toml: No such file or directory"),
        (("probabilities", "1,x", "--noise", "gaussian:1"), "'x' is not a whole number"),
        (("probabilities", "1,2", "--noise", "normal:1"), "expected FAMILY:SCALE"),
        (("probabilities", "12", "--noise", "gaussian:1"), "at least two"),
        (("probabilities", "12,7", "--noise", "gaussian:1e-300"), "SCALE from 0.001 to 1e9 votes"),
        (("verify", "--clam", "x.toml"), "No such option"),
        (("verify", "x.py:y", "z"), "unexpected extra argument"),
        (("verify", "--seed", "x"), "'x': expected a whole number from 0"),
        (("serve", "--port", "70000"), "'70000': expected a whole number from 0 to 65,535"),
    ],
)
def test_misuse_exits_2_with_one_line(arguments, words) -> None:
    assert_misuse(typed(*arguments), words)


def test_probabilities_print_the_digits_asked_for() -> None:
    """sigma = 1, one vote ahead: (1 + erf(1/2))/2, erf(1/2) = 0.52049987781304653768...."""
    found = typed("probabilities", "1,0", "--noise", "gaussian:1", "--digits", "40", "--json")
    report = json.loads(found.stdout)
    assert report["probabilities"] == [
        "0.7602499389065232688413733269459822643682",
        "0.2397500610934767311586266730540177356318",
    ]
    plain = typed("probabilities", "1,0", "--noise", "gaussian:1").stdout.split()
    assert plain == ["0", "0.760249938907", "1", "0.239750061093"]


def test_probabilities_far_below_the_floats_are_correct_too() -> None:
    """Twelve digits of 1e-144764827156319144 need 30 digits of its log: the oracle takes over."""
    votes = ("probabilities", "1000000000,999999999,0", "--noise", "gaussian:1")
    assert typed(*votes).stdout == typed(*votes, "--digits", "12").stdout


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_what_is_said_of_all_commands_loads_click_alone(option) -> None:
    """The rule, not the clock: beside the standard library, click and the few modules of `cli`."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"sys.argv = ['dpassay', '{option}']\n"
        "from dpassay.verifiers.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "for name in sorted(set(sys.modules) - before):\n"
        "    if name.partition('.')[0] not in sys.stdlib_module_names:\n"
        "        print(name, file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    loaded = found.stderr.split()
    own = {name for name in loaded if name.partition(".")[0] != "click"}
    assert own == {
        *("dpassay", "dpassay.verifiers", "dpassay.verifiers.cli", "dpassay.verifiers.text"),
        *("dpassay.verifiers.cli.exit_statuses", "dpassay.verifiers.optional_packages"),
    }
    assert "dpassay" in found.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_by_the_first_sentence_of_its_help(name) -> None:
    """Catches a line that the command no longer says, and a name without a command."""
    assert command(name).get_short_help_str(1000) == COMMANDS[name]


@pytest.mark.slow("over half a second")
def test_a_claim_of_any_kind_is_read_without_what_only_some_runs_need() -> None:
    """The rule, not the clock: these take a second to load, and most runs do without."""
    code = (
        "import sys\n"
        "from dpassay.verifiers.kinds import kinds\n"
        "kinds()\n"
        "heavy = {'scipy.stats', 'scipy.optimize', 'dp_accounting', 'hypothesis', 'jax',"
        " 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert found.stdout.strip() == "[]"
