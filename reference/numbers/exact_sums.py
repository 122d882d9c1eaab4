"""Sums of records with a single rounding, so that the order of the records does not matter."""

import math

import numpy as np

from ..arrays import Matrix, Vector


def summed(records: Matrix) -> Vector:
    """Sums (d,) of the columns of finite records (n, d), each rounded once, as `math.fsum` does.

    Row after row, with what each addition loses kept beside (Knuth's TwoSum, as in Ogita, Rump and
    Oishi 2005, Algorithm 4.4): a million columns take milliseconds a row. The losses are themselves
    added with rounding. Where that could decide how a sum is rounded, `math.fsum` does.

    Raises OverflowError for a sum beyond all floats.
    """
    total, lost, spread = np.zeros((3, records.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for row in records:
            after = total + row
            added = after - total
            error = (total - (after - added)) + (row - added)
            lost, spread, total = lost + error, spread + np.abs(error), after
        unsure = len(records) * 2.0**-52 * spread
        found = total + (lost - unsure)
        sure = (found == total + (lost + unsure)) & np.isfinite(found)
    for column in np.flatnonzero(~sure):
        found[column] = math.fsum(records[:, column])
    return np.asarray(found)
