"""Alarms of the monitor: what they say, to whom, when, and once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import numpy as np
import pytest
from claims import SMALL_TOML
from documents import assert_published
from followed import HEAD, QUERIES, lines, run_out
from http_server import Server
from rich.console import Console
from small import small_claim
from typed import typed

from dpassay.verifiers.inputs.release_log import LogError
from dpassay.verifiers.kinds.labels.logs.alarms import (
    SECRET,
    Alarm,
    Telling,
    check_webhook,
    send,
    signature,
)
from dpassay.verifiers.kinds.labels.logs.monitor import Monitor
from dpassay.verifiers.reporting.monitor_screen import page


def test_an_alarm_says_what_the_finding_knows(tmp_path) -> None:
    """The worker without noise among two; catches an alarm that names the check alone."""
    log = tmp_path / "log.csv"
    rng = np.random.default_rng(3)
    noisy = (np.array([20, 15, 5, 0]) + rng.normal(0.0, 10.0, (400, 4))).argmax(-1)
    rows = [f"20,15,5,0,{y},right\n20,15,5,0,0,wrong\n" for y in noisy.tolist()]
    log.write_text("a,b,c,d,label,worker\n" + "".join(rows))
    told = {alarm.check: alarm.message for alarm in run_out(log, tmp_path / "state").alarms}
    assert "worker 'wrong'" in told["class-probabilities"]


def test_an_alarm_carries_no_votes_and_is_signed(monkeypatch, requests_to) -> None:
    monkeypatch.setenv(SECRET, "kept")
    server = requests_to([500, 200])
    alarm = Alarm.now("noise-scale", 12, "1772366400.5", "the noise is not of the claimed scale")
    assert "did not reach" in (send(alarm, server.url) or "")
    assert send(alarm, server.url) is None
    *_, content, headers = server.asked[-1]
    assert_published("monitor", json.dumps(content))
    assert content == alarm.public()
    assert set(content) == {"alarm", "row", "message", "time", "detected"}
    assert headers["X-Dpassay-Signature"] == signature(json.dumps(content).encode(), "kept")
    with pytest.raises(LogError, match=r"http:// or https://"):
        check_webhook("http://[::1")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("written", ["2026-03-01T12:00:{:02}+01:00", "{}.5", None])
def test_the_time_of_an_alarm_is_that_of_its_row(tmp_path, written) -> None:
    """As the log writes it, with the time of detection beside; catches an alarm of old rows that
    seems to be of now. The row is deep in a step, so that the first or last row's time shows.
    """
    log, rows = tmp_path / "log.csv", lines(700, 3).splitlines() + lines(40, 4).splitlines()
    if written is None:
        log.write_text(HEAD + "".join(f"{row}\n" for row in rows))
    else:
        times = [written.format(i // 20) for i in range(740)]
        both = zip(rows, times, strict=True)
        log.write_text("a,b,c,d,label,time\n" + "".join(f"{row},{t}\n" for row, t in both))
    run_out(log, tmp_path / "state", small_claim(privacy=QUERIES))
    again = Monitor(str(log), small_claim(privacy=QUERIES), str(tmp_path / "state"), once=True)
    (alarm,), snapshot = again.alarms, again.snapshot()
    again.close()
    assert (alarm.check, alarm.row) == ("privacy-claim", 701)
    assert alarm.time == (None if written is None else written.format(35))
    seen = datetime.fromisoformat(alarm.detected)
    assert timedelta(0) <= datetime.now(UTC) - seen < timedelta(minutes=5)
    console = Console(width=200, record=True, file=StringIO())
    console.print(page(str(log), small_claim(), snapshot))
    when = "" if written is None else f" at {alarm.time}"
    assert f"ALARM by row 701{when}: " in console.export_text()


def test_alarms_that_were_not_told_are_told_later(tmp_path, requests_to, capsys) -> None:
    """Catches alarms that a crash or a webhook that is down would lose for ever."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD + lines(2000, 11, 0.5))
    run_out(log, tmp_path / "state")  # ended before it told anybody
    later = Monitor(str(log), small_claim(), str(tmp_path / "state"), once=True)
    server = requests_to([500])
    telling = Telling(later.store, server.url)
    assert "did not reach" in (telling.tell(later.alarms) or "")
    printed = [json.loads(line)["alarm"] for line in capsys.readouterr().out.splitlines()]
    assert sorted(printed) == sorted(alarm.check for alarm in later.alarms)
    again = Telling(later.store, server.url)
    assert again.tell(later.alarms) is None
    assert capsys.readouterr().out == ""
    assert len(server.asked) == 1 + len(printed)
    later.close()


@pytest.mark.slow("over half a second")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="it is Linux's own")
def test_a_full_stdout_leaves_alarms_to_the_next_run(tmp_path) -> None:
    """The status is that of the alarm; catches "lost", and alarms noted as printed that were not.

    What is told then is the row's own alarm, and once.
    """
    log, claim = tmp_path / "log.csv", tmp_path / "claim.toml"
    claim.write_text(SMALL_TOML)
    log.write_text(HEAD + lines(2000, 11, 0.5))
    words = ["monitor", str(log), "--claim", str(claim), "--state", str(tmp_path / "state")]
    words.append("--once")
    command = [sys.executable, "-m", "dpassay.verifiers.cli", *words]
    with open("/dev/full", "w") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 1
    assert "dpassay: stdout " in found.stderr
    assert "No space left" in found.stderr
    assert f"kept in {tmp_path / 'state'}" in found.stderr
    assert "lost" not in found.stderr
    again = typed(*words)
    assert again.returncode == 1
    assert "class-probabilities" in {
        json.loads(line)["alarm"] for line in again.stdout.splitlines()
    }
    assert typed(*words).stdout == ""


@pytest.fixture
def requests_to() -> Iterator[Any]:
    """A function that starts a server which answers with the statuses given, and keeps requests."""
    servers = []

    def start(statuses: list[int]) -> Server:
        def handle(handler: Any) -> None:
            cursor = int(handler.path.partition("cursor=")[2] or 0)
            rows = [{"histogram": [20, 15, 5, 0], "label": 0}] * (3 if cursor < 6 else 0)
            reply = json.dumps({"rows": rows, "cursor": str(cursor + len(rows))}).encode()
            handler.send_response(statuses.pop(0) if statuses else 200)
            handler.send_header("Content-Length", str(len(reply)))
            handler.end_headers()
            handler.wfile.write(reply)

        servers.append(Server(handle))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_server_hands_out_rows_from_a_cursor(tmp_path, requests_to) -> None:
    url = requests_to([]).url
    assert run_out(url, tmp_path / "state").evidence.asked == 6
    assert run_out(url, tmp_path / "state").evidence.asked == 6
