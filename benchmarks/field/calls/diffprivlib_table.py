"""diffprivlib, by hand: bounded in Python; words: mechanism, or tools (its sum of a column)."""

import random
import sys

from diffprivlib.mechanisms import Laplace
from diffprivlib.tools import sum as noisy_sum
from served import serve_tables

PUBLIC = ["a", "b", "c", "d", "e", "f"]
rng = random.SystemRandom()
NOISY = Laplace(epsilon=0.5, sensitivity=60.0)


def bounded(rows):
    """The values of each partition: three partitions of a user, and two rows in each."""
    pairs = {}
    for user, key, value in rows:
        if key in PUBLIC:
            pairs.setdefault(user, {}).setdefault(key, []).append(value)
    found = {key: [] for key in PUBLIC}
    for own in pairs.values():
        for key in rng.sample(sorted(own), min(3, len(own))):
            values = own[key]
            found[key] += rng.sample(values, min(2, len(values)))
    return found


def summed(values):
    """A noisy sum of clipped values."""
    clipped = [min(max(value, 0.0), 10.0) for value in values]
    if sys.argv[1] == "tools":
        return float(noisy_sum(clipped or [0.0], epsilon=0.5 / 6.0, bounds=(0.0, 10.0)))
    return float(NOISY.randomise(sum(clipped)))


def table(rows):
    """One release."""
    return [{"partition": key, "sum": summed(v)} for key, v in bounded(rows).items()]


serve_tables(table)
