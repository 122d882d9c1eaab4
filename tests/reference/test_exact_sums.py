"""Sums of records are those of `math.fsum`: rounded once, in whatever order the records stand."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpassay.reference.numbers.aggregations import summed

TIE = [2.0**53, 1.0, 2.0**-60]  # what is lost twice decides where the sum is rounded to


@given(
    arrays.arrays(
        np.float64,
        arrays.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=12),
        elements=st.floats(-1e300, 1e300, allow_nan=False),
    )
)
@example(np.array([TIE]).T)
@example(np.array([[1e300, 1.0, -1e300]]).T)
@example(np.array([[1.0, 1e-17] + [1e-33] * 4]).T)
@example(-np.array([TIE]).T)
def test_it_is_the_sum_rounded_once(records: np.ndarray) -> None:
    """A plain sum, and one compensated once, fail: both round twice where that shows."""
    wanted = [math.fsum(column) for column in records.T]
    np.testing.assert_array_equal(summed(records), np.array(wanted, dtype=np.float64))


LARGEST = float(np.finfo(np.float64).max)
QUARTER = 0.25 * math.ulp(LARGEST)


@pytest.mark.parametrize(
    "column", [[1e308] * 3, [LARGEST, *[QUARTER] * 3], [-LARGEST, *[-QUARTER] * 3]]
)
def test_a_sum_beyond_all_floats_is_an_error(column: list[float]) -> None:
    """It is not infinity, which would be released as a number; only what is lost leads there."""
    with pytest.raises(OverflowError):
        summed(np.array([column, column]).T)
    assert summed(np.array([[LARGEST, QUARTER]]).T) == [LARGEST]
