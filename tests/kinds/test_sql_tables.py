"""Queries of a database as targets: the worked example, what travels, and errors of one line."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.open_target import open_claimed
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets.replies import TargetError
from dpassay.verifiers.targets.sql import SqlQuery

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "sql.md").read_text()
CONNECT, CLAIM = (re.search(rf"```{kind}\n(.*?)```", GUIDE, re.S)[1] for kind in ("python", "toml"))


@pytest.fixture
def spec(tmp_path) -> str:
    (tmp_path / "visits.py").write_text(CONNECT)
    return f"{tmp_path / 'visits.py'}:connect"


def judged(spec: str, text: str, queries: int | None = None) -> Any:
    claim = parse_claim(tomllib.loads(text)).with_limits(queries, None)
    target = open_claimed(spec, claim)
    try:
        return verify(target, claim, seed=2)
    finally:
        target.close()


@pytest.mark.parametrize(
    ("left_out", "put", "check", "codes", "field", "value"),
    [
        (
            " AND pairs.place <= 3",
            "",
            "contribution-bounding",
            {"bound-not-enforced"},
            "bound",
            "max_partitions",
        ),
        (
            "listed LEFT JOIN kept",
            "listed JOIN kept",
            "empty-partitions",
            {"public-partition-dropped"},
            "empty",
            True,
        ),
        # a tenth of the noise: told by its cause, or where few releases are at hand by its estimate
        (
            "laplace(120.0)",
            "laplace(12.0)",
            "noise-scale",
            {"sensitivity-too-small", "scale-too-small"},
            "factor",
            pytest.approx(0.1, abs=0.1),
        ),
    ],
)
@pytest.mark.slow("over half a second")
def test_a_wrong_query_is_found(spec, left_out, put, check, codes, field, value) -> None:
    """Catches rows that do not reach the table, and a release that is not read from the query."""
    assert left_out in CLAIM
    report = judged(spec, CLAIM.replace(left_out, put))
    failed = {c.id: (c.code, c.fields) for c in report.checks if c.verdict is Verdict.FAIL}
    assert failed[check][0] in codes, failed
    assert failed[check][1][field] == value


@pytest.mark.slow("seconds of thousands of queries; wrong ones show that rows reach them")
def test_the_query_of_the_guide_passes(spec) -> None:
    """A correct one fails with probability 1e-6 at most."""
    assert judged(spec, CLAIM).verdict is Verdict.PASS


def test_what_is_missing_is_null(tmp_path) -> None:
    """Catches a user that is 0, a partition '' and a NaN that is a number."""
    import sqlite3

    opened = sqlite3.connect(":memory:")
    opened.execute("CREATE TABLE t (kept)")
    query = SqlQuery(
        "sqlite",
        "t",
        "SELECT partition, COUNT(user_id) AS privacy_id_count, COUNT(value) AS count, "
        "COUNT(*) AS 'all' FROM t GROUP BY partition ORDER BY partition",
    )
    rows = [[1, "a", 2.0], [None, "a", 2.0], [2, "a", float("nan")], [3, None, None]]
    found = SqlQuery.read(query.word).over(lambda: opened)(rows, 2)
    assert found[0] == found[1]
    assert [list(row.values()) for row in found[0]] == [[None, 1, 0, 1], ["a", 2, 2, 3]]
    assert list(found[0][0]) == ["partition", "privacy-id-count", "count", "all"]
    kept = opened.execute("SELECT name FROM pragma_table_info('t', 'main')").fetchall()
    assert kept == [("kept",)]  # a table of that name is hidden, not dropped


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_other_databases_take_rows_whole(engine) -> None:
    """Partitions of numbers and users of texts too; PostgreSQL where `PGHOST` says that it runs."""
    if engine == "duckdb":
        opened: Any = pytest.importorskip("duckdb").connect()
    else:
        psycopg = pytest.importorskip("psycopg")
        try:
            opened = psycopg.connect(connect_timeout=2)
        except psycopg.OperationalError:
            pytest.skip("no PostgreSQL runs here")
    query = SqlQuery(engine, "t", "SELECT partition, SUM(value) AS sum FROM t GROUP BY partition")
    aggregate: Any = query.over(lambda: opened)
    rows: Any
    for rows in ([[1, "a", 2.5], [None, "a", 1.0]], [["1", 7, 2.5], [None, 7, 1.0]]):
        assert aggregate(rows, 2) == [[{"partition": rows[0][1], "sum": 3.5}]] * 2
    assert aggregate([], 1) == [[]]
    opened.close()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"sqlite"', '"oracle"', "sql.engine = 'oracle': expected 'sqlite', 'duckdb'"),
        ('table = "visits"', 'table = "visit"', "it does not read the table visit"),
        ('table = "visits"', 'table = "a b"', "sql.table"),
        ('kept = "uniform"', 'kept = "uniform"\nrows = "array"', "mechanism.rows"),
    ],
)
def test_a_claim_that_is_none_is_told(before, after, said) -> None:
    with pytest.raises(ClaimError, match=re.escape(said)) as error:
        parse_claim(tomllib.loads(CLAIM.replace(before, after, 1)))
    assert "\n" not in str(error.value)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("before", "after", "code", "said"),
    [
        ("COUNT(value)", "COUNTS(value)", "target-failed", "OperationalError"),
        ("FROM visits", "FROM visitors, visits", "target-failed", "visitors"),
        ("AS count", "AS n", "reply-malformed", '{"partition": p, "count": x, "sum": x}'),
    ],
)
def test_a_query_that_does_not_run_is_told(spec, before, after, code, said) -> None:
    report = judged(spec, CLAIM.replace(before, after), 50)
    (failed,) = [c for c in report.checks if c.verdict is Verdict.ERROR]
    assert failed.code == code
    assert said in failed.message
    assert "\n" not in failed.message


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("exec:cat", "target-option-wrong"),
        ("visits.py:rng", "target-not-found"),
        ("visits.py:laplace", "target-not-started"),
        ("visits.py:math.ceil", "target-not-started"),
    ],
)
def test_a_target_that_opens_no_database_is_told(spec, target, code) -> None:
    named = target if target.startswith("exec") else spec.replace("visits.py:connect", target)
    with pytest.raises(TargetError) as error:
        open_claimed(named, parse_claim(tomllib.loads(CLAIM)))
    assert error.value.code == code
