"""Rows that are not there: told where numbers or turns show it, and not elsewhere."""

import numpy as np
import pytest

from dpassay.verifiers.inputs.release_log import Row
from dpassay.verifiers.kinds.labels.logs.verify_log import MissingRows

VOTES = (20, 15, 5, 0)


def said(rows):
    missing = MissingRows()
    for _ in missing.count(rows):
        pass
    return missing.selection


def turns(ids, number, times=20):
    """Inputs asked in turns, `number` rows of them."""
    return [Row(VOTES, 0, str(i)) for _ in range(times) for i in range(ids)][:number]


def test_gaps_in_numbers_of_calls_are_told() -> None:
    calls = [Row(VOTES, 0, call=str(i)) for i in range(500)]
    found = said([row for row in calls if row.call != "77"])
    assert found is not None
    assert (found.code, dict(found.fields)) == ("rows-missing", {"calls": 1})


def test_inputs_that_miss_a_turn_are_told() -> None:
    rows = turns(30, 600)
    del rows[95]
    found = said(rows)
    assert found is not None
    assert (found.code, dict(found.fields)) == ("rows-missing", {"ids": 1, "times": 20})


@pytest.mark.parametrize(
    "rows",
    [
        turns(30, 600),
        turns(30, 590),  # the last turn is under way
        turns(30, 573),
        [Row(VOTES, 0, str(i)) for i in np.random.default_rng(1).integers(0, 30, 600)],
        [Row(VOTES, 0, call=str(i // 3)) for i in range(600)],
        [Row(VOTES, 0, call=str(i)) for i in np.random.default_rng(1).permutation(900)[:600]],
        [Row(VOTES, 0, call=str(7 * i)) for i in range(600)],  # no numbers in a row
        [Row(VOTES, 0)] * 600,
    ],
)
def test_whole_logs_are_not(rows) -> None:
    assert said(rows) is None
