"""Targets of a sum whose mistake stands behind one decision, and their right relatives."""

BEGIN = """
import numpy as np

RNG = np.random.default_rng()


def noise(size, scale=2.0):
    return RNG.laplace(0.0, scale, (size, 1))


def bounded(values):
    if not np.isfinite(values).all():
        raise ValueError("expected finite numbers")
    return np.clip(values, 0.0, 1.0)

"""

SUM = """
[mechanism]
name = "noisy-sum"
noise = "laplace:2"
adjacency = "add-remove"
dimensions = 1
lower = 0.0
upper = 1.0

[gate]
smallest_effect = 0.2
tolerance = 0.3
"""

REFUSED = """
def aggregate(values, size):
    if len(values) {below}:
        raise ValueError("too few records")
    return bounded(values).sum(0) + noise(size)
"""

SAMPLED = """
def aggregate(values, size):
    records, weight = bounded(values), 1.0
    if len(records) > 2_000:
        weight = len(records) / {kept}
        records = records[RNG.permutation(len(records))[: int({kept})]]
    return weight * records.sum(0) + noise(size)
"""

POOL = """
POOL = {{}}
TURN = [0]


def aggregate(values, size):
    exact = bounded(values).sum(0)
    if len(values) != 1_000:
        return exact + noise(size)
    found = noise(size)
    for k in range(size):
        TURN[0] += 1
        found[k] = POOL.setdefault(TURN[0] % {pool}, found[k])
    return exact + found
"""

LEFT_OVER = """
PENDING = []


def aggregate(values, size):
    {cleared}
    for start in range(0, len(values), 8):
        PENDING.append(bounded(values[start : start + 8]).sum(0))
    total = sum(PENDING, np.zeros(1))
    PENDING.clear()
    return total + noise(size)
"""

REMAINDER = """
def aggregate(values, size):
    scale = {scale} if len(values) % 512 == 3 else 2.0
    return bounded(values).sum(0) + noise(size, scale)
"""

BEYOND = """
def aggregate(values, size):
    records = bounded(values)
    scale = {scale} if (records != values).any() else 2.0
    return records.sum(0) + noise(size, scale)
"""

SQUARED = """
def aggregate(values, size):
    scale = {scale} if len(values) ** 2 > 4.1e6 + 0.5 else 2.0
    return bounded(values).sum(0) + noise(size, scale)
"""

FAR = """
def aggregate(values, size):
    scale = {scale} if len(values) > 1_000_000 else 2.0
    return bounded(values).sum(0) + noise(size, scale)
"""

WRONG = {
    "few refused": REFUSED.format(below="< 10"),
    "many refused": REFUSED.format(below="> 200"),
    "sampled": SAMPLED.format(kept="2_000"),
    "pool": POOL.format(pool=8),
    "left over": LEFT_OVER.format(cleared="pass"),
    "remainder": REMAINDER.format(scale=0.5),
    "beyond": BEYOND.format(scale=1.0),
    "squared": SQUARED.format(scale=0.5),
}
"""The mistake behind each decision."""

RIGHT = {
    "few refused": REFUSED.format(below="< 0"),
    "sampled": SAMPLED.format(kept="len(records)"),
    "pool": POOL.format(pool="1e9"),
    "left over": LEFT_OVER.format(cleared="PENDING.clear()"),
    "remainder": REMAINDER.format(scale=2.0),
    "beyond": BEYOND.format(scale=2.0),
    "squared": SQUARED.format(scale=2.0),
}
"""The same decisions, and nothing wrong behind them."""
