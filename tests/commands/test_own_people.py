"""`dpassay chain --votes` and `--log`: what one's own votes, and a log, say of people."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from typed import assert_misuse, typed

CLAIM = '[mechanism]\nname = "gnmax"\nnoise = "gaussian:8"\nclasses = 2\nteachers = 50\n'
SCREENED = CLAIM.replace("gnmax", "confident-gnmax") + (
    'threshold = 30\nthreshold_noise = "gaussian:10"\n'
)
FILES = ("--data", "people.csv", "--hidden", "group=rare", "--claim", "claim.toml")


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Sixty people, of whom the last twenty are rare: about these, teachers disagree."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    rare = np.arange(60) >= 40
    first = np.where(rare, rng.integers(20, 36, 60), rng.integers(34, 51, 60))
    votes = np.stack([first, 50 - first], 1)
    names = np.where(rare, "rare", "common")
    Path("claim.toml").write_text(CLAIM)
    Path("votes.csv").write_text("".join(f"{a},{b}\n" for a, b in votes))
    rows = "".join(f"p{k},{name}\n" for k, name in enumerate(names))
    Path("people.csv").write_text("id,group\n" + rows)
    return votes, rare


def log_of(votes, answers, rng) -> None:
    """Writes answers in an order of their own, so that rows are joined by id or not at all."""
    noisy = votes[:, None, :] + rng.normal(0.0, 8.0, (len(votes), answers, 2))
    rows = [f"p{k},{label}\n" for k, of in enumerate(noisy.argmax(2)) for label in of]
    rng.shuffle(rows)
    Path("log.csv").write_text("id,label\n" + "".join(rows))


def figures(*more):
    done = typed("chain", *FILES, *more, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {(f["part"], f["of"], f["measure"]): f["value"] for f in found["figures"]}


def test_the_area_from_votes_is_that_of_all_pairs(people) -> None:
    """Enumerated: how often someone rare has the lower consensus; catches a reversed score."""
    votes, rare = people
    consensus = votes.max(1) / 50
    pairs = list(itertools.product(consensus[rare], consensus[~rare]))
    area = np.mean([(a < b) + 0.5 * (a == b) for a, b in pairs])
    found = figures("--votes", "votes.csv")
    part = "attribute from votes"
    assert found[part, "consensus below 75 %", "area"] == pytest.approx(area, abs=1e-12)
    flagged = consensus < 0.75
    assert found[part, "consensus below 75 %", "recall"] == flagged[rare].mean()
    assert found[part, "consensus below 75 %", "false alarms"] == flagged[~rare].mean()
    simulated = found["attribute through answers", "1000 answers, simulated", "area"]
    assert simulated == pytest.approx(area, abs=0.06)


@pytest.mark.slow("over half a second")
def test_a_log_tells_what_the_votes_tell(people) -> None:
    """Of 400 answers each; catches rows joined by their order, and counts of the other class."""
    votes, _ = people
    log_of(votes, 400, np.random.default_rng(1))
    both = figures("--votes", "votes.csv", "--log", "log.csv")
    log, part = figures("--log", "log.csv"), "attribute from the log"
    assert both[part, "answers", "votes misplaced"] < 0.04
    area = both["attribute from votes", "consensus below 75 %", "area"]
    assert log[part, "answers", "area"] == pytest.approx(area, abs=0.06)
    assert (part, "answers", "votes misplaced") not in log


def test_a_random_column_tells_nothing(people) -> None:
    """The same votes, people dealt to groups: the interval of the area has 0.5 in it."""
    rng = np.random.default_rng(8)
    names = rng.permutation(np.where(np.arange(60) < 20, "rare", "common"))
    rows = "".join(f"p{k},{name}\n" for k, name in enumerate(names))
    Path("people.csv").write_text("id,group\n" + rows)
    done = typed("chain", *FILES, "--votes", "votes.csv", "--json")
    area = next(f for f in json.loads(done.stdout)["figures"] if f["measure"] == "area")
    assert area["low"] < 0.5 < area["high"]


@pytest.mark.usefixtures("people")
def test_refusals_are_read_too_and_people_may_be_missing() -> None:
    Path("claim.toml").write_text(SCREENED)
    rows = "".join(f"p{k},{label}\n" for k in range(30, 60) for label in (0, 1, -1, 0))
    Path("log.csv").write_text("id,label\n" + rows)
    done = typed("chain", *FILES, "--log", "log.csv")
    assert done.returncode == 0, done.stderr
    assert re.search(r"120 answers .*30 people, 4 ", done.stdout)
    assert re.search(r"no answer .*30 people", done.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--votes", "votes.csv", "--hidden", "group"), "--hidden 'group': expected COLUMN=VALUE"),
        (("--votes", "votes.csv", "--hidden", "group=none"), "values of that column: 'common'"),
        (
            ("--votes", "votes.csv", "--hidden", "kind=rare"),
            "no column 'kind': there are id, group",
        ),
        (("--votes", "few.csv"), "2 histograms of 60 people: expected one for each"),
        (("--votes", "wide.csv"), "histogram 1: 3 classes and 50 votes, but the claim has 2"),
        (("--votes", "votes.csv", "--teachers", "9"), "--teachers: nothing is trained"),
        (("--votes", "votes.csv", "--report", "d"), "--report: nothing is trained"),
        (("--log", "nobody.csv"), "id 'q1' is not in the file of people"),
        (("--log", "three.csv"), "label 2 of id 'p1': expected 0 to 1"),
        (("--log", "nameless.csv"), "line 2: no id"),
        (("--log", "one.csv"), "0 of the 1 people in it have group rare"),
        (("--log", "absent.csv"), "absent.csv: No such file"),
    ],
)
@pytest.mark.usefixtures("people")
def test_misuse_is_told_in_a_line(words, said) -> None:
    Path("few.csv").write_text("40,10\n30,20\n")
    Path("wide.csv").write_text("40,10,0\n" * 60)
    Path("nobody.csv").write_text("id,label\nq1,0\n")
    Path("three.csv").write_text("id,label\np1,2\n")
    Path("nameless.csv").write_text("id,label\n,0\n")
    Path("one.csv").write_text("id,label\np1,0\n")
    assert_misuse(typed("chain", *FILES, *words), said)


@pytest.mark.usefixtures("people")
def test_what_is_missing_is_named() -> None:
    assert_misuse(typed("chain", "--votes", "votes.csv"), "--data is missing")
    assert_misuse(typed("chain", "--claim", "claim.toml"), "--claim belongs to --votes and --log")
