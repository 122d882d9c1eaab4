"""Two releases without privacy, under the claim of sample.toml: a random record, and the sum."""

import random

own = random.Random(0)


def release(records, size):
    """Records of it, drawn anew each time."""
    return own.choices(records, k=size)


def total(records, size):
    """Their sum, without noise."""
    return [sum(records)] * size
