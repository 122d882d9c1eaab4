"""Parts of work for other processes, which find them here: test files are no modules to them."""

import os
import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpassay.attacks.auditing import Counts


def drawn(size: int, rng: np.random.Generator) -> "Counts":
    """Counts of labels of two worlds that differ."""
    from dpassay.attacks.auditing import Counts  # a process that does not need it starts sooner

    votes = np.array([5.0, 4.0, 3.0])
    here, there = (
        np.bincount((rng.normal(size=(size, 3)) + v).argmax(1), minlength=3)
        for v in (votes, votes[::-1])
    )
    return Counts(here, there)


def slowly(number: int, seconds: float) -> tuple[int, int]:
    """Its square, and who worked it out."""
    time.sleep(seconds)
    return number**2, os.getpid()
