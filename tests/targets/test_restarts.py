"""Restarts: by a command, within a process, in a namespace."""

import os
import shlex
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from one_call import HISTOGRAM
from runs import claimed, result

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.open_target import in_process, open_claimed
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import (
    InProcessTarget,
    NotOffered,
    RestartCommand,
    TargetError,
    restart_command,
)

COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}

claim = partial(claimed, "gaussian:10", classes=4, teachers=40, **COARSE)

TARGETS = """
import os
import subprocess
import sys
import numpy as np

def pid(histogram, size):
    return [os.getpid()] * size

def leaves_its_place(histogram, size):
    here, told = os.getcwd(), int(os.environ.get("TOLD", 0))
    os.environ["TOLD"] = "1"
    os.chdir("/")
    return [told, int(here == "/")]

children = []

def starts_a_child(histogram, size):
    children.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
    return [children[-1].pid] * size
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "lives_of_tests.py"
    path.write_text(TARGETS)
    return path


def command(body):
    return shlex.join([sys.executable, "-c", body])


@pytest.mark.slow("over half a second")
def test_a_python_target_keeps_its_process_id(module, opened) -> None:
    """A seed made of it is then the same in the next life, as it is in a container."""
    target = opened(f"{module}:pid")
    before = target.ask(HISTOGRAM, 1)[0]
    assert target.restart() is None
    assert target.ask(HISTOGRAM, 1)[0] == before
    with pytest.raises(NotOffered):
        target.restart_contained()


@pytest.mark.slow("over half a second")
def test_a_restart_takes_nothing_of_the_life_before_with_it(module, opened) -> None:
    """Folder and environment are those of the first start; a replaced process keeps both."""
    target = opened(f"{module}:leaves_its_place")
    assert [target.ask(HISTOGRAM, 2).tolist() for _ in range(2)] == [[0, 0], [1, 1]]
    target.restart()
    assert target.ask(HISTOGRAM, 2).tolist() == [0, 0]


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("outside", [signal.SIG_DFL, signal.SIG_IGN])
def test_the_children_of_a_life_end_with_it(module, opened, outside) -> None:
    """A gate run by what ignores SIGTERM does too: children inherit that."""
    before = signal.signal(signal.SIGTERM, outside)
    try:
        target = opened(f"{module}:starts_a_child")
    finally:
        signal.signal(signal.SIGTERM, before)
    child = int(target.ask(HISTOGRAM, 1)[0])
    target.restart()
    target.ask(HISTOGRAM, 1)
    deadline = time.monotonic() + 20.0  # a signal is on its way until the child runs again
    while (status := Path(f"/proc/{child}/stat").read_text().split()[2]) != "Z":
        assert time.monotonic() < deadline, status
        time.sleep(0.01)
    # a zombie: nobody has asked for its status, as its parent has forgotten it


@pytest.mark.slow("over half a second")
def test_where_the_process_cannot_be_replaced_another_is_started(
    module, opened, monkeypatch
) -> None:
    """It does not answer the request: it was stopped, say."""
    target = opened(f"{module}:pid")
    before = int(target.ask(HISTOGRAM, 1)[0])
    os.kill(before, 9)
    assert "process id" in target.restart()
    assert target.ask(HISTOGRAM, 1)[0] != before


EXEC = """
import json, os, sys
for line in sys.stdin:
    print(json.dumps({"labels": [os.getpid()] * json.loads(line)["size"]}), flush=True)
"""
ALLOWED = pytest.mark.skipif(
    restart_command.first_of_a_namespace() is None, reason="no PID namespaces are allowed here"
)


@ALLOWED
def test_a_command_can_be_the_first_process_of_a_namespace(opened) -> None:
    target = opened(f"exec:{command(EXEC)}")
    before = target.ask(HISTOGRAM, 1)[0]
    for _ in range(2):
        target.restart_contained()
        assert target.ask(HISTOGRAM, 1)[0] == 1
    assert "process id" in target.restart()
    assert target.ask(HISTOGRAM, 1)[0] not in (1, before)


@pytest.mark.slow("a whole run in a process; others are")
def test_where_no_namespace_is_allowed_the_report_says_so(tmp_path, monkeypatch, opened) -> None:
    """Neither `unshare` nor the right to use it: no error, and no silence about it either."""
    monkeypatch.setenv("PATH", str(tmp_path))
    restart_command.first_of_a_namespace.cache_clear()
    try:
        report = verify(opened(f"exec:{command(SPEAKS)} 4"), claim(), seed=0)
    finally:
        restart_command.first_of_a_namespace.cache_clear()
    assert report.verdict is Verdict.PASS, [found.message for found in report.checks]
    found = result(report, "fresh-noise")
    assert "no PID namespaces" in found.message
    assert "not-restarted" not in {note.code for note in report.notes}


SPEAKS = """
import json, os, sys
import numpy as np
rng = np.random.default_rng()
for line in sys.stdin:
    asked = json.loads(line)
    if os.getpid() == 1 and "dies" in sys.argv:
        sys.exit(3)
    if asked["call"] != "aggregate":
        print('{"error": "unknown"}', flush=True)
        continue
    noisy = asked["histogram"] + rng.normal(0, 10, (asked["size"], 4))
    print(json.dumps({"labels": noisy.argmax(1).tolist()}), flush=True)
"""


@pytest.mark.slow("a whole pass; another is where no namespace is allowed")
@ALLOWED
def test_a_command_that_does_not_work_in_a_namespace_is_not_compared_so(opened) -> None:
    report = verify(opened(f"exec:{command(SPEAKS)} dies"), claim(), seed=0)
    assert report.verdict is Verdict.PASS, [found.message for found in report.checks]
    found = result(report, "fresh-noise")
    assert "does not answer" in found.message
    assert "PID namespace" in found.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            command("print('a'); print('no such unit'); exit(3)"),
            "ended with status 3: no such unit",
        ),
        (command("exit(4)"), "ended with status 4"),
        ("/nonexistent/command", "cannot be started: No such file or directory"),
        (f"{command('0')} '", "No closing quotation"),
        ("''", "expected a command"),
    ],
)
def test_a_command_that_fails_is_one_line(text, words) -> None:
    with pytest.raises((TargetError, ValueError), match=f"(?i){words}") as error:
        RestartCommand(text).run()
    assert "\n" not in str(error.value)
    assert text[:20] in str(error.value)


@pytest.mark.parametrize("key", ["restart", "fresh_state"])
def test_a_command_that_is_not_there_is_told_before_the_run(key) -> None:
    """Catches a target blamed, or a store taken for kept, where a name is misspelt."""
    made = claimed(caching=True, **{key: "no-such-program --all"})
    with pytest.raises(TargetError, match=f"^{key} = .*'no-such-program' .*not found"):
        open_claimed("exec:true", made)
    there = claimed(caching=True, **{key: "sh -c 'exit 3'"})
    in_process(lambda histogram, size: [0] * size, there)


@pytest.mark.slow("over half a second")
def test_a_command_that_does_not_return_is_ended(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(restart_command, "_SECONDS", 0.5)
    kept = tmp_path / "pid"
    body = f"import os, time; open({str(kept)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(TargetError, match=r"not end .*0\.5 s: "):
        RestartCommand(command(body)).run()
    if kept.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(kept.read_text()), 0)


def test_what_the_command_starts_stays(tmp_path) -> None:
    """A pipe to it would be waited for until the server ends; a group ended too soon ends it."""
    inner = command("import time; time.sleep(5)")
    kept = tmp_path / "pid"
    started = f"subprocess.Popen({inner!r}, shell=True).pid"
    body = f"import subprocess; open({str(kept)!r}, 'w').write(str({started}))"
    RestartCommand(command(body)).run()
    pid = int(kept.read_text())
    os.kill(pid, 0)
    os.kill(pid, 9)


@pytest.mark.parametrize("value", ["", "'", 3])
def test_the_key_takes_a_command(value) -> None:
    with pytest.raises(ClaimError, match="restart"):
        claim(restart=value)


@pytest.mark.slow("over half a second")
def test_the_command_runs_for_every_kind_of_target(module, opened, tmp_path) -> None:
    """A process of ours may be a client of what the command restarts."""
    mark = tmp_path / "mark"
    text = command(f"open({str(mark)!r}, 'a').write('x')")
    for spec in (f"{module}:pid", f"exec:{command(EXEC)}"):
        opened(spec, restart=text).restart()
    InProcessTarget(lambda histogram, size: [0] * size, RestartCommand(text)).restart()
    assert mark.read_text() == "xxx"
