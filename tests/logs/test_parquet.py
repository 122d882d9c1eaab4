"""Logs in Parquet: judged as other forms are, read as they come, bad ones refused in one line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import SMALL_TOML
from click.testing import CliRunner, Result

from dpassay.verifiers.cli import commands

VOTES = np.array([(20, 15, 5, 0), (10, 10, 10, 10), (30, 4, 4, 2), (14, 13, 13, 0)])


@pytest.fixture
def parquet() -> Any:
    """The module of pyarrow that writes it."""
    return pytest.importorskip("pyarrow.parquet", reason="pyarrow, which dpassay does not need")


def rows_of(number: int) -> list[dict[str, Any]]:
    """Correct rows, a second apart."""
    rng = np.random.default_rng(1)
    votes = VOTES[rng.integers(0, 4, number)]
    labels = (votes + rng.normal(0.0, 10.0, votes.shape)).argmax(-1).tolist()
    return [
        {"histogram": h, "label": y, "time": float(t)}
        for t, (h, y) in enumerate(zip(votes.tolist(), labels, strict=True))
    ]


def judged(log: Path, *more: str) -> Result:
    """What `dpassay verify --log` says."""
    claim = log.parent / "claim.toml"
    claim.write_text(SMALL_TOML)
    return CliRunner().invoke(
        commands, ["verify", "--log", str(log), "--claim", str(claim), "--seed", "1", *more]
    )


def test_it_is_judged_as_json_lines_are(tmp_path, parquet) -> None:
    """With nulls in a column that may be left out, and groups of rows that end anywhere."""
    from pyarrow import Table

    rows = rows_of(5000)
    rows[0]["worker"] = "a"  # null in all others
    parquet.write_table(Table.from_pylist(rows), tmp_path / "log.parquet", row_group_size=777)
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, other = (judged(tmp_path / f"log.{end}", "--json") for end in ("parquet", "jsonl"))
    assert json.loads(one.output)["queries"] == 5000
    assert json.loads(one.output)["checks"] == json.loads(other.output)["checks"]


def test_a_frame_with_a_column_for_each_class_is_judged_as_the_same_csv(tmp_path, parquet) -> None:
    """With the index and the floats that pandas writes; it was refused."""
    from pyarrow import Table

    rng = np.random.default_rng(3)
    votes = np.array([(20, 15, 5, 0), (10, 10, 10, 10)])[rng.integers(0, 2, 400)]
    labels = (votes + rng.normal(0.0, 10.0, votes.shape)).argmax(-1)
    rows = zip(votes, labels, strict=True)
    text = "".join(f"{','.join(map(str, row))},{label}\n" for row, label in rows)
    (tmp_path / "log.csv").write_text(f"c0,c1,c2,c3,label\n{text}")
    columns = {f"c{k}": votes[:, k].astype(float) for k in range(4)}
    table = {**columns, "label": labels, "__index_level_0__": np.arange(400)}
    parquet.write_table(Table.from_pydict(table), tmp_path / "log.parquet")
    one, other = (judged(tmp_path / f"log.{end}", "--json") for end in ("parquet", "csv"))
    assert json.loads(one.output)["queries"] == 400
    assert json.loads(one.output)["checks"] == json.loads(other.output)["checks"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"histogram": [20, 15, 5, 0], "label": None}], "row 1: label 'None' is not a whole"),
        ([{"histogram": [20, 15, 5, 0], "label": 1.5}], "row 1: label '1.5' is not a whole number"),
        ([{"histogram": None, "label": 1}], "row 1: no histogram"),
        ([{"histogram": [20, None, 5, 0], "label": 1}], "row 1: histogram [20, None, 5, 0]"),
        (
            [{"a": 20, "b": 15, "c": 5, "label": 1}],
            "expected 4, the classes of the claim; found a, b",
        ),
        (
            [{"a": 20, "b": 15, "c": 5, "d": None, "label": 1}],
            "row 1: 'None' in 'd' is not a whole",
        ),
        ([{"histogram": [20, 15, 5, 0], "x": 1, "label": 1}], "row 1: 'x': allowed are histogram"),
        ([{"histogram": [20, 15, 5, 0]}], "row 1: no label: allowed are histogram, label"),
    ],
)
def test_wrong_columns_and_nulls_are_one_line(tmp_path, parquet, rows, said) -> None:
    from pyarrow import Table

    parquet.write_table(Table.from_pylist(rows), tmp_path / "log.parquet")
    result = judged(tmp_path / "log.parquet")
    assert (result.exit_code, said in result.output) == (2, True), result.output
    assert len(result.output.splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more"])
def test_what_is_no_parquet_is_one_line(tmp_path, parquet, content) -> None:
    del parquet
    (tmp_path / "log.parquet").write_bytes(content)
    result = judged(tmp_path / "log.parquet")
    assert result.exit_code == 2
    assert len(result.output.splitlines()) == 1


def test_without_pyarrow_it_is_one_line(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = judged(tmp_path / "log.parquet")
    assert result.exit_code == 2
    assert "pip install pyarrow" in result.output


@pytest.mark.slow("a million rows in one group")
def test_a_large_group_of_rows_is_not_loaded_whole(tmp_path, parquet) -> None:
    """As Python objects its rows take more than 600 MB."""
    from pyarrow import Table

    rows = {"histogram": [[20, 15, 5, 0]] * 1_000_000, "label": [0] * 1_000_000}
    parquet.write_table(Table.from_pydict(rows), tmp_path / "log.parquet", row_group_size=1_000_000)
    words = [sys.executable, "-c", _READING, str(tmp_path / "log.parquet")]
    read, kilobytes = subprocess.run(words, capture_output=True, check=True).stdout.split()
    assert int(read) == 1_000_000
    assert int(kilobytes) < 200_000


_READING = """
import resource, sys
from dpassay.verifiers.inputs.log_file import read_log
from dpassay.verifiers.inputs.release_log import RowReader
import pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sum(1 for _ in read_log(sys.argv[1], RowReader(4, False))))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
