"""`dpassay verify --log`: what it reads, what it says in a line, and which options go with it."""

import json
from typing import Any

import numpy as np
import pytest
from claims import SMALL_TOML
from click.testing import CliRunner
from drawn_rows import drawn
from runs import result
from small import small_claim

from dpassay.verifiers.cli import commands
from dpassay.verifiers.kinds.labels.logs.judge import CHUNK, LogEvidence
from dpassay.verifiers.kinds.labels.logs.verify_log import verify_log


@pytest.fixture
def files(tmp_path):
    """A claim, and a function that writes a log beside it."""
    (tmp_path / "claim.toml").write_text(SMALL_TOML)

    def write(text, name="log.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return tmp_path / "claim.toml", write


def run(*words):
    return CliRunner().invoke(commands, ["verify", *map(str, words)])


HEAD = "a,b,c,d,label,time\n"
BEGIN = 978_307_200  # 2001-01-01, in seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "20,15,5,0,1,5\n20,15,5,0,1,4\n", "line 3: its time 4.0 is before"),
        (HEAD + "20,15,5,0,4,5\n", "line 2: label 4: expected 0 to 3"),
        (HEAD + "20,15,5,0,-1,5\n", "line 2: label -1: expected 0 to 3"),
        (HEAD + "20,15,5,x,1,5\n", "line 2: 'x' is not a whole number of votes"),
        (HEAD + "20,15,5,0,1\n", "line 2: 5 columns, but 6 in the header"),
        (HEAD + "1,2\n", "line 2: 2 columns, but 6 in the header"),
        (HEAD + "20,15,5,0,1,soon\n", "line 2: time 'soon': expected seconds, or ISO 8601"),
        ("a,b,c,d,label,charged\n1,2,3,4,0,-1\n", "charged '-1': expected an epsilon"),
        ("a,b,label\n1,2,0\n", "2 columns of votes: expected 4"),
        ("1,2,3,4,0\n", "a header with a column for each class and one named label"),
        ('{"histogram": [1, 2, 3, 4]}\n', "line 1: no label: allowed are histogram, label"),
        ('{"histogram": [1, 2], "label": 0}\n', "a histogram of 2 classes: expected 4"),
        ('{"id": "x", "label": 0}\n', "line 1: no histogram"),
        ('{"histogram": [1, 2, 3, 4], "label": 0, "extra": 1}\n', "'extra': allowed are"),
        ("{]\n", "is no JSON object"),
        ("", "no rows"),
    ],
)
def test_a_log_that_cannot_be_read_is_one_line(files, text, said):
    claim, write = files
    result = run("--log", write(text), "--claim", claim)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_rows_of_other_totals_are_told(files):
    claim, write = files
    text = HEAD + "20,15,5,0,0,1\n20,15,6,0,0,2\n"
    report = json.loads(run("--log", write(text), "--claim", claim, "--json").output)
    told = {note["code"]: note["fields"] for note in report["notes"]}
    assert told["other-totals-logged"] == {"rows": 1}


@pytest.mark.slow("over half a second")
def test_the_command_judges_both_forms_alike(files):
    """At the same times, since weekdays and hours are looked at."""
    claim, write = files
    rows = drawn(3000, 14)
    text = HEAD + "".join(
        f"{','.join(map(str, r.histogram))},{r.label},{BEGIN + 86_400 * t}\n"
        for t, r in enumerate(rows)
    )
    lines = "".join(
        json.dumps({"histogram": list(r.histogram), "label": r.label, "time": f"{day}T00:00:00Z"})
        + "\n"
        for r, day in zip(rows, np.arange("2001-01-01", "2009-03-20", dtype="M8[D]"), strict=True)
    )
    words = ("--claim", claim, "--seed", "3", "--json")
    found = [
        json.loads(run("--log", write(text), *words).output),
        json.loads(run("--log", write(lines, "log.jsonl"), *words).output),
    ]
    assert found[0]["verdict"] == "pass"
    assert found[0]["queries"] == 3000
    assert found[0]["checks"] == found[1]["checks"]
    assert found[0]["notes"][0]["code"] == "order-of-rows"


def test_what_asks_does_not_go_with_a_log(files):
    claim, write = files
    result = run("target.py:a", "--log", write(HEAD + "1,2,3,4,0,1\n"), "--claim", claim)
    assert (result.exit_code, "nothing is asked" in result.output) == (2, True)
    result = run("--log", write(HEAD + "1,2,3,4,0,1\n"))
    assert (result.exit_code, "needs --claim FILE" in result.output) == (2, True)


def test_rows_count_once_although_judging_them_was_interrupted(tmp_path, monkeypatch) -> None:
    """Catches a chunk that is shown again after Ctrl-C: twice the evidence of the same labels."""
    rows = drawn(3000, 15)
    text = HEAD + "".join(f"{','.join(map(str, r.histogram))},{r.label},0\n" for r in rows)
    (tmp_path / "log.csv").write_text(text)
    finish = LogEvidence.finish

    def interrupted(self: LogEvidence, prepared: Any, found: Any) -> None:
        finish(self, prepared, found)
        raise KeyboardInterrupt

    monkeypatch.setattr(LogEvidence, "finish", interrupted)
    report = verify_log(str(tmp_path / "log.csv"), small_claim(), 0, lambda _: None)
    assert (report.queries, report.interrupted) == (CHUNK, True)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("scale", "code"), [(0.5, "noise-refuted"), (1.0, None)])
def test_a_log_whose_noise_is_refuted_leaves_its_claimed_cost_open(tmp_path, scale, code) -> None:
    """Catches a green tick for a cost that holds for other noise than what was logged."""
    rows = drawn(3000, 2, scale)
    text = HEAD + "".join(f"{','.join(map(str, r.histogram))},{r.label},0\n" for r in rows)
    (tmp_path / "log.csv").write_text(text)
    claim = small_claim(privacy={"epsilon": 900.0, "delta": 1e-5, "queries": 3000})
    report = verify_log(str(tmp_path / "log.csv"), claim, 0, lambda _: None)
    assert report.subject == "deployment"
    assert result(report, "privacy-claim").code == code
