"""A file that is followed: whole lines alone are read, and another file in its place is told."""

import json
import os
from typing import Any

import pytest
from claims import SMALL_TOML
from followed import HEAD, content, lines, run_out
from small import small_claim
from typed import typed

from dpassay.verifiers.inputs.release_log import LogError
from dpassay.verifiers.kinds.labels.logs import followed_file
from dpassay.verifiers.kinds.labels.logs.monitor import Monitor

VOTES = [3, *[0] * 11]
CSV = "a,b,c,d,e,f,g,h,i,j,k,l,label\n" + f"{','.join(map(str, VOTES))},11\n" * 2
JSON_LINES = f"{json.dumps({'histogram': VOTES, 'label': 11})}\n" * 2
REWRITTEN = "bytes are no longer those that were read: it was replaced or rewritten"


def monitor_of(log: Any, folder: Any) -> Monitor:
    """One that goes on until it is closed."""
    return Monitor(str(log), small_claim(), str(folder), once=False)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("cut", [2, 8, 14])
@pytest.mark.parametrize("whole", [CSV, JSON_LINES])
@pytest.mark.parametrize("piped", [False, True])
def test_a_line_without_an_end_is_left_unread_and_told(tmp_path, whole, cut, piped) -> None:
    """Cut between the digits of label 11, where CSV reads 1, and elsewhere.

    Catches a row that is counted before it is written, and a log that is refused, or read twice,
    once it is.
    """
    log, claim, state = tmp_path / "log", tmp_path / "claim.toml", tmp_path / "state"
    claim.write_text(SMALL_TOML.replace("classes = 4", "classes = 12"))
    log.write_text(whole[:-cut])
    line = whole[:-cut].count("\n") + 1
    left = len(whole[:-cut].rpartition("\n")[2])
    words = ["monitor", "-" if piped else str(log), "--claim", str(claim), "--state", str(state)]
    found = typed(*words, "--once", stdin=whole[:-cut] if piped else "")
    name = "standard input" if piped else str(log)
    assert found.returncode == 0
    assert f"dpassay: {name}, line {line}: left unread: " in found.stderr
    assert f" {left} bytes" in found.stderr
    assert "1 rows" in found.stderr
    if not piped:
        log.write_text(whole)
        again = typed(*words, "--once")
        assert again.returncode == 0
        assert "2 rows" in again.stderr
        assert "unread" not in again.stderr
        (votes,) = content(state)[1]
        assert votes[2] == 2  # times, and both were label 11
        assert votes[3] == b"".join(v.to_bytes(8, "little") for v in [*[0] * 11, 2])


def test_a_line_that_is_still_being_written_is_waited_for(tmp_path) -> None:
    """What was unfinished may be written otherwise: catches a line kept from an earlier look."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD + "20,15,5,0,0\n20,15,5,")
    monitor = monitor_of(log, tmp_path / "state")
    assert monitor.step() == 1
    assert monitor.step() == 0
    log.write_text(HEAD + "20,15,5,0,0\n20,16,4,0,1\n")
    assert monitor.step() == 1
    assert monitor.source.unread is None
    assert not monitor.source.ended
    monitor.close()
    assert {row[0] for row in content(tmp_path / "state")[1]} == {"20,15,5,0", "20,16,4,0"}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("grown", [0, 100])
def test_a_log_that_was_rewritten_is_told_at_the_next_start(tmp_path, grown) -> None:
    """One label among rows of the same bytes, of a log as long as it was or longer: catches a
    comparison of sizes, of the header, or of the last bytes alone.
    """
    log, text = tmp_path / "log.csv", HEAD + lines(8000, 12)
    log.write_text(text)
    run_out(log, tmp_path / "state")
    at = len(HEAD) + text[len(HEAD) :].index("\n") - 1
    other = text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]
    log.write_text(other + lines(grown, 13))
    with pytest.raises(LogError, match=REWRITTEN):
        run_out(log, tmp_path / "state")
    log.write_text(text + lines(grown, 13))
    assert run_out(log, tmp_path / "state").evidence.asked == 8000 + grown


def test_a_log_that_is_rewritten_meanwhile_is_told_and_not_judged(tmp_path) -> None:
    """In place, by one that is longer, whose rows do not fit either: catches rows of another file
    that are judged, or blamed.
    """
    log, state = tmp_path / "log.csv", tmp_path / "state"
    log.write_text(HEAD + lines(50, 12))
    monitor = monitor_of(log, state)
    assert monitor.step() == 50
    before = content(state)
    log.write_text(HEAD + lines(90, 13))
    with pytest.raises(LogError, match=REWRITTEN):
        monitor.step()
    log.write_text(HEAD + "what\n" * 300)
    with pytest.raises(LogError, match=REWRITTEN):
        monitor.step()
    log.write_text(HEAD)
    with pytest.raises(LogError, match="shorter than"):
        monitor.step()
    monitor.close()
    assert content(state) == before


def test_what_was_read_long_ago_is_compared_now_and_then(tmp_path, monkeypatch) -> None:
    """Beyond the last bytes, which every look compares: catches a digest that nobody looks at."""
    monkeypatch.setattr(followed_file, "_LAST", 100)
    log, text = tmp_path / "log.csv", HEAD + lines(500, 12)
    log.write_text(text)
    monitor = monitor_of(log, tmp_path / "state")
    assert monitor.step() == 500
    log.write_text(text.replace("label", "lable"))
    assert monitor.step() == 0
    monkeypatch.setattr(followed_file, "_SECONDS", 0.0)
    with pytest.raises(LogError, match=REWRITTEN):
        monitor.step()
    log.write_text(text)
    assert monitor.step() == 0
    monitor.close()


def test_a_file_that_takes_the_place_of_another_is_told_once_that_was_read(tmp_path) -> None:
    """Catches rows of the old file, written just before it was moved, that nobody judges."""
    log, state = tmp_path / "log.csv", tmp_path / "state"
    log.write_text(HEAD + lines(50, 12))
    monitor = monitor_of(log, state)
    assert monitor.step() == 50
    with log.open("a") as file:
        file.write(lines(7, 13) + "20,15,")
    log.rename(tmp_path / "old.csv")
    assert monitor.step() == 7
    assert monitor.step() == 0
    assert "no longer there" in str(monitor.source.trouble)
    log.write_text(HEAD + lines(50, 12))
    message = (
        "another file has taken its place, after the 58 lines that were read.*line 59: left un"
    )
    with pytest.raises(LogError, match=message):
        monitor.step()
    monitor.close()
    (tmp_path / "old.csv").rename(log)
    assert run_out(log, state).evidence.asked == 57


def test_a_state_of_another_log_is_told_as_that(tmp_path, monkeypatch) -> None:
    """Whatever kind it is; a log that was moved, or that is named otherwise, is the same one."""
    log, other, state = tmp_path / "log.csv", tmp_path / "other.csv", tmp_path / "state"
    log.write_text(HEAD + lines(50, 12))
    other.write_text(HEAD + lines(60, 13))
    run_out(log, state)
    message = f"the state of another log, {log}: expected that log, or a new folder"
    for name in (str(other), "-", "http://127.0.0.1:9/rows"):
        with pytest.raises(LogError, match=message):
            Monitor(name, small_claim(), str(state), once=True)
    log.rename(other)
    monkeypatch.chdir(tmp_path)
    assert run_out("other.csv", state).evidence.asked == 50


def test_what_does_not_grow_by_lines_is_told(tmp_path) -> None:
    """Nobody writes to the pipe: catches an open that waits for ever."""
    os.mkfifo(tmp_path / "log")
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    for name, said in (
        ("log", "expected a file, or - for standard input"),
        ("log.parquet", "does not grow by lines: use dpassay verify --log"),
        ("", "it is a folder: expected a file"),
    ):
        with pytest.raises(LogError, match=said):
            Monitor(str(tmp_path / name), small_claim(), str(tmp_path / "state"), once=False)
