"""What a person sees on a terminal, in a file, and of what a target says."""

import io
import math
import re
import time

import pytest

from dpassay.verifiers.findings.excluded import unseen_line
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import UNCODED, CheckResult, Verdict, decimal_log
from dpassay.verifiers.reporting import terminal
from dpassay.verifiers.reporting.terminal import print_report, progress_bar
from dpassay.verifiers.run.events import Progress
from dpassay.verifiers.testing.shared_run import explain
from dpassay.verifiers.text import printable

ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(report, monkeypatch, screen, columns=80, **environment):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    environment = {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "40"} | environment
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", screen)
    print_report(report, "a.py:b")
    return screen.getvalue()


def test_markup_and_escapes_of_a_target_are_text(reports, monkeypatch) -> None:
    """Catches console markup read from a message, and escapes that reach the terminal."""
    hostile = "[red]not red[/red] [/] \x1b[31mnor this\x1b]0;title\x07 \r\nPASS: fine"
    checks = (
        CheckResult(id="input-contract", verdict=Verdict.ERROR, message=hostile),
        CheckResult(
            id="noise-scale",
            verdict=Verdict.FAIL,
            message=hostile,
            diagnosis=hostile,
            reproduce=hostile,
        ),
        CheckResult(id="abstention", verdict=Verdict.NOT_APPLICABLE, message=hostile),
    )
    notes = (Note("interrupted", hostile),)
    report = reports["fail"].model_copy(update={"checks": checks, "notes": notes})
    text = shown(report, monkeypatch, io.StringIO())
    assert text.count(printable(hostile)) == 6
    assert "\x1b" not in text
    assert not re.search("^PASS", text, re.MULTILINE)
    coloured = ESCAPE.sub("", shown(report, monkeypatch, Terminal(), columns=2000))
    assert coloured.count(printable(hostile)) == 6
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", coloured)


def test_colours_are_for_terminals_that_want_them(reports, monkeypatch) -> None:
    """https://no-color.org: with NO_COLOR set, no colour; bold is none."""
    plain = shown(reports["fail"], monkeypatch, io.StringIO())
    assert "\x1b" not in plain
    coloured = shown(reports["fail"], monkeypatch, Terminal())
    codes = {code for found in ESCAPE.findall(coloured) for code in found.split(";")}
    assert "31" in codes
    bare = shown(reports["fail"], monkeypatch, Terminal(), NO_COLOR="1")
    codes = {code for found in ESCAPE.findall(bare) for code in found.split(";")}
    assert codes <= {"", "0", "1", "2"}


def test_a_pass_ends_with_how_much_was_not_looked_at(reports, monkeypatch) -> None:
    """In one line, of a pass alone: a failure is read for what was found."""
    line = unseen_line(reports["pass"].not_looked_at)
    assert line is not None
    lines = shown(reports["pass"], monkeypatch, io.StringIO()).splitlines()
    assert lines[-1].startswith(f"{line}; ")
    assert sum(line in one for one in lines) == 1
    failed = reports["fail"]
    assert unseen_line(failed.not_looked_at) not in shown(failed, monkeypatch, io.StringIO())
    log = reports["pass"].model_copy(update={"asked": False})
    assert line not in shown(log, monkeypatch, io.StringIO())


@pytest.mark.parametrize("code", sorted(terminal._MOST_TELLING))
def test_what_a_run_could_not_see_stands_before_the_checks(reports, monkeypatch, code) -> None:
    """Once, and above; other warnings stay below."""
    notes = (Note("too-few-queries", "another"), Note(code, "not seen"))
    report = reports["pass"].model_copy(update={"notes": notes})
    lines = shown(report, monkeypatch, io.StringIO()).splitlines()
    empty, first = lines.index(""), f"warning: not seen [{code}]"
    assert lines[:empty].count(first) == lines.count(first) == 1
    other = "warning: another [too-few-queries]"
    assert lines[empty:].count(other) == lines.count(other) == 1


@pytest.mark.parametrize("columns", [30, 45, 80, 120])
def test_lines_are_broken_at_words_on_a_terminal(reports, monkeypatch, columns) -> None:
    """Catches lines that the terminal must cut in the middle of words, and words that get lost."""
    report = reports["fail"]
    lines = ESCAPE.sub("", shown(report, monkeypatch, Terminal(), columns=columns)).splitlines()
    commands = [line for line in lines if line.lstrip().startswith("reproduce: ")]
    assert all(command.endswith(report.checks[1].reproduce) for command in commands)
    assert commands
    assert all(len(line) <= columns for line in lines if line not in commands)
    whole = shown(report, monkeypatch, io.StringIO())
    assert " ".join(lines).split() == whole.split()


@pytest.mark.parametrize(("value", "said"), [(math.inf, "more than 10^100000"), (-1e-9, "10^0.0")])
def test_evidence_without_bound_is_no_number(reports, monkeypatch, value, said) -> None:
    """It was a number of 309 digits; nothing is said of a nought's sign."""
    check = CheckResult(
        id="noise-law",
        verdict=Verdict.FAIL,
        message="seen",
        queries=50,
        log10_e_value=decimal_log(value),
        threshold_log10=7.0,
    )
    report = reports["fail"].model_copy(update={"checks": (check,)})
    assert f"evidence: e-value {said} from 50" in shown(report, monkeypatch, io.StringIO())
    words = explain(check, report)
    assert f"but it is {said} from 50 queries" in words


def test_the_gravest_finding_comes_first_and_then_the_earliest_row(reports, monkeypatch) -> None:
    """As checks came, a contract that is broken stood before privacy that is, by any row."""
    found = [("symmetry", "classes-renumbered", 5), ("fresh-noise", "noise-missing", 900)]
    found += [("noise-scale", "scale-too-large", 3), ("class-probabilities", "scale-too-small", 70)]
    checks = tuple(
        CheckResult(id=name, verdict=Verdict.FAIL, code=code, message=code, fields={"row": row})
        for name, code, row in found
    )
    report = reports["fail"].model_copy(update={"checks": checks})
    lines = [line.strip() for line in shown(report, monkeypatch, io.StringIO()).splitlines()]
    told = [line for line in lines if line in {code for _, code, _ in found}]
    assert told == ["scale-too-small", "noise-missing", "scale-too-large", "classes-renumbered"]


def test_a_file_gets_a_line_for_each_statement(reports, monkeypatch) -> None:
    """Grep then finds a message whole, however narrow the terminal it was started in."""
    text = shown(reports["fail"], monkeypatch, io.StringIO(), columns=30)
    for check in reports["fail"].checks:
        if check.verdict is Verdict.FAIL:
            assert any(line.strip() == check.message for line in text.splitlines())


def test_without_a_terminal_a_line_now_and_then_says_what_is_done(monkeypatch) -> None:
    """A step that takes minutes shows too: a thread tells, not the run; never on stdout."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    out, errors = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", errors)
    monkeypatch.setattr(terminal, "_LINE_SECONDS", 0.05)
    with progress_bar() as listen:
        listen(Progress(46, 0, "choosing histograms: probes"))
        waited = time.monotonic() + 30.0
        while errors.getvalue().count("\n") < 2 and time.monotonic() < waited:
            time.sleep(0.02)
    lines = errors.getvalue().splitlines()
    assert len(lines) >= 2
    message = r"dpassay: \d+ s: (starting, 0 queries|choosing histograms: probes, 46 queries)"
    assert all(re.fullmatch(message, line) for line in lines)
    assert "probes" in lines[-1]
    assert out.getvalue() == ""


def test_a_long_run_says_how_long_the_rest_takes_once_its_pace_is_steady() -> None:
    """By the last minute: calls for one label come first, and 311 minutes were told of four."""
    assert terminal._time_left(130_000, 6_500, 6_400) == ", about 20 more minutes at this pace"
    assert terminal._time_left(167_000, 17_000, 600) == ""
    assert terminal._time_left(184_000, 600, 0) == ""
    assert terminal._time_left(10_000, 6_500, 6_400) == ""
    assert terminal._time_left(-46, 0, 46) == ""


def test_a_failure_has_its_code_beside_it(reports, monkeypatch) -> None:
    """By it `fail_on`, `allow` and the site know it; a report older than codes shows none."""
    report = reports["fail"]
    failed = [check for check in report.checks if check.verdict is Verdict.FAIL]
    lines = shown(report, monkeypatch, io.StringIO()).splitlines()
    for check in failed:
        assert f"{'fail':<13}{check.id} [{check.code}]" in lines
    old = report.model_copy(update={"notes": (Note(UNCODED, "of old"),)})
    assert "warning: of old" in shown(old, monkeypatch, io.StringIO()).splitlines()
