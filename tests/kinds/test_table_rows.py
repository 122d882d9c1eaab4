"""Rows that travel to an engine, as arrays and frames, and tables that come back."""

import math
import tomllib
from typing import get_args

import numpy as np
import pytest
from table_zoo.shelf import LISTED, UNUSUAL

from dpassay.reference.tables import Rows
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget, TargetError, open_target
from dpassay.verifiers.targets.frames import RowsForm, SentRows, whole_rows
from dpassay.verifiers.targets.tables import TableRelease

ROWS = Rows.of([5, 5, 7], [0, 1, 1], [1.0, 2.0, 3.0])


VECTORS = """
import numpy as np

def table(rows, size):
    values = np.array([list(value) for value in rows["value"]])
    assert values.shape == (3, 2), values
    return [{"a": {"vector-sum": values.sum(0)}}] * size
"""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("form", get_args(RowsForm))
def test_rows_of_vectors_travel_to_a_process_and_back(tmp_path, form) -> None:
    if form != "array":
        pytest.importorskip(form)
    (tmp_path / "engine.py").write_text(VECTORS)
    release = TableRelease(["vector-sum[0]", "vector-sum[1]"], ["a"], form, None, 2)
    target = open_target(f"{tmp_path / 'engine.py'}:table", 20.0, release=release)
    rows = Rows.of([5, 5, 7], [0, 0, 0], [[1.0, 2.0], [3.0, 4.0], [5.0, -1.0]])
    try:
        assert release.shaped(target.ask(rows, 1), rows, 1).tolist() == [[9.0, 5.0]]
    finally:
        target.close()


def test_a_set_is_no_vector() -> None:
    """It has no order. Catches one that is sorted, as in replies of any form."""
    release = TableRelease(["vector-sum[0]", "vector-sum[1]"], ["a"], "array", None, 2)
    rows = Rows.of([5], [0], [[1.0, 2.0]])
    with pytest.raises(TargetError, match="vector-sum"):
        release.shaped([{"a": {"vector-sum": {2.0, 1.0}}}], rows, 1)


PIPELINE = """
import pandas as pd

def frames(rows, size):
    assert list(rows.columns) == ["user", "partition", "value"], rows.columns
    by = rows.groupby("partition")
    made = pd.DataFrame({"count": by.size(), "sum": by["value"].sum()})
    return [made.rename_axis("partition").reset_index()] * size

def lazy(rows, size):
    import polars as pl

    assert rows.schema == {"user": pl.Int64, "partition": pl.String, "value": pl.Float64}
    by = rows.lazy().group_by("partition")
    return [by.agg(count=pl.len(), sum=pl.col("value").sum()).collect()] * size

def arrays(rows, size):
    return [{p: {"count": int((rows["partition"] == p).sum()),
                 "sum": rows["value"][rows["partition"] == p].sum()}
             for p in set(rows["partition"].tolist())}] * size
"""


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("form", "name"), [("pandas", "frames"), ("polars", "lazy"), ("array", "arrays")]
)
def test_rows_travel_to_a_process_and_back(tmp_path, form, name) -> None:
    """A frame or an array there, one table here; catches columns and rows that are mixed up."""
    if form != "array":
        pytest.importorskip(form)
    (tmp_path / "engine.py").write_text(PIPELINE)
    release = TableRelease(["count", "sum"], ["a", "b", "c"], form)
    target = open_target(f"{tmp_path / 'engine.py'}:{name}", 20.0, release=release)
    try:
        found = release.shaped(target.ask(ROWS, 2), ROWS, 2)
    finally:
        target.close()
    assert found[1, [0, 1, 3, 4]].tolist() == [1.0, 2.0, 1.0, 5.0]
    assert np.isnan(found[:, [2, 5]]).all()


MISSING = """
def table(rows, size):
    users, keys = rows["user"].tolist(), rows["partition"].tolist()
    assert [type(u).__name__ for u in users] == ["int", "NoneType", "int", "str"], users
    assert keys[2] is None or keys[2] != keys[2], keys
    assert sum(x != x for x in rows["value"].tolist()) == 2
    return [[{"partition": "a", "count": float("nan"), "sum": 1.0},
             {"partition": None, "count": 2.0, "sum": 1.0}]] * size
"""


def answered(folder, release, sent):
    """Rows that may lack a part, and what the engine in the folder answers to them."""
    rows = SentRows(*(np.zeros(0, dtype=int),) * 2, np.zeros(0), sent)
    target = open_target(f"{folder / 'engine.py'}:table", 20.0, release=release)
    try:
        return rows, release.shaped(target.ask(rows, 1), rows, 1)
    finally:
        target.close()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("form", ["array", "pandas"])
def test_rows_that_lack_something_travel_whole(tmp_path, form) -> None:
    """And back; catches a NULL that becomes 0 or 'None', and a NaN taken for a changed input."""
    if form != "array":
        pytest.importorskip(form)
    (tmp_path / "engine.py").write_text(MISSING)
    release = TableRelease(["count", "sum"], ["a", "b"], form)
    sent = ((1, "a", 1.0), (None, "b", math.nan), (2, None, None), ("1", "a", math.inf))
    rows, found = answered(tmp_path, release, sent)
    assert found[0].tolist()[0] == -math.inf  # NULL was released
    assert found[0, 2] == 1.0
    found = release.shaped([[{"partition": "a", "count": math.nan, "sum": 1.0}]], rows, 1)
    assert found[0, [0, 2]].tolist() == [math.inf, 1.0]
    missing = {"user": "dropped", "partition": "dropped", "value": "dropped"}
    kept = whole_rows(sent, {"a": 0, "b": 1}, missing)
    assert [kept.users.tolist(), kept.values.tolist()] == [[1, 1], [1.0, math.inf]]
    with pytest.raises(ValueError, match="no value"):
        whole_rows(sent, {"a": 0, "b": 1}, missing | {"value": "refused"})


def test_another_spelling_is_no_row_of_a_listed_partition() -> None:
    """Of private partitions it is one of its own; a row that lacks a part is judged first.

    Catches rows of users that vanish, and one without a user that is let through.
    """
    places, sent = {"a": 0, "b": 1}, [(1, "a", 1.0), (1, "A ", 2.0)]
    assert whole_rows(sent, places, {}).values.tolist() == [1.0]
    with pytest.raises(KeyError):
        whole_rows(sent, places, {}, listed=False)
    with pytest.raises(KeyError):
        whole_rows([(1, "zz", 1.0)], places, {})
    with pytest.raises(ValueError, match="no user"):
        whole_rows([(None, "A", 1.0)], places, {})


NULLS = """
def table(rows, size):
    import polars as pl

    assert rows["user"].to_list() == [1, None, 2, 3], rows
    assert rows["partition"].to_list() == ["a", "b", None, "a"], rows
    value = rows["value"]
    assert value.is_null().to_list() == [False, False, True, False], value
    assert value.is_nan().to_list() == [False, True, None, False], value
    return [pl.DataFrame({"partition": ["a", None], "count": [float("nan"), 2.0],
                          "sum": [1.0, None]})] * size
"""


@pytest.mark.slow("over half a second")
def test_null_and_nan_are_two_in_a_frame_of_polars(tmp_path) -> None:
    """Catches a null that becomes NaN, as it does in arrays, and so is no null to an engine."""
    pytest.importorskip("polars")
    (tmp_path / "engine.py").write_text(NULLS)
    release = TableRelease(["count", "sum"], ["a", "b"], "polars")
    sent = ((1, "a", 1.0), (None, "b", math.nan), (2, None, None), (3, "a", math.inf))
    _, found = answered(tmp_path, release, sent)
    assert found[0, [0, 2]].tolist() == [-math.inf, 1.0]  # NULL was released


def test_a_frame_of_polars_that_is_changed_is_told() -> None:
    pl = pytest.importorskip("polars")

    def table(rows, size):
        rows[0, "value"] = 9.0
        return [pl.DataFrame({"partition": ["a"], "count": [1]})] * size

    release = TableRelease(["count"], ["a", "b"], "polars")
    with pytest.raises(TargetError, match="changed the rows"):
        InProcessTarget(table, release=release).ask(ROWS, 1)


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_an_absent_package_of_frames_is_told_before_anything_is_asked(form, monkeypatch) -> None:
    """Catches a traceback in the target's first call."""
    monkeypatch.setattr("dpassay.verifiers.optional_packages.find_spec", lambda _name: None)
    with pytest.raises(ValueError, match=f'rows = "{form}" needs {form}, '):
        InProcessTarget(lambda _rows, _size: [], release=TableRelease(["count"], ["a"], form))


def test_users_of_two_types_are_not_claimed_of_polars() -> None:
    claim = UNUSUAL.replace(LISTED, LISTED + 'rows = "polars"\n')
    with pytest.raises(ClaimError, match="users_as_text"):
        parse_claim(tomllib.loads(f"[mechanism]\n{claim}"))
