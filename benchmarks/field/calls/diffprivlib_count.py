"""diffprivlib: `tools.count_nonzero` of an array.

A word on the command line says what the array is: `elements`, as long as the count, as the
library's documentation counts elements; or `public`, of a public length with zeros in the rest.
"""

import sys

import numpy as np
from diffprivlib.tools import count_nonzero
from served import one_by_one, serve

LENGTH = 10_000
"""Of an array whose length is public, and the most that is counted."""


def release_once(counts):
    """A noisy count of the nonzero elements of an array."""
    (count,) = counts
    if count > LENGTH - 100:
        raise ValueError(f"more than {LENGTH - 100:,} records")
    array = np.zeros(count if sys.argv[1] == "elements" else LENGTH, dtype=bool)
    array[:count] = True
    return [int(count_nonzero(array, epsilon=1.0))]


serve(one_by_one(release_once))
