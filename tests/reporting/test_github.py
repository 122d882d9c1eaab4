"""What GitHub shows of a report: one line of Markdown a check, one annotation a fault."""

import json
import re
from datetime import UTC, datetime
from html import unescape

import pytest
from checked_alone import claimed

from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.of_run import Ended, report_of
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.github import annotations, main, summary

HOSTILE = "a|b\n::error::x\r100% <img src=x> [l](https://e.x) `c` @all\u202e\u2028\\"


@pytest.fixture
def inconclusive(reports):
    return reports["inconclusive"]


def with_message(report, text):
    checks = tuple(check.model_copy(update={"message": text}) for check in report.checks)
    return report.model_copy(
        update={"checks": checks, "notes": (Note("interrupted", text),), "target": text}
    )


@pytest.mark.slow("over half a second")
def test_an_inconclusive_check_is_a_warning_and_never_an_error(inconclusive) -> None:
    open_checks = [c for c in inconclusive.checks if c.verdict == "inconclusive"]
    made = annotations(inconclusive)
    assert open_checks
    assert len(made) == len({check.code for check in open_checks}) < len(open_checks)
    assert named_in(made) == [check.id for check in open_checks]
    assert all(line.startswith("::warning title=dpassay%3A ") for line in made)


def named_in(made: list[str]) -> list[str]:
    """The checks in the titles of annotations."""
    return [name for line in made for name in line.split("%3A ")[1].split("%2C ")]


def test_a_pass_needs_no_annotation(reports) -> None:
    report = reports["pass"]
    assert annotations(report) == []
    assert summary(report).startswith("### dpassay: pass\n")


@pytest.mark.parametrize(
    "mechanism",
    [
        'name = "noisy-count"\nnoise = "laplace:2"\nadjacency = "add-remove"',
        'name = "thresholded-histogram"\nnoise = "discrete-laplace:1"\nadjacency = "add-remove"\n'
        "cells = 5\nthreshold = 6",
        'name = "noisy-gradient"\nnoise = "gaussian:1"\nadjacency = "replace-one"\n'
        "shapes = [[2]]\nclip_norm = 1.0\ndivide_by = 4",
    ],
)
def test_reports_of_numbers_have_a_summary_too(mechanism: str) -> None:
    """They have neither classes nor teachers, and were said to release labels."""
    claim = claimed(mechanism)
    passed = CheckResult(id="input-contract", verdict=Verdict.PASS, message="fine")
    ended = Ended(datetime.now(UTC), 1.0)
    report = report_of(claim, [passed], ended, queries=50, seed=3)
    text = unescape(summary(report))
    assert f"claim: {claim.summary};" in text
    assert "no departure from the claim was seen" in text
    assert "target: None" not in text
    assert annotations(report) == []


def test_what_a_failure_cut_short_has_no_annotation(reports) -> None:
    """One cause, one annotation: two checks see half the noise, and cut others short.

    The first one's words are told, which are those of the cause; another cause has another line.
    """
    report = reports["fail"]
    failed = [check.id for check in report.checks if check.verdict == "fail"]
    assert any(check.verdict == "inconclusive" for check in report.checks)
    (made,) = annotations(report)
    assert named_in([made]) == failed
    assert len(failed) == 2
    assert made.startswith("::error ")
    first, *others = (check for check in report.checks if check.verdict == "fail")
    assert first.message[:40] in made
    apart = [one.model_copy(update={"code": "noise-repeats"}) for one in others]
    checks = (first, *apart)
    two = annotations(report.model_copy(update={"checks": checks}))
    assert [named_in([line]) for line in two] == [[one] for one in failed]


def test_every_check_is_one_row_worst_first(reports) -> None:
    report = reports["fail"]
    rows = [line for line in summary(report).splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(report.checks)
    assert "| fail |" in rows[0]
    messages = [row for row in rows if "<code>" in row]
    again = [check for check in report.checks if check.reproduce]
    assert 0 < len(messages) == sum(not check.cut_short for check in again) < len(again)
    assert {unescape(row.split(" | ")[1]) for row in rows} == {c.id for c in report.checks}


def test_hostile_text_stays_in_its_cell_and_in_its_line(inconclusive) -> None:
    report = with_message(inconclusive, HOSTILE)
    text = summary(report)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(report.checks)
    assert all(row.count("|") == 4 for row in rows)
    assert not any(sign in text.replace("<br>", "").replace("code>", "") for sign in "@[`>\u202e")
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert "a|b\\n::error::x\\r100% <img src=x> [l](https://e.x) `c` @all" in unescape(text)
    for line in annotations(report):
        assert len(line.splitlines()) == 1
        assert "100%25 <img" in line


def test_a_long_message_does_not_cost_the_summary(inconclusive) -> None:
    """GitHub drops a summary beyond 1 MiB."""
    assert len(summary(with_message(inconclusive, "|" * 10**6))) < 2**20


def test_the_command_takes_one_folder(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("dpassay: usage: ")
    assert "dpassay.verifiers.github" in said


def test_the_reports_of_several_targets_are_read(reports, tmp_path, capsys, monkeypatch) -> None:
    """It said that there is no report."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for name, verdict in {"votes": "pass", "counts": "fail"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(reports[verdict].public()))
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path)])
    assert ended.value.code == 0
    text = (tmp_path / "summary.md").read_text()
    assert re.findall("^### (.*)$", text, re.MULTILINE) == [
        "dpassay: counts: fail",
        "dpassay: votes: pass",
    ]
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith("::error title=dpassay%3A counts%3A ") for line in lines)
