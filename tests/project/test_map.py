"""The map of the sources: it is what is generated, and its commands print its figures."""

import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typed import typed

figures = import_module("benchmarks.map.figures")
pages = import_module("benchmarks.map.render").pages
shown = import_module("benchmarks.map.shown")
sources_of = import_module("benchmarks.map.sources")
filled = figures.filled

ROOT = Path(__file__).parents[2]
ROWS = [(source.key, row) for source in sources_of.sources() for row in source.rows]
KEPT = {source.key: shown.kept_values(source) for source in sources_of.sources()}
RUNS = sorted({row.run for _, row in ROWS if row.run})


def test_a_page_is_what_is_generated() -> None:
    """Catches a figure that a new run of a benchmark has changed, and a page edited by hand."""
    stale = [path for path, text in pages().items() if (ROOT / path).read_text() != text]
    assert stale == [], "run `python -m benchmarks.map`"


def test_rows_are_enough_and_each_has_a_command_or_a_reason() -> None:
    assert len(ROWS) >= 60
    for key, row in ROWS:
        assert row.item, (key, row)
        assert row.says, (key, row)
        assert row.run or row.apart, (key, row.item)
        assert row.apart or not row.differs, (key, row.item)
        assert row.is_here or len(row.apart) > len("not here: ") + 20, (key, row.item)
        assert row.ours or row.apart or row.run, (key, row.item)
        assert re.match("dpassay |python -m benchmarks\\.|$", row.run), (key, row.item)


@pytest.mark.parametrize(
    "reference",
    [
        "{student: digits; GNMax; 7.98 -> student}",  # no such epsilon
        "{student: digits; GNMax; 7.99 -> pupil}",
        "{student#Nowhere: digits; GNMax; 7.99 -> student}",
        "{inference~no such words (.)}",
        "{nowhere: a -> b}",
    ],
)
def test_a_figure_that_is_on_no_page_is_an_error(reference) -> None:
    with pytest.raises(figures.UnreadableError):
        filled(reference)


def test_a_cell_is_found_by_its_row_and_column() -> None:
    """Against the page as text, which another reader of tables might misread by a column."""
    row = next(
        line
        for line in (ROOT / "docs/results/student.md").read_text().splitlines()
        if line.startswith("| digits | GNMax | 7.99 ")
    )
    found = filled("{student: digits; GNMax; 7.99 -> student}")
    assert found == f"[{row.split('|')[9].strip()}](../results/student.md)"


def shows(row, printed, status=0):
    """What a row reads from a command that prints this."""
    return shown.values_of(row, CompletedProcess([], status, json.dumps(printed), ""))


A_ROW = sources_of.Row("Theorem 1", "x", run="dpassay account", ours="costs {$ cost.all -> .2f}")


def test_a_figure_is_read_from_what_the_command_printed() -> None:
    values = shows(A_ROW, {"cost": {"all": 2.3456}})
    assert filled(A_ROW.ours, values) == "costs 2.35"
    listed = replace(A_ROW, ours="{$ costs[*].all -> .1f}")
    assert filled(listed.ours, shows(listed, {"costs": [{"all": 1}, {"all": 2}]})) == "1.0, 2.0"


@pytest.mark.parametrize(
    ("printed", "status", "words"),
    [
        ({"cost": {"all": 2.3}}, 3, "ended with 3, expected 0"),
        ({"cost": {}}, 0, "nothing at cost.all"),
        ({"cost": None}, 0, "nothing at cost.all"),
    ],
)
def test_a_command_that_does_not_show_its_figure_is_an_error(printed, status, words) -> None:
    """Status 3 says that nothing was decided: it shows no figure."""
    with pytest.raises(shown.UnshownError, match=words):
        shows(A_ROW, printed, status)


def test_a_figure_that_no_command_has_printed_is_an_error() -> None:
    with pytest.raises(shown.UnshownError, match="not kept"):
        filled(A_ROW.ours, {})


def test_each_row_with_a_command_reads_a_figure_from_it() -> None:
    bare = [(key, row.item) for key, row in ROWS if row.run and not shown.references(row)]
    assert bare == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands read, in a folder of their own."""
    made = tmp_path_factory.mktemp("map")
    shown.prepare(made)
    return made


AT_ONCE = ("dpassay account", "dpassay probabilities")
"""What takes no second runs in the quick suite."""

OF_PUBLISHED = tuple(
    f"python -m benchmarks.{name}" for name in ("reconstruction", "inference", "gradients.some")
)
"""What reads the data published with Wang et al. 2022, which may be absent."""

RUN_SLOWLY = pytest.mark.slow("commands of the map that take seconds or minutes")


@pytest.mark.parametrize(
    "run",
    [
        run
        if run.startswith(AT_ONCE) and "worst-pair" not in run
        else pytest.param(run, marks=RUN_SLOWLY)
        for run in RUNS
    ],
    ids=lambda run: re.sub(r"\W+", "-", run)[:60],
)
def test_a_command_shows_the_figures_of_its_rows(run, folder, monkeypatch, request) -> None:
    """Catches a figure of the map that its command no longer prints, and an option that is gone."""
    if run.startswith(OF_PUBLISHED) or "--data adult" in run:
        request.getfixturevalue("published_data")  # skips where they are absent
    monkeypatch.chdir(folder)
    done = typed_or_run(shown.as_json(run))
    for key, row in ROWS:
        if row.run == run:
            values = shown.values_of(row, done)
            for text in (row.ours, row.apart):
                assert filled(text, values) == filled(text, KEPT[key].get(run)), row.item


def typed_or_run(arguments):
    """A command of dpassay within this process, another in one of its own."""
    if arguments[0] == "dpassay":
        return typed(*arguments[1:])
    return shown.run(arguments, Path.cwd())
