"""How a target fails: the code of each way, through the process that a Python target has too."""

from typing import Any

import numpy as np
import pytest
from http_server import replying
from one_call import ask

from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.targets import (
    RestartCommand,
    TargetError,
    checked_charge,
    checked_spent,
    open_target,
)
from dpassay.verifiers.targets.http_options import HttpOptions

PYTHON = """
import time
import numpy as np

def raises(histogram, size):
    raise RuntimeError("no")

def changes(histogram, size):
    histogram.setflags(write=True)
    histogram[0] = 0
    return np.zeros(size, dtype=int)

def malformed(histogram, size):
    return ["one"] * size

def beyond(histogram, size):
    return [9] * size

def ends(histogram, size):
    raise SystemExit(3)

def hangs(histogram, size):
    time.sleep(600)

class Kind:
    pass
"""


def code_of(make: Any) -> str:
    with pytest.raises(TargetError) as error:
        make()
    assert error.value.code in codes()
    return error.value.code


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("attribute", "code"),
    [
        ("raises", "target-failed"),
        ("ends", "target-failed"),
        ("changes", "input-changed"),
        ("malformed", "reply-malformed"),
        ("beyond", "reply-malformed"),
        ("hangs", "target-too-slow"),
        ("Kind", "target-not-found"),
        ("nothing", "target-not-found"),
    ],
)
def test_of_a_python_target(tmp_path, opened, attribute, code) -> None:
    """Catches a code that is lost on its way from the process."""
    (tmp_path / "of_python.py").write_text(PYTHON)
    seconds = 0.5 if attribute == "hangs" else 20.0
    assert code_of(lambda: ask(opened(f"{tmp_path / 'of_python.py'}:{attribute}", seconds))) == code


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("print('hello')", "reply-malformed"),
        ("print('{}')", "reply-malformed"),
        ('print(\'{"labels": [0], "error": "no"}\')', "reply-malformed"),
        ("print('{\"labels\": [1, 1, 1, 1, 7]}')", "reply-malformed"),
        ('print(\'{"error": "no", "fault": "input-changed"}\')', "target-failed"),
        ("sys.exit(1)", "target-failed"),
        ("time.sleep(600)", "target-too-slow"),
    ],
)
def test_of_a_program(script, opened, body, code) -> None:
    """Catches a program that chooses its code itself."""
    seconds = 0.5 if "sleep" in body else 20.0
    assert code_of(lambda: ask(opened(script(body), seconds))) == code


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("exec:", "target-not-found"),
        ("exec:'", "target-not-found"),
        ("exec:/no/such/program", "target-not-started"),
        ("no_such_module:attr", "target-not-found"),
        ("nowhere.py:attr", "target-not-found"),
        ("nothing", "target-not-found"),
        ("http://", "target-not-found"),
        ("http://host:99999", "target-not-found"),
        ("http://127.0.0.1:9", "target-unreachable"),
    ],
)
def test_of_a_spec(opened, spec, code) -> None:
    assert code_of(lambda: ask(opened(spec, 5.0))) == code


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (500, b"", "target-failed"),
        (200, b"no", "reply-malformed"),
        (200, b"{}", "reply-malformed"),
    ],
)
def test_of_a_server(served, opened, status, body, code) -> None:
    server = served(replying(body, status))
    assert code_of(lambda: ask(opened(server.url))) == code


def test_of_options() -> None:
    given = HttpOptions(headers={"X-Token": "DPASSAY_TEST_NO_SUCH_VARIABLE"})
    assert code_of(given.values) == "target-option-wrong"
    assert code_of(lambda: open_target("exec:true", 1.0, "'")) == "target-option-wrong"
    assert code_of(lambda: open_target("exec:true", 1.0, at_once=2)) == "target-option-wrong"
    assert code_of(RestartCommand("no-such-program").look_up) == "target-option-wrong"
    assert code_of(RestartCommand("false").run) == "target-not-started"


def test_of_charges_and_of_budgets() -> None:
    histogram, malformed = np.array([3, 2]), "reply-malformed"
    replies = ({"orders": [1.0]}, "x", [1.0], [-1.0, 1.0], {"orders": [0.5], "rdp": [1.0]})
    for reply in replies:
        assert code_of(lambda given=reply: checked_charge(given, histogram, [2, 3])) == malformed
    assert code_of(lambda: checked_spent(-1, 1e-5)) == malformed
