"""A log whose columns and labels have other names than dpassay's: `[log]` of the claim."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from small import small_claim

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.inputs.input_error import ColumnsError
from dpassay.verifiers.inputs.label_log import labels_by_id
from dpassay.verifiers.inputs.log_file import read_asked
from dpassay.verifiers.inputs.release_log import LogError
from dpassay.verifiers.kinds.reading import parse_claim

LABELS = ["cat", "dog", "bird", "cow"]
VOTES = [f"votes_{name}" for name in LABELS]
NAMED = {"time": "ts", "client": "requester", "label": "answer", "labels": LABELS}
HEAD = "ts,requester,votes_dog,votes_cat,votes_cow,votes_bird,answer\n"
LINE = "1772366400,ann,15,20,0,5,dog\n"
"""20 votes for cat, 15 for dog, 5 for bird: the columns stand in another order than the classes."""


def rows(text, log, name="confident-gnmax"):
    reader = small_claim(name, log=log).log_reader()
    found = [reader.row(line, f"line {n}") for n, line in enumerate(text.splitlines(True), 1)]
    return [row for row in found if row is not None]


@pytest.mark.parametrize("votes", [{"histogram": VOTES}, {}])
def test_columns_are_read_by_the_names_of_the_claim(votes) -> None:
    """Catches votes in the order of the columns, and further columns that are taken for votes."""
    head, line = HEAD.replace("ts", "Note,TS"), "well," + LINE
    (row,) = rows(head + line, NAMED | votes)
    assert (row.histogram, row.label) == ((20, 15, 5, 0), 1)
    assert (row.time, row.client) == (1772366400.0, "ann")


def test_keys_of_json_are_read_as_columns_are() -> None:
    keys = dict(zip(HEAD.strip().split(","), LINE.strip().split(","), strict=True))
    later = {key: value for key, value in keys.items() if key != "requester"}
    text = json.dumps(keys | {"note": [1]}) + "\n" + json.dumps(later) + "\n"
    first, second = rows(text, NAMED | {"histogram": VOTES})
    assert (first.histogram, first.label, first.client) == ((20, 15, 5, 0), 1, "ann")
    assert (second.histogram, second.client) == ((20, 15, 5, 0), None)
    text = '{"counts": [20, 15, 5, 0], "answer": "bird", "note": {}}\n'
    (row,) = rows(text, {"histogram": "counts", "label": "answer", "labels": LABELS})
    assert (row.histogram, row.label) == ((20, 15, 5, 0), 2)


def test_own_names_still_hold_for_what_is_not_renamed() -> None:
    """Catches a column `label` that is read although the claim says that it is `answer`."""
    text = "time,label,0,1,2,3,answer\n7,9,20,15,5,0,2\n"
    (row,) = rows(text, {"label": "answer"})
    assert (row.histogram, row.label, row.time) == ((20, 15, 5, 0), 2, 7.0)


@pytest.mark.parametrize(
    ("marks", "refused"),
    [(["", -1, "REJECTED"], ["", "-1", "-1.0", "REJECTED"]), ("none", ["none"]), (None, ["-1"])],
)
def test_what_stands_for_a_refusal(marks, refused) -> None:
    log = NAMED | ({} if marks is None else {"refusal_labels": marks})
    text = HEAD + "".join(LINE.replace("dog\n", f"{mark}\n") for mark in refused)
    assert [row.label for row in rows(text, log)] == [-1] * len(refused)


def test_classes_counted_from_one() -> None:
    """Catches labels by number although the claim names them: 4 would be out of range."""
    text = "class_4,class_3,class_2,class_1,label\n0,5,15,20,4\n0,5,15,20,1.0\n"
    found = rows(text, {"labels": [1, 2, 3, 4]})
    assert [(row.histogram, row.label) for row in found] == [
        ((20, 15, 5, 0), 3),
        ((20, 15, 5, 0), 0),
    ]


@pytest.mark.parametrize(
    ("log", "head", "error", "words"),
    [
        (
            NAMED | {"label": "anwser"},
            HEAD,
            ColumnsError,
            ["line 1: no column named 'anwser' (log.label", "one of ts,", "mean 'answer'?"],
        ),
        (NAMED | {"time": "tss"}, HEAD, ColumnsError, ["'tss' (log.time", "mean 'ts'?"]),
        (
            NAMED | {"histogram": [*VOTES[:3], "votes_cwo"]},
            HEAD,
            ColumnsError,
            ["'votes_cwo' (log.histogram", "mean 'votes_cow'?"],
        ),
        (NAMED, HEAD.replace("req", "ts,req"), ColumnsError, ["2 columns named 'ts'"]),
        (NAMED, HEAD.replace("_cow", "_ox"), ColumnsError, ["votes_dog", "histogram = [...]"]),
        (
            NAMED,
            HEAD.replace("ts,", "ts,n_cat,n_dog,n_bird,n_cow,"),
            ColumnsError,
            ["more than one set of columns", "histogram = [...]"],
        ),
        (
            {"histogram": "counts"},
            "counts,label\n",
            ColumnsError,
            ["'counts'", "a column for each"],
        ),
        (
            NAMED,
            HEAD + LINE.replace("dog", "Dgo"),
            LogError,
            ["line 2: label 'Dgo': expected 'cat', 'dog', 'bird', 'cow', or '-1'", "mean 'dog'?"],
        ),
        (NAMED, HEAD + LINE.replace("dog", "1"), LogError, ["label '1': expected 'cat'"]),
        (NAMED, HEAD + LINE.replace("15", "x"), LogError, ["'x' is not a whole number of votes"]),
    ],
)
def test_wrong_names_are_one_line_with_the_nearest(log, head, error, words) -> None:
    with pytest.raises(error) as raised:
        rows(head, log)
    said = str(raised.value)
    assert [word for word in words if word not in said] == []
    assert "\n" not in said


def test_a_refusal_where_the_claim_has_none() -> None:
    """Catches a mark that is counted as a class, and one that is dropped without a word."""
    text = HEAD + LINE.replace("dog", "REJECTED")
    with pytest.raises(LogError, match="label 'REJECTED' is a refusal, of which a log of this"):
        rows(text, NAMED | {"refusal_labels": "REJECTED"}, "gnmax")


def test_a_mark_of_refusals_that_is_unknown_names_the_key() -> None:
    with pytest.raises(LogError, match="refusal_labels in "):
        rows(HEAD + LINE.replace("dog", "none"), NAMED, "confident-gnmax")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ({"labels": ["cat", "dog"]}, "log.labels: 2 names of 4 classes"),
        ({"histogram": ["a", "b", "c"]}, "log.histogram: 3 names of 4 classes"),
        ({"histogram": ["a", "b", "c", 4]}, "log.histogram"),
        ({"labels": ["cat", "cat", "dog", "cow"]}, "'cat' stands there twice"),
        ({"labels": LABELS, "refusal_labels": "cow"}, "'cow' stands there twice"),
        ({"label": "x", "time": "X"}, "time = 'X': label names that column too"),
        ({"lable": "x"}, "log.lable is no known key (did you mean label?)"),
    ],
)
def test_claims_with_names_that_cannot_hold(log, words) -> None:
    with pytest.raises(ClaimError) as raised:
        small_claim(log=log)
    assert words in str(raised.value)
    assert len(raised.value.mistakes) == 1


def test_a_claim_without_names_is_as_it_was() -> None:
    """As monitors keep it with their state: catches names that make each of them begin anew."""
    claim = small_claim("confident-gnmax", log={"refusals": "left-out"})
    kept = claim.model_dump(mode="json", exclude_none=True)
    assert kept["log"] == {"refusals": "left-out"}


def test_files_of_queries_and_of_people_have_the_same_names(tmp_path) -> None:
    """What `account` and `chain` read: catches a second reader that knows dpassay's names alone."""
    claim = small_claim("confident-gnmax", log=NAMED | {"id": "requester", "client": "who"})
    text = HEAD.replace("ts,", "ts,who,") + "5,x," + LINE[11:] + "6,x," + LINE[11:]
    (tmp_path / "log.csv").write_text(text)
    asked = read_asked(str(tmp_path / "log.csv"), claim.log_reader())
    assert asked.histograms.tolist() == [[20, 15, 5, 0]] * 2
    assert asked.labels is not None
    assert asked.labels.tolist() == [1, 1]
    assert claim.log is not None
    assert labels_by_id(text.splitlines(), "log.csv", claim.log.names) == {"ann": [1, 1]}
    keys = dict(zip(HEAD.strip().split(","), LINE.strip().split(","), strict=True)) | {"who": "x"}
    found = labels_by_id([json.dumps(keys)], "log", claim.log.names)
    assert found == {"ann": [1]}


def test_the_log_and_the_claim_of_the_page_fit() -> None:
    """Votes by the names of their columns: catches a page that shows what is refused."""
    page = (Path(__file__).parents[2] / "docs/how-to/log.md").read_text()
    claim, log = (block_with(words, page) for words in ("refusal_labels", "ts,requester"))
    reader = parse_claim(tomllib.loads(claim)).log_reader()
    head, *lines = log.splitlines()
    assert reader.row(head, "line 1") is None
    first, second = (reader.row(line, "line") for line in lines)
    assert (first.histogram, first.label, first.client) == ((132, 63, 55), 0, "ann")
    assert (second.histogram, second.label, second.time - first.time) == ((58, 116, 76), -1, 7.0)


def block_with(words: str, page: str) -> str:
    found: list[str] = re.findall(r"^```\w+\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return next(text for text in found if words in text)


# -- times ---------------------------------------------------------------------------------------

NOON = 1772366400
"""Seconds of 2026-03-01T12:00:00Z, by `date -u -d`."""


@pytest.mark.parametrize("parts", [1, 10**3, 10**6, 10**9])
def test_times_count_seconds_or_parts_of_them(parts) -> None:
    """Catches milliseconds that are taken for seconds, so that hours of the day mean nothing."""
    text = f"a,b,c,d,label,time\n20,15,5,0,1,{NOON * parts}\n20,15,5,0,1,2026-03-01T12:00:00Z\n"
    assert [row.time for row in rows(text, {"refusals": "logged"})] == [NOON, NOON]


def test_a_reader_that_goes_on_holds_rows_to_the_last_time() -> None:
    """Catches rows of before a state that are judged once more."""
    reader = small_claim().log_reader("a,b,c,d,label,time\n", NOON)
    assert reader.row(f"20,15,5,0,1,{NOON * 1000 + 5}\n", "line 9") is not None
    with pytest.raises(LogError, match="before that of a row above"):
        reader.row(f"20,15,5,0,1,{NOON * 1000 - 5}\n", "line 10")
