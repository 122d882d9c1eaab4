"""`dpassay reconstruct`: what it reads, prints and refuses."""

import json
import re

import numpy as np
import pytest
from typed import assert_misuse, typed

from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax
from dpassay.verifiers.inputs.label_log import read_labels

VOTES = [90, 78, 31, 19, 12]
OPTIONS = ["--noise", "gaussian:40", "--teachers", "230"]


def run(*arguments, stdin=""):
    return typed("reconstruct", *arguments, stdin=stdin)


def labels(mechanism, queries=8000):
    return mechanism.sample(VOTES, queries, np.random.default_rng(0)).tolist()


GNMAX = labels(NoisyArgmax(Gaussian(40.0)))


def as_lines(values):
    return "".join(f"{value}\n" for value in values)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text(as_lines(GNMAX))
    return str(path)


@pytest.mark.parametrize(
    "method",
    [
        "mle",
        "posterior",
        pytest.param("gradient-descent", marks=pytest.mark.slow("compiles the published descent")),
    ],
)
@pytest.mark.slow("over half a second")
def test_json_holds_what_the_contract_says(log, method) -> None:
    """The two best attacks read the votes to within 3, the paper's to within 12."""
    done = run(log, *OPTIONS, "--method", method, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["method"] == method
    assert found["queries"] == 8000
    assert len(found["interval"]) == 5
    held = [
        low <= votes <= high for (low, high), votes in zip(found["interval"], VOTES, strict=True)
    ]
    assert sum(held) >= 4
    away = np.abs(np.array(found["histogram"]) - VOTES).max()
    assert away < (12 if method == "gradient-descent" else 4)


@pytest.mark.slow("over half a second")
def test_a_table_is_printed_for_people() -> None:
    done = run("--counts", "4500,2500,1000", *OPTIONS)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("8,000 queries ")
    assert " mle: about " in lines[0]
    assert re.search(r"[0-9] % .*230 votes", lines[0])
    assert lines[1].split() == ["class", "votes", "95", "%", "interval"]
    assert len(lines) == 5


@pytest.mark.slow("processes that load everything; others are")
def test_a_column_of_csv_and_counts_say_the_same(tmp_path, log) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("time,label\n" + "".join(f"{i},{x}\n" for i, x in enumerate(GNMAX)))
    counts = ",".join(str(GNMAX.count(k)) for k in range(5))
    read = [
        json.loads(done.stdout)["histogram"]
        for done in (
            run(log, *OPTIONS, "--json"),
            run(*OPTIONS, "--json", stdin=as_lines(GNMAX)),
            run(str(table), *OPTIONS, "--json"),
            run("--counts", counts, *OPTIONS, "--json"),
        )
    ]
    assert read[0] == read[1] == read[2] == read[3]


@pytest.mark.slow("processes that load everything; others are")
def test_refusals_are_read_with_a_threshold_and_left_out_without() -> None:
    screened = labels(ConfidentGNMax(Gaussian(40.0), 100.0, Gaussian(50.0)))
    assert -1 in screened
    text = as_lines(screened)
    threshold = ["--threshold", "100", "--threshold-noise", "gaussian:50"]
    whole = run(*OPTIONS, *threshold, "--json", stdin=text)
    assert json.loads(whole.stdout)["queries"] == 8000
    assert whole.stderr == ""
    part = run(*OPTIONS, "--json", stdin=text)
    assert json.loads(part.stdout)["queries"] == 8000 - screened.count(-1)
    assert f"refusals left out: {screened.count(-1):,};" in part.stderr


@pytest.mark.slow("many posterior attacks")
def test_classes_beyond_those_seen_can_be_named() -> None:
    done = run("--classes", "7", *OPTIONS, "--json", stdin="0\n1\n0\n")
    assert len(json.loads(done.stdout)["histogram"]) == 7


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["nowhere.txt", *OPTIONS], "", "nowhere.txt: No such file or directory"),
        ([*OPTIONS], "", "stdin: no labels: expected one per line"),
        ([*OPTIONS], "0\n1\nx\n", "stdin, line 3: 'x' is no label"),
        ([*OPTIONS], "0\n-2\n", "stdin, line 2: '-2' is no label"),
        ([*OPTIONS], "1.5\n2.5\n", "stdin, line 1: '1.5' is no label"),
        ([*OPTIONS], "a,b\n1,2\n", "stdin, line 1: 2 columns, 0 of them named 'label'"),
        ([*OPTIONS], "label,t\n1,2\n,3\n", "stdin, line 3: '' is no label"),
        ([*OPTIONS], "5000\n", "expected at most 1000 classes"),
        (["--classes", "3", *OPTIONS], "4\n", "stdin: label 4 of --classes 3"),
        (["--counts", "1,-2", *OPTIONS], "", "--counts '1,-2': '-2' is no count"),
        (["--counts", "7", *OPTIONS], "", "expected at least two classes"),
        (["--counts", "7,1", "log.txt", *OPTIONS], "", "give one or the other"),
        (["--counts", "0,0,0", *OPTIONS], "", "no labels were counted"),
        ([*OPTIONS], "-1\n-1\n", "no labels were counted"),
        (
            [
                "--counts",
                "7,1,2",
                *OPTIONS,
                "--threshold",
                "nan",
                "--threshold-noise",
                "gaussian:4",
            ],
            "",
            "--threshold nan: expected -1e9 to 1e9 votes",
        ),
        (
            ["--counts", "7,1", "--noise", "gaussian:0.01", "--teachers", "90000000"],
            "",
            "noise gaussian:0.01 for 90,000,000 teachers",
        ),
        (OPTIONS, "answer\n0\n1\n", "stdin, line 1: 'answer' is no label"),
        (
            ["--counts", "7,1", "--noise", "normal:4", "--teachers", "9"],
            "",
            "expected FAMILY:SCALE",
        ),
        (["--counts", "7,1,2", *OPTIONS, "--threshold", "4"], "", "belong together"),
        (
            [
                "--counts",
                "7,1",
                "--noise",
                "laplace:4",
                "--teachers",
                "9",
                "--method",
                "gradient-descent",
            ],
            "",
            "gaussian noise",
        ),
    ],
)
def test_bad_input_is_one_line_on_stderr(arguments, stdin, message) -> None:
    assert_misuse(run(*arguments, stdin=stdin), message)


def test_blank_lines_and_spaces_are_no_labels() -> None:
    assert read_labels(["", "label", " 3 ", "", "-1", "0"], "log") == [3, -1, 0]


@pytest.mark.slow("many posterior attacks")
def test_labels_that_no_votes_explain_are_pointed_out() -> None:
    """Labels near a tie under much less noise than was drawn, and the right noise beside it."""
    right = run(*OPTIONS, stdin=as_lines(GNMAX))
    assert right.stderr == ""
    counts = "2900,2240,1010,680,780,680,550,390,390,380"
    wrong = run("--counts", counts, "--noise", "gaussian:100", "--teachers", "250")
    assert wrong.returncode == 0
    assert "250 teachers" in wrong.stderr
    assert "under gaussian:100" in wrong.stderr


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_labels_of_several_inputs_are_not_mixed(tmp_path, form) -> None:
    """Catches the average of two histograms read as one, and an id that is ignored."""
    labels = {"a": [0] * 30 + [1] * 10, "b": [2] * 40}
    pairs = [(key, label) for key, found in labels.items() for label in found]
    log = tmp_path / f"log.{form}"
    if form == "csv":
        log.write_text("id,label\n" + "".join(f"{key},{label}\n" for key, label in pairs))
    else:
        log.write_text("".join(json.dumps({"id": k, "label": y}) + "\n" for k, y in pairs))
    text = log.read_text().splitlines()
    assert read_labels(text, "log", "a") == labels["a"]
    with pytest.raises(ValueError, match=r"\b2 .*'a', 'b': "):
        read_labels(text, "log")
    with pytest.raises(ValueError, match=r"--id 'c'.*'a', 'b'"):
        read_labels(text, "log", "c")


def test_labels_of_several_histograms_are_not_mixed() -> None:
    """Other columns of numbers, which are no votes, are left alone."""
    with pytest.raises(ValueError, match="2 histograms"):
        read_labels(["x,y,label", "3,5,0", "5,3,1"], "log")
    assert read_labels(["x,y,label", "3,5,0", "5,4,1"], "log") == [0, 1]
    assert read_labels(["n,label", "1,0", "2,1"], "log") == [0, 1]
