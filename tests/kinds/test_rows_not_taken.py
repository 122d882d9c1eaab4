"""Rows that lack something, and that an engine refuses or fails on although they are dropped."""

from typing import Any

import numpy as np
import pytest
from table_zoo import BROKEN
from table_zoo.engine import Engine
from table_zoo.shelf import UNUSUAL, claimed

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.tables.planning.asked import TableRole
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


def judged(engine: Any, queries: int, claim: Any = None) -> Any:
    claim = (claim or claimed(UNUSUAL)).with_limits(queries, None)
    made = engine(claim, np.random.default_rng(3))
    report = verify(InProcessTarget(made, release=claim.release), claim, seed=3)
    return report, {check.id: check for check in report.checks}


class Fails(Engine):
    """What `int(None)` does, or a comparison of NULL."""

    def complete(self, rows):
        return [(int(user), key, value) for user, key, value in rows if value == value and key]


class Refuses(Engine):
    def complete(self, rows):
        if any(value is None or value != value for _, _, value in rows):
            raise ValueError("a value is missing")
        return super().complete(rows)


@pytest.mark.slow("over half a second")
def test_a_row_that_ends_a_call_is_named_and_the_rest_is_judged() -> None:
    """A run that ended there would leave all else unsaid; catches a row that is not the one."""
    report, checks = judged(Fails, 400)
    found = checks["contribution-bounding"]
    assert found.verdict is report.verdict is Verdict.ERROR
    assert (found.code, found.fields) == ("target-failed", {"input": TableRole.NO_USERS})
    assert '[null, "a", 10.0]' in found.message
    assert "TypeError" in found.message
    assert checks["input-contract"].verdict is Verdict.PASS
    assert checks["empty-partitions"].verdict is Verdict.PASS


@pytest.mark.slow("a whole run; others of this file are quick")
def test_a_row_that_is_refused_though_it_is_dropped_fails() -> None:
    """Null: rows are dropped, so that no answer tells of one. Catches a warning in its place."""
    report, checks = judged(Refuses, 400)
    found = checks["contribution-bounding"]
    assert found.verdict is report.verdict is Verdict.FAIL
    assert (found.code, found.fields) == ("rows-refused", {"input": TableRole.NO_NUMBERS})
    assert '"a", null]' in found.message


class FailsAlways(Engine):
    """Once a row lacked its user, no call is answered any more."""

    lost = False

    def complete(self, rows):
        self.lost = self.lost or any(user is None for user, _, _ in rows)
        if self.lost:
            raise RuntimeError("lost")
        return super().complete(rows)


def test_no_row_is_blamed_where_the_others_are_not_answered_either() -> None:
    report, checks = judged(FailsAlways, 300)
    assert checks["input-contract"].verdict is report.verdict is Verdict.ERROR
    assert "RuntimeError: lost" in checks["input-contract"].message


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("name", ["rows without a number are not refused"])
def test_rows_that_are_to_be_refused_are_still_refused(name) -> None:
    (entry,) = (entry for entry in BROKEN if entry.name == name)
    report, _ = judged(entry.make, 400, entry.claim)
    assert report.verdict is Verdict.FAIL
