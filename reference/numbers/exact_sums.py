"""Sums of records with a single rounding, so that the order of the records does not matter."""

import math

import numpy as np

from ..arrays import Matrix, Vector


def summed(records: Matrix) -> Vector:
    """Sums (d,) of the columns of finite records (n, d), each rounded once, as `math.fsum` does.

    Rows are added in pairs, with what each addition loses kept beside (Knuth's TwoSum, as in Ogita,
    Rump and Oishi 2005, Algorithm 4.4): millions of numbers take milliseconds. The losses are
    themselves added with rounding. Where that could decide how a sum is rounded, `math.fsum` does.

    Raises OverflowError for a sum beyond all floats.
    """
    total: Matrix = records
    lost, spread = np.zeros((2, records.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        while len(total) > 1:
            half = len(total) // 2
            one, other = total[:half], total[half : 2 * half]
            after = one + other
            added = after - one
            error = (one - (after - added)) + (other - added)
            lost, spread = lost + error.sum(0), spread + np.abs(error).sum(0)
            total = np.concatenate([after, total[2 * half :]])
        total = total.sum(0)
        unsure = len(records) * 2.0**-52 * spread
        found = total + (lost - unsure)
        sure = (found == total + (lost + unsure)) & np.isfinite(found)
    for column in np.flatnonzero(~sure):
        found[column] = math.fsum(records[:, column])
    return np.asarray(found)
