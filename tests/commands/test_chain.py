"""`dpassay chain`: what it measures of a small table, what it writes, and what it refuses."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from documents import assert_published

from dpassay.verifiers.cli import commands
from dpassay.verifiers.reporting.chain import answers_chart
from dpassay.verifiers.reporting.charts import Axis

HEADER = "height,weight,likes,rare,income"
OPTIONS = [
    *("--label", "income", "--hidden", "rare=1", "--asked", 200),
    *("--teachers", 10, "--learner", "nearest"),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """600 people of two incomes; of the rare kind, income is a coin's toss to the teachers."""
    rng = np.random.default_rng(4)
    rows = [HEADER]
    for _ in range(600):
        rare, income = rng.random() < 0.15, int(rng.random() < 0.5)
        height, weight = rng.normal((0 if rare else 3 * income), 0.4, 2)
        rows.append(f"{height:.3f},{weight:.3f},{rng.choice(['tea', 'wine'])},{int(rare)},{income}")
    path = tmp_path_factory.mktemp("chain") / "people.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def run(*words):
    return CliRunner().invoke(commands, ["chain", *map(str, words)], catch_exceptions=False)


@pytest.fixture(scope="module")
def told(table, tmp_path_factory):
    """One run, with its folder."""
    folder = tmp_path_factory.mktemp("report")
    result = run("--data", table, *OPTIONS, "--report", folder, "--json")
    assert result.exit_code == 0, result.output
    assert_published("chain", result.stdout)
    return json.loads(result.stdout), folder


def figure(told, part, of, measure):
    found = [
        row["value"]
        for row in told["figures"]
        if (row["part"], row["of"], row["measure"]) == (part, of, measure)
    ]
    assert len(found) == 1, (part, of, measure)
    return found[0]


@pytest.mark.slow("over half a second")
def test_disagreement_gives_the_rare_kind_away(told) -> None:
    """Their income is not in the features: teachers disagree, which a chain turned round misses."""
    found, _ = told
    area = figure(found, "attribute from votes", "consensus below 75 %", "area")
    assert area > 0.7


@pytest.mark.slow("over half a second")
def test_more_answers_say_more(told) -> None:
    found, _ = told
    part = "attribute through answers"
    wrong = [figure(found, part, f"{n} answers", "votes misplaced") for n in (1, 10, 100, 1000)]
    assert wrong == sorted(wrong, reverse=True)
    assert figure(found, part, "1000 answers", "area") > figure(found, part, "1 answers", "area")


@pytest.mark.slow("over half a second")
def test_members_are_found_no_more_often_than_their_labels_allow(told) -> None:
    """The lower end of the interval stays below the bound; of votes there is none."""
    found, _ = told
    rows = {(r["of"], r["measure"]): r for r in found["figures"] if r["part"] == "membership"}
    for labels in (1, 10, 100, 1000):
        seen = rows[f"{labels} labels", "recall at 1 % false alarms"]
        assert seen["low"] <= rows[f"{labels} labels", "bound on it"]["value"]
    assert ("votes", "bound on it") not in rows


def test_the_files_hold_the_same_figures(told) -> None:
    found, folder = told
    with (folder / "chain.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in found["figures"]]
    assert json.loads((folder / "chain.json").read_text()) == found
    page = (folder / "index.html").read_text()
    assert "<script" not in page
    assert "Who has rare 1" in page
    assert "nan" not in page


@pytest.mark.parametrize("areas", [(0.5, 0.2), (0.05, 0.9)])
def test_an_area_below_a_guess_is_drawn_where_it_is(areas) -> None:
    """An axis that begins at 0.4 puts all that is lower on its bottom."""
    through = [
        SimpleNamespace(
            cell=SimpleNamespace(queries=queries),
            through=SimpleNamespace(auc=SimpleNamespace(value=area)),
            direct=SimpleNamespace(auc=SimpleNamespace(value=0.6)),
        )
        for queries, area in zip((1, 10), areas, strict=True)
    ]
    found = SimpleNamespace(through=through, setting=SimpleNamespace(queries=(1, 10)))
    y = answers_chart(found)["y"]
    assert isinstance(y, Axis)
    assert y.low < min(areas) < y.high


@pytest.mark.slow("over half a second")
def test_a_second_run_takes_what_is_kept(told, table) -> None:
    """Other figures would mean that what is kept is not what was asked for."""
    found, folder = told
    again = run("--data", table, *OPTIONS, "--report", folder, "--json")
    assert json.loads(again.stdout) == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--label", "income"], "give all three"),
        (["--data", "TABLE"], "--data FILE needs --label COLUMN and --hidden COLUMN=VALUE"),
        (["--data", "TABLE", "--label", "income", "--hidden", "rare"], "expected COLUMN=VALUE"),
        (["--data", "TABLE", "--label", "income", "--hidden", "rare=9"], "that column: '0', '1'"),
        (["--data", "TABLE", "--label", "income", "--hidden", "none=1"], "no column 'none'"),
        (["--data", "TABLE", "--label", "rare", "--hidden", "rare=1"], "expected another one"),
        (["--data", "/no/such/file", "--label", "a", "--hidden", "b=1"], "not read"),
        (["--sigma", "-1"], "--sigma -1: expected a positive number of votes"),
        (["--teachers", "1"], "--teachers"),
    ],
)
def test_what_cannot_be_done_is_one_line(table, words, said) -> None:
    words = [str(table) if word == "TABLE" else word for word in words]
    with_asked = [*words, "--asked", "200"]
    result = CliRunner().invoke(commands, ["chain", *with_asked])
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
