"""Restarts: by a command, within a process, in a namespace; and what was not restarted is said."""

import json
import os
import shlex
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typed import typed

from dpassay.verifiers import assert_conforms
from dpassay.verifiers.claim import ClaimError, parse_claim
from dpassay.verifiers.embedded import reference_target
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.gate import verify
from dpassay.verifiers.targets import (
    InProcessTarget,
    NotOffered,
    RestartCommand,
    TargetError,
    namespaces,
    open_target,
    restart_command,
)

HISTOGRAM = np.array([30, 15, 5])
MECHANISM = {"name": "gnmax", "noise": "gaussian:10", "classes": 4, "teachers": 40}
COARSE = {"tolerance": 0.5, "smallest_effect": 0.3, "false_alarm": 1e-3}

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

def fixed(seed):
    rng = np.random.default_rng(seed)
    return lambda histogram, size: (histogram + rng.normal(0, 10, (size, 4))).argmax(1)

seven, new = fixed(7), fixed(None)
"""


def claim(mechanism=MECHANISM, **gate):
    return parse_claim({"mechanism": mechanism, "gate": COARSE | gate})


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "lives_of_tests.py"
    path.write_text(TARGETS)
    return path


@pytest.fixture
def opened():
    targets = []

    def start(spec, restart=None):
        targets.append(open_target(spec, 20.0, restart))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


def command(body):
    return shlex.join([sys.executable, "-c", body])


def of(report, check="fresh-noise"):
    return next(found for found in report.checks if found.id == check)


def test_a_python_target_keeps_its_process_id(module, opened):
    """A seed made of it is then the same in the next life, as it is in a container."""
    target = opened(f"{module}:pid")
    before = target.ask(HISTOGRAM, 1)[0]
    assert target.restart() is None
    assert target.ask(HISTOGRAM, 1)[0] == before
    with pytest.raises(NotOffered):
        target.restart_contained()


def test_a_restart_takes_nothing_of_the_life_before_with_it(module, opened):
    """Folder and environment are those of the first start; a replaced process keeps both."""
    target = opened(f"{module}:leaves_its_place")
    assert [target.ask(HISTOGRAM, 2).tolist() for _ in range(2)] == [[0, 0], [1, 1]]
    target.restart()
    assert target.ask(HISTOGRAM, 2).tolist() == [0, 0]


@pytest.mark.parametrize("outside", [signal.SIG_DFL, signal.SIG_IGN])
def test_the_children_of_a_life_end_with_it(module, opened, outside):
    """Also where whoever runs the gate ignores SIGTERM, which children inherit."""
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


def test_where_the_process_cannot_be_replaced_another_is_started(module, opened, monkeypatch):
    """It does not answer the request: it was stopped, say."""
    target = opened(f"{module}:pid")
    before = int(target.ask(HISTOGRAM, 1)[0])
    os.kill(before, 9)
    assert "process id was another one" in target.restart()
    assert target.ask(HISTOGRAM, 1)[0] != before


EXEC = """
import json, os, sys
for line in sys.stdin:
    print(json.dumps({"labels": [os.getpid()] * json.loads(line)["size"]}), flush=True)
"""
ALLOWED = pytest.mark.skipif(
    namespaces.first_of_a_namespace() is None, reason="no PID namespaces are allowed here"
)


@ALLOWED
def test_a_command_can_be_the_first_process_of_a_namespace(opened):
    target = opened(f"exec:{command(EXEC)}")
    before = target.ask(HISTOGRAM, 1)[0]
    for _ in range(2):
        target.restart_contained()
        assert target.ask(HISTOGRAM, 1)[0] == 1
    assert "process id was another one" in target.restart()
    assert target.ask(HISTOGRAM, 1)[0] not in (1, before)


@pytest.mark.slow("a whole run in a process; others are")
def test_where_no_namespace_is_allowed_the_report_says_so(tmp_path, monkeypatch, opened):
    """Neither `unshare` nor the right to use it: no error, and no silence about it either."""
    monkeypatch.setenv("PATH", str(tmp_path))
    namespaces.first_of_a_namespace.cache_clear()
    try:
        report = verify(opened(f"exec:{command(SPEAKS)} 4"), claim(), seed=0)
    finally:
        namespaces.first_of_a_namespace.cache_clear()
    assert report.verdict is Verdict.PASS, [found.message for found in report.checks]
    assert "this system allows no PID namespaces" in of(report).message
    assert report.unseen is None


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
def test_a_command_that_does_not_work_in_a_namespace_is_not_compared_so(opened):
    report = verify(opened(f"exec:{command(SPEAKS)} dies"), claim(), seed=0)
    assert report.verdict is Verdict.PASS, [found.message for found in report.checks]
    assert "it does not answer as process 1 of a PID namespace" in of(report).message


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
def test_a_command_that_fails_is_one_line(text, words):
    with pytest.raises((TargetError, ValueError), match=f"(?i){words}") as error:
        RestartCommand(text).run()
    assert "\n" not in str(error.value)
    assert text[:20] in str(error.value)


def test_a_command_that_does_not_return_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(restart_command, "_SECONDS", 0.5)
    kept = tmp_path / "pid"
    body = f"import os, time; open({str(kept)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    with pytest.raises(TargetError, match=r"did not end within 0\.5 s: expected a command that"):
        RestartCommand(command(body)).run()
    if kept.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(kept.read_text()), 0)


def test_what_the_command_starts_stays(tmp_path):
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
def test_the_key_takes_a_command(value):
    with pytest.raises(ClaimError, match="restart"):
        claim(restart=value)


def test_the_command_runs_for_every_kind_of_target(module, opened, tmp_path):
    """A process of ours may be a client of what the command restarts."""
    mark = tmp_path / "mark"
    text = command(f"open({str(mark)!r}, 'a').write('x')")
    for spec in (f"{module}:pid", f"exec:{command(EXEC)}"):
        opened(spec, text).restart()
    InProcessTarget(lambda histogram, size: [0] * size, RestartCommand(text)).restart()
    assert mark.read_text() == "xxx"


# -- what a run says -----------------------------------------------------------------------------


def gaussian(seed):
    rng = np.random.default_rng(seed)
    return lambda votes, size: (votes + rng.normal(0, 10, (size, 4))).argmax(1)


def keeping(seed, mechanism=MECHANISM):
    draw, kept = gaussian(seed), {}

    def aggregate(votes, size):
        key = votes.tobytes()
        return [kept.setdefault(key, int(draw(votes, 1)[0]))] * size

    return aggregate


@pytest.mark.slow("whole runs; others are")
def test_a_run_without_a_restart_says_what_it_did_not_see():
    report = verify(InProcessTarget(gaussian(None)), claim(), seed=0)
    assert report.verdict is Verdict.PASS
    assert report.unseen.startswith("the target was not restarted: a seed fixed at its start would")
    assert "--compare" in report.unseen
    assert report.as_json()["warnings"][0] == report.unseen
    caching = verify(InProcessTarget(keeping(1)), claim(MECHANISM | {"caching": True}), seed=0)
    assert "answers kept in memory alone would not show" in caching.unseen
    assert "--compare" not in caching.unseen


class Restartable(InProcessTarget):
    """A target that can be restarted, and then draws from a generator of its own choice."""

    no_restart = None

    def restart(self):
        return None

    def restart_contained(self):
        raise NotOffered("not in this test")


def test_no_pass_while_a_restart_is_owed():
    """All labels but those of the restart: catches a pass that left the restart out."""
    whole = verify(Restartable(gaussian(None)), claim(), seed=0)
    assert whole.verdict is Verdict.PASS
    without = verify(InProcessTarget(gaussian(None)), claim(), seed=0).queries
    for short in (without, without + 100):
        cut = verify(Restartable(gaussian(None)), claim(max_queries=short), seed=0)
        found = of(cut)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "more queries would have been needed" in found.message


def test_the_reference_is_made_anew_without_a_warning():
    report = verify(reference_target(claim()), claim(restart="/nonexistent"), seed=0)
    assert report.verdict is Verdict.PASS
    assert report.unseen is None
    assert "after a restart the labels were new" in of(report).message


def test_a_refuted_run_has_nothing_to_add():
    report = verify(InProcessTarget(lambda votes, size: [0] * size), claim(), seed=0)
    assert report.verdict is Verdict.FAIL
    assert report.unseen is None


def test_kept_answers_are_asked_again_after_a_restart():
    """In memory they are drawn anew: the earliest and the latest are asked."""
    made = claim(MECHANISM | {"caching": True})

    class Lives(InProcessTarget):
        no_restart = None

        def __init__(self, forgets):
            self.forgets = forgets
            super().__init__(keeping(1))

        def restart(self):
            if self.forgets:
                self._bind(keeping(2))

    kept, lost = (verify(Lives(forgets), made, seed=0) for forgets in (False, True))
    assert of(kept).verdict is Verdict.PASS
    assert "after a restart 100 did" in of(kept).message
    assert of(lost).verdict is Verdict.FAIL
    assert "after a restart, although the claim says caching = true" in of(lost).message
    assert "keep them on disk" in of(lost).diagnosis


def test_an_object_may_have_its_server_restarted():
    table = {"mechanism": MECHANISM, "gate": COARSE | {"restart": command("exit(5)")}}
    with pytest.raises(TargetError, match="ended with status 5"):
        assert_conforms(gaussian(None), table, seed=0)


# -- against an earlier report -------------------------------------------------------------------


@pytest.fixture
def verified(module, tmp_path, monkeypatch):
    """Runs `dpassay verify` on a target of the module, by its name."""
    (tmp_path / "claim.toml").write_text(
        "[mechanism]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in MECHANISM.items())
        + "[gate]\nmax_queries = 100\n"
    )

    monkeypatch.chdir(tmp_path)
    return lambda name, *more: typed("verify", f"{module}:{name}", "--claim", "claim.toml", *more)


def test_a_fixed_seed_shows_against_an_earlier_report(verified):
    """Within the first calls: no restart is needed, and the report may be named by its folder."""
    for name, status in (("seven", 1), ("new", 3)):
        assert verified(name, "--report", name, "--seed", "1").returncode == 3
        for report in (name, f"{name}/report.json"):
            found = verified(name, "--compare", report, "--json", "--seed", "2")
            assert found.returncode == status, found.stderr
            told = json.loads(found.stdout)
            assert told["opening"]["histogram"] == [10, 10, 10, 10]
            assert len(told["opening"]["labels"]) == 32
            fresh = next(check for check in told["checks"] if check["id"] == "fresh-noise")
            if status == 1:
                assert "that an earlier report opens with" in fresh["message"]
                assert f"--compare {report}" in fresh["reproduce"]
            assert not any("not restarted" in warning for warning in told["warnings"])
    head = verified("new").stdout.partition("\n\n")[0]
    assert "warning: the target was not restarted" in head  # its budget ends before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.pop("opening"), "the report has no opening"),
        (lambda r: r.update(opening=None), "the report has no opening"),
        (lambda r: r["claim"]["mechanism"].update(noise="gaussian:9"), "mechanism.noise is gauss"),
        (
            lambda r: r["claim"]["mechanism"].update(threshold=3),
            "mechanism.threshold is 3, here No",
        ),
        (lambda r: r["opening"].update(histogram=[40, 0, 0, 0]), "opens with [40, 0, 0, 0]"),
        (lambda r: r["opening"].update(labels=[0, 4]), "expected labels from 0 to 3"),
        (lambda r: r["opening"].update(labels=[True]), "expected labels from 0 to 3"),
        (lambda r: r["opening"].update(labels=[]), "expected labels from 0 to 3"),
        (lambda r: r.update(opening=[1]), "opens with [1]"),
        (lambda r: r.pop("claim"), "expected the report.json of a dpassay verify"),
    ],
)
def test_what_cannot_be_compared_is_one_line(change, words, verified, tmp_path, reports):
    report = verify(InProcessTarget(gaussian(1)), claim(max_queries=100), seed=0).as_json()
    change(report)
    (tmp_path / "earlier.json").write_text(json.dumps(report))
    found = verified("new", "--compare", "earlier.json")
    assert (found.returncode, found.stdout) == (2, "")
    assert words in found.stderr
    assert len(found.stderr.splitlines()) == 1
