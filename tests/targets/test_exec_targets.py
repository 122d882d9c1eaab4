"""`exec:COMMAND`: the protocol, its processes, and what a child does not offer."""

import os
import shlex
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from one_call import HISTOGRAM, ask

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.targets import (
    InProcessTarget,
    NotOffered,
    Refused,
    TargetError,
    checked_charge,
    checked_spent,
    open_target,
)


def test_the_protocol_is_the_one_of_the_contract(script, opened) -> None:
    body = """
        answers = {"aggregate": {"labels": [0, 1, 2, 0, 0]}, "rdp": {"rdp": [0.1, 0.2]},
                   "spent": {"spent": 0.5}}
        print(line.strip(), file=sys.stderr)
        assert request == {
            "aggregate": {"call": "aggregate", "histogram": [30, 15, 5], "size": 5},
            "rdp": {"call": "rdp", "histogram": [30, 15, 5], "orders": [2.0, 4.0]},
            "spent": {"call": "spent", "delta": 1e-5},
        }[request["call"]]
        print(json.dumps(answers[request["call"]]))
    """
    target = opened(script(body))
    assert ask(target).tolist() == [0, 1, 2, 0, 0]
    charge = checked_charge(target.rdp(HISTOGRAM, [2.0, 4.0]), HISTOGRAM, [2.0, 4.0])
    assert charge.pairs == [(2.0, 0.1), (4.0, 0.2)]
    assert checked_spent(target.spent(1e-5), 1e-5) == 0.5


@pytest.mark.slow("over half a second")
def test_a_slow_target_is_asked_in_parts_that_it_can_answer(opened, tmp_path) -> None:
    """At once, these labels would take longer than the timeout."""
    path = tmp_path / "slow.py"
    path.write_text("import time\ndef f(h, n):\n    time.sleep(0.001 * n)\n    return [0] * n\n")
    target = opened(f"{path}:f", timeout=0.9)
    assert ask(target, 1000).size == 1000
    assert sum(target.parts) == 1000
    assert len(target.parts) > 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-program --now", "exec:no-such-program --now: cannot be started: No such file"),
        ("/etc/passwd", "exec:/etc/passwd: cannot be started: Permission denied"),
        ("/", "exec:/: cannot be started: Permission denied"),
        ("", "expected a command after exec:"),
        ("   ", "expected a command after exec:"),
        ("''", "expected a command after exec:"),
        ("sh -c 'x", "no closing quotation"),
        ("sh\0", "cannot be started: embedded null byte"),
    ],
)
def test_commands_that_cannot_be_started_are_one_line(command, words) -> None:
    with pytest.raises(TargetError, match=words) as raised:
        open_target(f"exec:{command}", 5.0)
    assert "\n" not in str(raised.value)


def test_no_shell_reads_the_command(opened, tmp_path) -> None:
    with pytest.raises(TargetError, match="ended with status 0"):
        ask(opened(f"exec:{sys.executable} -c pass ; touch {tmp_path}/made"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "reply", ['{"error": "unknown call"}', '{"labels": []}', "{}", '{"error": {"code": 404}}']
)
def test_a_call_that_the_child_does_not_know_is_not_offered(reply, script, opened) -> None:
    target = opened(script(f"print({reply!r})"))
    with pytest.raises(NotOffered):
        target.rdp(HISTOGRAM, [2.0])
    with pytest.raises(NotOffered):
        target.spent(1e-5)


def test_a_child_that_knows_the_call_may_refuse_a_histogram(script, opened) -> None:
    """An accountant that serves some totals is held to its charges for those."""
    body = """
        known = {"rdp": {"rdp": [1.0]}, "spent": {"spent": 0.1}}
        print(json.dumps(known[request["call"]] if state else {"error": "not this one"}))
        state = []
    """
    target = opened(script(body, before="state = [1]"))
    target.rdp(HISTOGRAM, [2.0])
    with pytest.raises(Refused, match="not this one"):
        target.rdp(HISTOGRAM, [2.0])
    with pytest.raises(NotOffered):
        target.spent(1e-5)


def test_an_error_is_a_refusal_and_a_spent_budget_is_itself(script, opened) -> None:
    body = """
        sizes = {1: "closed on Saturdays", 2: "budget exhausted"}
        print(json.dumps({"error": sizes[request["size"]]}))
    """
    target = opened(script(body))
    with pytest.raises(Refused, match="closed on Saturdays"):
        target.ask(HISTOGRAM, 1)
    with pytest.raises(BudgetExhausted):
        target.ask(HISTOGRAM, 2)


@pytest.mark.parametrize(
    ("reply", "words"),
    [("NaN", "returned nan"), ('"much"', "returned much"), ("-1", "returned -1")],
)
def test_what_is_spent_is_a_number(reply, words, script, opened) -> None:
    target = opened(script(f"""print('{{"spent": {reply}}}')"""))
    with pytest.raises(TargetError, match=words):
        checked_spent(target.spent(1e-5), 1e-5)


def test_numbers_beyond_the_floats_are_no_traceback() -> None:
    """10^400 is valid JSON: as epsilon it is infinite, as a cost it is refused."""
    assert checked_spent(10**400, 1e-5) == np.inf
    with pytest.raises(TargetError, match="expected 1 costs"):
        checked_charge([10**400], HISTOGRAM, [2.0])


def test_a_restart_is_a_new_process_of_the_same_command(script, opened, tmp_path) -> None:
    """A restart that left the child alone would repeat its process id and its count."""
    body = """
        asked += 1
        print(json.dumps({"labels": [os.getpid(), asked]}))
    """
    target = opened(script(body, before="asked = 0"))
    first = [target.ask(HISTOGRAM, 2).tolist() for _ in range(2)]
    target.restart()
    again = target.ask(HISTOGRAM, 2).tolist()
    assert [count for _, count in first] == [1, 2]
    assert again[1] == 1
    assert again[0] != first[0][0]
    with pytest.raises(ProcessLookupError):
        os.kill(first[0][0], 0)


@pytest.mark.slow("over half a second")
def test_a_python_target_is_loaded_anew_on_restart(opened, tmp_path) -> None:
    path = tmp_path / "counting.py"
    path.write_text("asked = []\ndef f(h, n):\n    asked.append(n)\n    return [len(asked)] * n\n")
    target = opened(f"{path}:f")
    assert [target.ask(HISTOGRAM, 1)[0] for _ in range(2)] == [1, 2]
    target.restart()
    assert target.ask(HISTOGRAM, 1)[0] == 1


def test_what_was_handed_over_cannot_be_restarted() -> None:
    with pytest.raises(NotOffered):
        InProcessTarget(lambda histogram, size: [0] * size).restart()


def test_the_childs_own_children_end_with_it(opened) -> None:
    """A command behind a shell: killing the shell alone would leave it running."""
    inner = "import os, time; print('{\"labels\": [%d]}' % os.getpid(), flush=True); time.sleep(60)"
    command = f"read line; {shlex.join([sys.executable, '-c', inner])}; true"
    target = opened(f"exec:{shlex.join(['sh', '-c', command])}")
    pid = int(target.ask(HISTOGRAM, 1)[0])
    target.close()
    status = Path(f"/proc/{pid}/stat")  # until its new parent collects it, it is a zombie
    for _ in range(1000):  # the kernel takes a moment; left alone, it sleeps much longer
        try:
            if status.read_text().split()[2] in "ZX":
                return
        except OSError:
            return
        time.sleep(0.01)
    pytest.fail(f"process {pid} is still there")
