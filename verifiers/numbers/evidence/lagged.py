"""Releases in pairs, so many releases apart: no release is in two pairs of one way of pairing.

A product of ratios over pairs has expectation 1 only where the pairs have nothing in common.
"""

import numpy as np

from ....reference.arrays import Matrix, Vector


class LaggedPairs:
    """Pairs of rows `lag` apart, of rows that come in parts: blocks of 2 lag, halves side by side.

    skip: rows that come before the first block. With 0 and with `lag`, every two rows that lie
    `lag` apart are a pair of one or the other.
    """

    def __init__(self, lag: int, skip: int) -> None:
        self._lag, self._skip = lag, skip
        self._waiting: Matrix | None = None

    def of(self, rows: Matrix) -> tuple[Vector, Vector]:
        """The numbers (m,) of rows (n, k) whose partners have come, and those of their partners."""
        skipped = min(self._skip, len(rows))
        self._skip -= skipped
        rows = rows[skipped:]
        if self._waiting is not None:
            rows = np.vstack([self._waiting, rows])
        whole = len(rows) - len(rows) % (2 * self._lag)
        self._waiting = rows[whole:].copy()
        blocks = rows[:whole].reshape(-1, 2, self._lag * rows.shape[1])
        return blocks[:, 0].ravel(), blocks[:, 1].ravel()
