"""`exec:COMMAND`: every broken child is one line, and none holds up the run."""

import shlex
import sys

import numpy as np
import pytest
from one_call import CALL, ask

from dpassay.verifiers.targets import TargetError, process

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
    "null": (
        "print('{\"labels\": [0, null, 0, 0, 0]}')",
        f"{CALL} returned None at place 1: a refusal is -1",
    ),
    "infinity": ("print('{\"labels\": [0, 0, Infinity, 0, 0]}')", f"{CALL} returned label inf"),
    "escapes": (
        r"print(json.dumps({'error': 'red \x1b[31m\nand more', 'fault': True}))",
        rf"{CALL} red  \[31m$",
    ),
    "lacking": ('print(\'{"error": "no", "lacking": true, "fault": true}\')', f"{CALL} no"),
    "crash": ("sys.exit('no model here')", f"{CALL}: the target's process ended with status 1: no"),
    "closes": ("os.close(1); time.sleep(600)", f"{CALL}: the target closed its stdout$"),
}


@pytest.mark.quick_cases(12)
@pytest.mark.parametrize("fault", FAULTS)
def test_broken_children_are_one_line(fault, script, opened, monkeypatch) -> None:
    monkeypatch.setattr(process, "_DEATH_SECONDS", 0.5)
    body, words = FAULTS[fault]
    with pytest.raises(TargetError, match=words) as raised:
        ask(opened(script(body)))
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def test_endless_output_is_ended(script, opened) -> None:
    """A whole line is never waited for: this child writes until it is stopped."""
    body = "while True: sys.stdout.write('1' * (1 << 20))"
    with pytest.raises(TargetError, match=f"{CALL} .*64 MB"):
        ask(opened(script(body)))


@pytest.mark.slow("over half a second")
def test_a_child_that_hangs_is_ended_and_its_last_words_are_shown(opened) -> None:
    target = opened("exec:sh -c 'echo one >&2; echo waiting for a lock >&2; sleep 600'", 1.0)
    words = rf"{CALL} gave no answer within 1 s \(timeout in \[gate\]\); the last line of its "
    words += "stderr: waiting for a lock$"
    with pytest.raises(TargetError, match=words):
        ask(target)


def test_a_child_that_does_not_read_does_not_hang_the_run(opened) -> None:
    """Requests longer than the pipe: a write that blocks would wait for ever."""
    target = opened(
        f"exec:{shlex.join([sys.executable, '-c', 'import time; time.sleep(600)'])}", 0.4
    )
    with pytest.raises(TargetError, match=r"no answer .*0\.4 s"):
        target.ask(np.full(100_000, 10), 5)


def test_output_that_nobody_asked_for_is_no_reply(script, opened) -> None:
    """Catches replies that are each of the call before, and look correct."""
    reply = "print(json.dumps({'labels': [0] * request['size']}))"
    banner = opened(script(reply, before="print('loading ...', flush=True)"))
    with pytest.raises(TargetError, match=r"'loading \.\.\.") as raised:
        ask(banner)
    assert "expected one" in str(raised.value)

    twice = opened(script("print(json.dumps({'labels': [0] * request['size']}) + '\\ndone')"))
    ask(twice)
    with pytest.raises(TargetError, match=rf"'done.*stdout.*{CALL}"):
        ask(twice)
