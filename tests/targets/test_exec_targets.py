"""`exec:COMMAND`: any language that reads and writes lines; every broken child is one line."""

import json
import os
import shlex
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import (
    InProcessTarget,
    NotOffered,
    Refused,
    TargetError,
    checked_charge,
    checked_labels,
    checked_spent,
    open_target,
    process,
)

HISTOGRAM = np.array([30, 15, 5])
CALL = r"aggregate\(\[30, 15, 5\], size=5\)"
CLAIM = """
[mechanism]
name = "report-noisy-max"
noise = "exponential:10"
classes = 3
teachers = 50
[gate]
tolerance = 0.2
smallest_effect = 0.1
"""

# exponential noise in sh and awk: a seed of its own for every call, as awk's is the clock
SHELL = r"""
while IFS= read -r line; do
    case $line in
    *'"call": "aggregate"'*)
        printf '%s\n' "$line" | awk -v seed="$(od -An -N3 -tu4 /dev/urandom)" '
            BEGIN { srand(seed) }
            {
                split($0, part, /[][]/); classes = split(part[2], votes, ",")
                sub(/.*"size": /, ""); size = $0 + 0
                printf "{\"labels\": ["
                for (i = 0; i < size; i++) {
                    best = -1
                    for (j = 1; j <= classes; j++) {
                        noisy = votes[j] - SCALE * log(1 - rand())
                        if (best < 0 || noisy > highest) { best = j - 1; highest = noisy }
                    }
                    printf "%s%d", (i ? ", " : ""), best
                }
                print "]}"
            }' ;;
    *) echo '{"error": "unknown call"}' ;;
    esac
done
"""

# what a Python child does with each request, in place of `reply`
FAULTS = {
    "garbage": ("print('hello')", f"{CALL} returned 'hello': expected one JSON object"),
    "no_object": ("print([1, 2])", rf"{CALL} returned '\[1, 2\]': expected one JSON object"),
    "neither": ("print('{}')", rf"{CALL} returned neither labels nor an error: {{}}"),
    "not_utf_8": (
        r"sys.stdout.buffer.write(b'\xff\xfe\x00\n')",
        rf"{CALL} returned '.*': expected one JSON object",
    ),
    "deep": ("print('{\"labels\": ' + '[' * 100_000)", rf"{CALL} returned .*expected one JSON"),
    "nested": (
        "print('{\"labels\": ' + '[' * 800 + ']' * 800 + '}')",
        rf"{CALL} returned .*: expected 5 labels",
    ),
    "nested_error": (
        "print('{\"error\": ' + '[' * 800 + ']' * 800 + ', \"fault\": 1}')",
        rf"{CALL} \[\[\[.*\.\.\.",
    ),
    "huge_number": ("print('{\"labels\": [' + '9' * 5000 + ']}')", f"{CALL} returned .*expected"),
    "large_number": (
        "print('{\"labels\": [1, 1, 1, 1, ' + '9' * 400 + ']}')",
        f"{CALL} returned labels of type object: expected whole numbers",
    ),
    "nan": ("print('{\"labels\": [0, NaN, 0, 0, 0]}')", f"{CALL} returned label nan at place 1"),
    "infinity": ("print('{\"labels\": [0, 0, Infinity, 0, 0]}')", f"{CALL} returned label inf"),
    "escapes": (
        r"print(json.dumps({'error': 'red \x1b[31m\nand more', 'fault': True}))",
        rf"{CALL} red  \[31m$",
    ),
    "lacking": (
        'print(\'{"error": "no", "lacking": true, "fault": true}\')',
        f"{CALL} no",
    ),
    "crash": ("sys.exit('no model here')", f"{CALL}: the target's process ended with status 1: no"),
    "closes": (
        "os.close(1); time.sleep(600)",
        f"{CALL}: the target closed its stdout$",
    ),
}


@pytest.fixture
def script(tmp_path):
    """Writes a child whose body handles one `request`; returns its spec."""

    def write(body, before=""):
        path = tmp_path / "child.py"
        lines = f"import json, os, sys, time\n{before}\nfor line in sys.stdin:\n"
        handling = f"request = json.loads(line)\n{textwrap.dedent(body)}\nsys.stdout.flush()\n"
        path.write_text(lines + textwrap.indent(handling, "    "))
        return f"exec:{shlex.join([sys.executable, str(path)])}"

    return write


@pytest.fixture
def opened():
    """Opens targets, and ends them with the test."""
    targets = []

    def start(spec, timeout=20.0):
        targets.append(open_target(spec, timeout))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


def ask(target, size=5):
    return checked_labels(target.ask(HISTOGRAM, size), HISTOGRAM, size, may_refuse=False)


def test_the_protocol_is_the_one_of_the_contract(script, opened):
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
    assert charge.tolist() == [0.1, 0.2]
    assert checked_spent(target.spent(1e-5), 1e-5) == 0.5


@pytest.mark.parametrize("fault", FAULTS)
def test_broken_children_are_one_line(fault, script, opened, monkeypatch):
    monkeypatch.setattr(process, "_DEATH_SECONDS", 0.5)
    body, words = FAULTS[fault]
    with pytest.raises(TargetError, match=words) as raised:
        ask(opened(script(body)))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def test_endless_output_is_ended(script, opened):
    """A whole line is never waited for: this child writes until it is stopped."""
    body = "while True: sys.stdout.write('1' * (1 << 20))"
    with pytest.raises(TargetError, match=f"{CALL} returned more than 64 MB"):
        ask(opened(script(body)))


def test_a_child_that_hangs_is_ended_and_its_last_words_are_shown(opened):
    target = opened("exec:sh -c 'echo one >&2; echo waiting for a lock >&2; sleep 600'", 1.0)
    words = rf"{CALL} gave no answer within 1 s \(timeout in \[gate\]\); the last line of its "
    words += "stderr: waiting for a lock$"
    with pytest.raises(TargetError, match=words):
        ask(target)


def test_a_child_that_does_not_read_does_not_hang_the_run(opened):
    """Requests longer than the pipe: a write that blocks would wait for ever."""
    target = opened(
        f"exec:{shlex.join([sys.executable, '-c', 'import time; time.sleep(600)'])}", 0.4
    )
    with pytest.raises(TargetError, match=r"gave no answer within 0\.4 s"):
        target.ask(np.full(100_000, 10), 5)


def test_a_slow_target_is_asked_in_parts_that_it_can_answer(opened, tmp_path):
    """At once, these labels would take longer than the timeout."""
    path = tmp_path / "slow.py"
    path.write_text("import time\ndef f(h, n):\n    time.sleep(0.001 * n)\n    return [0] * n\n")
    target = opened(f"{path}:f", timeout=0.9)
    assert ask(target, 1000).size == 1000
    assert sum(target.parts) == 1000
    assert len(target.parts) > 1


def test_output_that_nobody_asked_for_is_no_reply(script, opened):
    """Else every reply would be that of the call before, and look correct."""
    reply = "print(json.dumps({'labels': [0] * request['size']}))"
    banner = opened(script(reply, before="print('loading ...', flush=True)"))
    with pytest.raises(TargetError, match=r"'loading \.\.\.") as raised:
        ask(banner)
    assert "expected one" in str(raised.value)

    twice = opened(script("print(json.dumps({'labels': [0] * request['size']}) + '\\ndone')"))
    ask(twice)
    with pytest.raises(TargetError, match=rf"printed 'done.*' on stdout before {CALL}"):
        ask(twice)


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
def test_commands_that_cannot_be_started_are_one_line(command, words):
    with pytest.raises(TargetError, match=words) as raised:
        open_target(f"exec:{command}", 5.0)
    assert "\n" not in str(raised.value)


def test_no_shell_reads_the_command(opened, tmp_path):
    with pytest.raises(TargetError, match="ended with status 0"):
        ask(opened(f"exec:{sys.executable} -c pass ; touch {tmp_path}/made"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "reply", ['{"error": "unknown call"}', '{"labels": []}', "{}", '{"error": {"code": 404}}']
)
def test_a_call_that_the_child_does_not_know_is_not_offered(reply, script, opened):
    target = opened(script(f"print({reply!r})"))
    with pytest.raises(NotOffered):
        target.rdp(HISTOGRAM, [2.0])
    with pytest.raises(NotOffered):
        target.spent(1e-5)


def test_a_child_that_knows_the_call_may_refuse_a_histogram(script, opened):
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


def test_an_error_is_a_refusal_and_a_spent_budget_is_itself(script, opened):
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
def test_what_is_spent_is_a_number(reply, words, script, opened):
    target = opened(script(f"""print('{{"spent": {reply}}}')"""))
    with pytest.raises(TargetError, match=words):
        checked_spent(target.spent(1e-5), 1e-5)


def test_numbers_beyond_the_floats_are_no_traceback():
    """10^400 is valid JSON: as epsilon it is infinite, as a cost it is refused."""
    assert checked_spent(10**400, 1e-5) == np.inf
    with pytest.raises(TargetError, match="expected 1 costs"):
        checked_charge([10**400], HISTOGRAM, [2.0])


def test_a_restart_is_a_new_process_of_the_same_command(script, opened, tmp_path):
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


def test_a_python_target_is_loaded_anew_on_restart(opened, tmp_path):
    path = tmp_path / "counting.py"
    path.write_text("asked = []\ndef f(h, n):\n    asked.append(n)\n    return [len(asked)] * n\n")
    target = opened(f"{path}:f")
    assert [target.ask(HISTOGRAM, 1)[0] for _ in range(2)] == [1, 2]
    target.restart()
    assert target.ask(HISTOGRAM, 1)[0] == 1


def test_what_was_handed_over_cannot_be_restarted():
    with pytest.raises(NotOffered):
        InProcessTarget(lambda histogram, size: [0] * size).restart()


def test_the_childs_own_children_end_with_it(opened):
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


@pytest.fixture
def shell_target(tmp_path):
    def write(scale):
        path = tmp_path / f"aggregate-{scale}.sh"
        path.write_text(SHELL.replace("SCALE", str(scale)))
        return f"exec:sh {path}"

    return write


@pytest.mark.slow("a pass of an aggregator that starts awk for every call")
def test_an_aggregator_in_shell_and_awk_exits_0(shell_target, tmp_path):
    """The protocol is of no language: no Python runs in this deployment."""
    (tmp_path / "claim.toml").write_text(CLAIM)
    command = [sys.executable, "-m", "dpassay.verifiers.cli", "verify", shell_target(10)]
    found = subprocess.run(
        [*command, "--claim", str(tmp_path / "claim.toml"), "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    report = json.loads(found.stdout)
    assert (found.returncode, report["verdict"]) == (0, "pass"), report["checks"]
    verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
    assert verdicts["accountant-soundness"] == "not-applicable"


def test_its_half_noise_fails(shell_target, opened):
    report = verify(opened(shell_target(5)), parse_claim(tomllib.loads(CLAIM)), seed=0)
    assert report.verdict is Verdict.FAIL
    failed = [check for check in report.checks if check.verdict is Verdict.FAIL]
    assert "half the claimed scale" in failed[0].diagnosis
