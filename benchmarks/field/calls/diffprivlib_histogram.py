"""diffprivlib: `tools.histogram` of a sample, over public edges."""

import numpy as np
from diffprivlib.tools import histogram
from served import one_by_one, serve

MOST = 100_000
"""Records of an input: the library is given them one by one."""


def release_once(counts):
    """Noisy counts of a sample that has these counts."""
    if sum(counts) > MOST:
        raise ValueError(f"more than {MOST:,} records")
    sample = np.repeat(np.arange(len(counts)), counts)
    found, _ = histogram(sample, epsilon=1.0, bins=len(counts), range=(-0.5, len(counts) - 0.5))
    return found.tolist()


serve(one_by_one(release_once))
