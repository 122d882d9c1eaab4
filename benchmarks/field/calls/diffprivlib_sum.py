"""diffprivlib: `tools.sum` of floats within bounds.

With the word `public` on the command line, only of 24 records: their number is public then.
"""

import sys

import numpy as np
from diffprivlib.tools import sum as noisy_sum
from served import one_by_one, serve

RECORDS = 24


def release_once(records):
    """The noisy sum of records of one number each."""
    if "public" in sys.argv and len(records) != RECORDS:
        raise ValueError(f"{len(records)} records: {RECORDS} are public")
    return [float(noisy_sum(np.array(records), epsilon=1.0, bounds=(0.0, 1.0)))]


serve(one_by_one(release_once))
