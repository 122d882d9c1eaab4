"""The map of the sources: it is what is generated, its figures are read, its commands run."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from gradient_guide import write_files
from typed import typed

figures = import_module("benchmarks.map.figures")
pages = import_module("benchmarks.map.render").pages
sources = import_module("benchmarks.map.sources").sources
filled = figures.filled

ROOT = Path(__file__).parents[2]
ROWS = [(source.key, row) for source in sources() for row in source.rows]
RUNS = sorted({row.run for _, row in ROWS if row.run})


@pytest.mark.parametrize("path", sorted(pages()))
def test_a_page_is_what_is_generated(path) -> None:
    """Catches a figure that a new run of a benchmark has changed, and a page edited by hand."""
    assert (ROOT / path).read_text() == pages()[path], "run `python -m benchmarks.map`"


def test_rows_are_enough_and_each_has_a_command_or_a_reason() -> None:
    assert len(ROWS) >= 60
    for key, row in ROWS:
        assert row.item, (key, row)
        assert row.says, (key, row)
        assert row.run or row.apart, (key, row.item)
        assert row.apart or not row.differs, (key, row.item)
        assert row.is_here or len(row.apart) > len("not here: ") + 20, (key, row.item)
        assert row.ours or row.apart or row.run, (key, row.item)
        assert not row.run or row.run.split()[0] == "dpassay", (key, row.item)


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


@pytest.fixture
def files(tmp_path, monkeypatch):
    """What the commands read, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    Path("histograms.csv").write_text("125,125,0,0\n200,40,10,0\n")
    write_files(tmp_path)


QUICK = {"dpassay chain": "--asked 100 --teachers 10 --learner tree"}
"""What makes a command short that takes minutes."""


@pytest.mark.slow("each command of the map, some of half a minute")
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("run", RUNS, ids=lambda run: re.sub(r"\W+", "-", run)[8:60])
def test_a_command_runs(run) -> None:
    """Catches an option that is gone. Status 3, a verdict that needs more labels, is no failure."""
    done = typed(*f"{run} {QUICK.get(run, '')}".split()[1:])
    assert done.returncode in (0, 3), done.stdout + done.stderr
