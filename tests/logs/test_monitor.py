"""A log followed: killed at any moment it goes on where it was, and says what it found once."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from urllib.request import urlopen

import numpy as np
import pytest
from claims import SMALL_TOML
from followed import HEAD, content, lines, run_out
from rich.console import Console
from small import small_claim
from typed import typed

from dpassay.verifiers.inputs.release_log import LogError
from dpassay.verifiers.kinds.labels.logs import judge, monitor
from dpassay.verifiers.kinds.labels.logs.monitor import Monitor
from dpassay.verifiers.kinds.labels.logs.snapshot import Metrics
from dpassay.verifiers.kinds.reading import parse_claim, read_claim
from dpassay.verifiers.reporting.monitor_screen import page
from dpassay.verifiers.schemas import schema_text as published_text


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.slow("more kills"))])
def test_killed_at_any_moment_it_ends_as_if_it_had_not_been(tmp_path, monkeypatch, kills) -> None:
    """Catches rows counted twice or lost, and evidence apart from its place in the log.

    Both begin with one state, so with one stream of uniforms; steps are short, so that every kill
    follows a commit and there is one soon after.
    """
    log, claim = tmp_path / "log.csv", tmp_path / "claim.toml"
    rows = lines(12_000 * (kills + 1), 1)  # more than are read before the last kill
    claim.write_text(SMALL_TOML)
    log.write_text(HEAD + rows[: rows.index("\n") + 1])
    run_out(log, tmp_path / "whole", read_claim(claim))
    shutil.copytree(tmp_path / "whole", tmp_path / "broken")
    log.write_text(HEAD + rows)
    program = (
        "from dpassay.verifiers.kinds.labels.logs import monitor; monitor._VOTES_AT_ONCE = 8000; "
        "from dpassay.verifiers.cli import main; main()"
    )
    monkeypatch.setattr(monitor, "_VOTES_AT_ONCE", 8000)

    def words(folder: str) -> list[str]:
        state = str(tmp_path / folder)
        return ["monitor", str(log), "--claim", str(claim), "--state", state, "--once"]

    assert typed(*words("whole")).returncode == 0
    rng = np.random.default_rng(2)
    for _ in range(kills):
        before = content(tmp_path / "broken")[0]
        running = subprocess.Popen(
            [sys.executable, "-c", program, *words("broken")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while content(tmp_path / "broken")[0] == before:
            assert running.poll() is None
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0.0, 0.1)))
        running.send_signal(signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
    assert content(tmp_path / "broken") != content(tmp_path / "whole")
    assert typed(*words("broken")).returncode == 0
    assert content(tmp_path / "broken") == content(tmp_path / "whole")


@pytest.mark.slow("over half a second")
def test_what_is_appended_is_read_on_and_the_fault_is_told_once(tmp_path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(HEAD + lines(3000, 3))
    assert run_out(log, tmp_path / "state").alarms == []
    with log.open("a") as file:
        file.write(lines(2000, 4, 0.5))
    first = run_out(log, tmp_path / "state")
    told = {alarm.check: alarm.row for alarm in first.alarms}
    assert 3000 < told["class-probabilities"] < 3600
    with log.open("a") as file:
        file.write(lines(500, 5, 0.5))
    again = run_out(log, tmp_path / "state")
    assert again.alarms[: len(first.alarms)] == first.alarms
    assert again.evidence.asked == 5500


def test_rows_that_were_all_answered_before_are_read_on(tmp_path) -> None:
    """Of a deployment that keeps its answers. Catches costs of rows none of which was drawn."""
    log, claim = tmp_path / "log.csv", small_claim()
    kept = claim.mechanism.model_copy(update={"caching": True})
    claim = claim.model_copy(update={"mechanism": kept})
    row = "20,15,5,0,1\n"
    log.write_text(HEAD + row)
    assert run_out(log, tmp_path / "state", claim).spent.followed == 1
    log.write_text(HEAD + row * 3)
    again = run_out(log, tmp_path / "state", claim)
    assert (again.evidence.asked, again.evidence.rows, again.spent.followed) == (3, 1, 1)


def test_what_does_not_fit_a_state_is_one_line(tmp_path) -> None:
    log, state = tmp_path / "log.csv", tmp_path / "state"
    log.write_text(HEAD + lines(50, 6))
    run_out(log, state)
    with pytest.raises(LogError, match="another claim"):
        run_out(log, state, small_claim(gate={"false_alarm": 1e-4}))
    log.write_text(HEAD)
    with pytest.raises(LogError, match="shorter than"):
        run_out(log, state)
    held = Monitor(str(log), small_claim(), str(tmp_path / "held"), once=True)
    with pytest.raises(LogError, match="another monitor"):
        Monitor(str(log), small_claim(), str(tmp_path / "held"), once=True)
    held.close()
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="--state"):
        Monitor(str(log), small_claim(), str(tmp_path / "file"), once=True)


def test_a_state_of_other_neighbours_is_of_another_claim(tmp_path) -> None:
    """Catches costs between other neighbours that are added up; the default may be said or not."""
    log, state = tmp_path / "log.csv", tmp_path / "state"
    log.write_text(HEAD + lines(50, 6))
    run_out(log, state)
    claim = small_claim()
    same, less = (
        claim.model_copy(
            update={"mechanism": claim.mechanism.model_copy(update={"adjacency": adjacency})}
        )
        for adjacency in ("replace-one", "add-remove")
    )
    run_out(log, state, same)
    with pytest.raises(LogError, match="another claim"):
        run_out(log, state, less)


def test_a_bad_row_ends_it_and_loses_nothing_before(tmp_path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(HEAD + lines(20, 7) + "20,15,5,0,9\n")
    with pytest.raises(LogError, match=r"line 22: label 9: .*0 to 3"):
        run_out(log, tmp_path / "state")
    again = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    assert again.evidence.asked == 20  # what stands before it was judged and written
    again.close()
    log.write_text(HEAD + lines(20, 7) + "20,15,5,0,3\n")
    assert run_out(log, tmp_path / "state").evidence.asked == 21


@pytest.mark.slow("over half a second")
def test_votes_that_can_be_read_are_named(tmp_path) -> None:
    """An input answered 6,000 times, one that is named by the log, and one asked twice."""
    log = tmp_path / "log.jsonl"
    rng = np.random.default_rng(8)
    votes = [20, 15, 5, 0]
    labels = (np.array(votes) + rng.normal(0.0, 10.0, (6000, 4))).argmax(-1).tolist()
    rows = [{"id": "image 7", "histogram": votes, "label": y} for y in labels]
    rows += [{"id": "image 8", "histogram": [40, 0, 0, 0], "label": 0}] * 2
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monitor = run_out(log, tmp_path / "state")
    monitor = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    (reading,) = monitor.snapshot().readings
    monitor.close()
    assert (reading.name, reading.times) == ("image 7", 6000)
    # the Cramer-Rao bound of these labels is about half a vote per class of 40
    assert reading.misplaced < 0.1


@pytest.mark.parametrize(
    ("more", "read"), [({"sampled": "poisson:0.5"}, 0), ({"noise": "gaussian:10;cut"}, 1)]
)
def test_claims_that_no_attack_knows_as_they_are_are_followed(tmp_path, more, read) -> None:
    """Sampled teachers and rounded counts ended the monitor in a ValueError."""
    table = {"name": "gnmax", "noise": "gaussian:10", "classes": 4, "teachers": 40, **more}
    claim, log = parse_claim({"mechanism": table}), tmp_path / "log.csv"
    labels = claim.mechanism.mechanism().sample([20, 15, 5, 0], 200, np.random.default_rng(1))
    log.write_text(HEAD + "".join(f"20,15,5,0,{label}\n" for label in labels))
    run_out(log, tmp_path / "state", claim)
    following = Monitor(str(log), claim, str(tmp_path / "state"), once=True)
    assert len(following.snapshot().readings) == read
    following.close()


@pytest.mark.slow("over half a second")
def test_an_interval_of_the_scale_says_which_rows_it_is_of(tmp_path, monkeypatch) -> None:
    """Noise "of late" was of all rows until a window had ended, halved noise among them or not."""
    monkeypatch.setattr(judge, "LATELY", 4000)
    log, state = tmp_path / "log.csv", tmp_path / "state"

    def told(rows, seed, scale):
        with log.open("a") as file:
            file.write(lines(rows, seed, scale))
        run_out(log, state)
        following = Monitor(str(log), small_claim(), str(state), once=True)
        shown, screen = following.snapshot(), StringIO()
        following.close()
        Console(file=screen, width=300).print(page(str(log), small_claim(), shown))
        return shown, re.findall("noise of (.*?), if it is alike in all", screen.getvalue())

    log.write_text(HEAD)
    assert told(3000, 1, 1.0)[1] == ["all rows"]
    shown, of = told(8000, 2, 0.5)
    assert of == ["all rows", f"rows {shown.lately.first:,} to {shown.lately.last:,}"]
    assert shown.lately.first > 3000
    assert shown.lately.interval[0] < 0.5 < shown.lately.interval[1] < 0.7


def test_no_row_has_cost_nothing(tmp_path) -> None:
    """Catches the least epsilon that a conversion has, told of an empty log."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD)
    run_out(log, tmp_path / "state")
    monitor = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    assert set(monitor.snapshot().spent.values()) == {0.0}
    monitor.close()


def test_the_guarantee_stands_first_and_nothing_exceeds_it(tmp_path) -> None:
    """A looser bound stood above it; and a table without rows had a header."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD)
    run_out(log, tmp_path / "state")
    monitor = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    spent = {"exact": None, "data-dependent": 10.0122, "data-independent": 9.9596}
    shown, screen = replace(monitor.snapshot(), spent=spent, readings=[]), StringIO()
    monitor.close()
    Console(file=screen, width=300).print(page(str(log), small_claim(), shown))
    text = screen.getvalue()
    assert "10.01" not in text
    assert text.index("data-independent ") < text.index("data-dependent ")
    assert "misplaced" not in text


@pytest.mark.slow("over half a second")
def test_the_command_ends_with_the_status_of_the_worst(tmp_path) -> None:
    """On SIGTERM too, and what came through a pipe is kept."""
    claim = tmp_path / "claim.toml"
    claim.write_text(SMALL_TOML)
    words = [sys.executable, "-m", "dpassay.verifiers.cli", "monitor", "-", "--claim", str(claim)]
    words += ["--state", str(tmp_path / "state")]
    running = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(HEAD + lines(4000, 9, 0.5))
    running.stdin.flush()
    alarm = json.loads(running.stdout.readline())
    assert alarm["alarm"] == "class-probabilities"
    running.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    running.stdin.close()
    assert running.wait(timeout=30) == 1
    running.stdout.close()
    assert running.stderr is not None
    running.stderr.close()
    assert os.path.getsize(tmp_path / "state" / "monitor.sqlite") > 0


@pytest.mark.slow("over half a second")
def test_metrics_tell_nothing_of_votes(tmp_path) -> None:
    """What Prometheus reads: rows, evidence, alarms, and the cost that no votes change."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD + lines(2000, 10, 0.5))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    metrics = Metrics(port, "127.0.0.1")
    with pytest.raises(LogError, match=f"--metrics-port {port}: Address already"):
        Metrics(port, "127.0.0.1")
    monitor = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    monitor.step()
    metrics.show(monitor.snapshot())
    monitor.close()
    with urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        text = reply.read().decode()
    metrics.close()
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(found["dpassay_rows"]) == 2000
    assert float(found['dpassay_alarm{check="class-probabilities"}']) == 1
    labels: dict[str, set[str]] = {}
    for sample in found:
        name, _, told = sample.partition("{")
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', told))
    schema_text = json.loads(published_text("metrics"))
    assert labels == {metric["name"]: set(metric["labels"]) for metric in schema_text}
    for metric in schema_text:
        assert f"# HELP {metric['name']} {metric['help']}\n" in text
        assert f"# TYPE {metric['name']} {metric['type']}\n" in text
        assert metric["unit"]


@pytest.mark.parametrize(("charge", "warned"), [("0.05", True), ("0.1", False)])
def test_what_the_deployment_charges_stands_beside_the_cost(tmp_path, charge, warned) -> None:
    """A sum over all rows and both runs, with a warning where it is below the exact cost."""
    log, labels = tmp_path / "log.csv", lines(40, 13).splitlines()
    text = "a,b,c,d,label,charged\n" + "".join(f"{row},{charge}\n" for row in labels[:39])
    log.write_text(text)
    run_out(log, tmp_path / "state")
    log.write_text(text + labels[39] + ",\n")  # this row does not say
    run_out(log, tmp_path / "state")
    again = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    snapshot = again.snapshot()
    again.close()
    assert snapshot.charged is not None
    assert snapshot.charged[0] == pytest.approx(39 * float(charge))
    assert snapshot.charged[1] == 39
    assert 39 * 0.05 < (snapshot.spent["exact"] or 0.0) < 39 * 0.1
    console = Console(width=120, record=True, file=StringIO())
    console.print(page(str(log), small_claim(), snapshot))
    text = console.export_text()
    assert "by 39 of 40 rows" in text
    assert ("WARNING: less than" in text) is warned


def test_answers_that_are_kept_are_charged_once_and_read_by_nobody(tmp_path) -> None:
    """A caching deployment draws once: lookups cost nothing, and tell an attacker nothing more."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD + "20,15,5,0,1\n" * 500)
    claim = small_claim()
    mechanism = claim.mechanism.model_copy(update={"caching": True})
    caching = claim.model_copy(update={"mechanism": mechanism})
    run_out(log, tmp_path / "state", caching)
    once = run_out(log, tmp_path / "state", caching)
    (tmp_path / "one.csv").write_text(HEAD + "20,15,5,0,1\n")
    one = run_out(tmp_path / "one.csv", tmp_path / "other", caching)
    assert once.spent.epsilon("exact", 1e-5) == one.spent.epsilon("exact", 1e-5)
    again = Monitor(str(log), caching, str(tmp_path / "state"), once=True)
    assert again.snapshot().readings == []
    again.close()
