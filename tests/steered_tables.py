"""An engine of public partitions, with one wrong line in each of its variants, and their claims."""

import tomllib
from pathlib import Path
from typing import Any

from dpassay.verifiers.kinds.reading import parse_claim

CLAIM = """
[mechanism]
name = "table"
adjacency = "add-remove"
max_partitions = 2
max_per_partition = 3
kept = "uniform"
partitions = ["north", "east", "south", "west", "centre"]
{more}

[mechanism.aggregates]
count = {{noise = "laplace:12"}}
sum = {{noise = "laplace:120", lower = 0.0, upper = 10.0}}

[gate]
smallest_effect = 0.1
tolerance = 0.2
"""

SOURCE = '''"""Counts and sums of five regions, of users with bounded rows."""

import numpy as np

REGIONS = ["north", "east", "south", "west", "centre"]
rng = np.random.default_rng()
known = set()


def places(groups):
    """The place of each row among those of its group, in an order at random."""
    order = rng.permutation(len(groups))
    ranked = order[np.argsort(groups[order], kind="stable")]
    starts = np.flatnonzero(np.r_[True, groups[ranked][1:] != groups[ranked][:-1]])
    found = np.empty(len(groups), dtype=int)
    found[ranked] = np.arange(len(groups)) - np.repeat(
        starts[: len(groups)], np.diff(np.r_[starts, len(groups)])[: len(groups)]
    )
    return found


def bounded(users, cells):
    """Which rows stay: three of a user and a region, then two regions of a user."""
    pairs = users * len(REGIONS) + cells
    few = places(pairs) < 3
    different, where = np.unique(pairs, return_inverse=True)
    chosen = places(different // len(REGIONS)) < 2
    return few & chosen[where] if len(pairs) else few


def kept(users, cells):
    {kept}


def release(rows):
    listed = np.isin(rows["partition"], REGIONS) if len(rows) else np.zeros(0, dtype=bool)
    {look}
    own = rows[listed]
    cells = np.array([REGIONS.index(name) for name in own["partition"].tolist()], dtype=int)
    users = np.unique(own["user"], return_inverse=True)[1].reshape(-1)
    stay = kept(users, cells)
    counts = np.bincount(cells[stay], minlength=5).astype(float)
    values = np.clip(own["value"][stay], 0.0, 10.0)
    sums = np.bincount(cells[stay], values, minlength=5).astype(float)
    scale = np.ones(5)
    {noise}
    counts += 12.0 * scale * rng.laplace(size=5)
    sums += 120.0 * scale * rng.laplace(size=5)
    table = [
        {{"partition": name, "count": float(n), "sum": float(s)}}
        for name, n, s in zip(REGIONS, counts, sums)
    ]
    {after}
    return table


def target(rows, size):
    return [release(rows) for _ in range(size)]
'''

RIGHT = {
    "kept": "return bounded(users, cells)",
    "look": "pass",
    "noise": "pass",
    "after": "pass",
}

LARGE = "largest_input = 60_000"

CHUNKED = """size = len(users)
    if size > 10_000:
        parts = [slice(start, start + {step}) for start in range(0, size, {step})]
        return np.concatenate([bounded(users[part], cells[part]) for part in parts])
    return bounded(users, cells)"""

UNLISTED = """extra = set(rows["partition"].tolist()) - set(REGIONS)
    for name in sorted(extra):
        if np.sum(rows["partition"] == name) >= 100:
            {then}"""

REMEMBERED = """known.update(np.unique(cells).tolist())
    if len(known) > np.unique(cells).size:
        scale[:] = {factor}"""

FAULTS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "an unlisted partition from 100 users on": (
        "",
        {"after": UNLISTED.format(then='table.append({**table[0], "partition": name})')},
        {"after": UNLISTED.format(then="table = [*table]")},
    ),
    "bounds per chunk of 10,000 rows": (
        LARGE,
        {"kept": CHUNKED.format(step="10_000")},
        {"kept": CHUNKED.format(step="10**9")},
    ),
    "no noise on counts above 20,000": (
        LARGE,
        {"noise": "scale[counts > 20_000] = 0.0"},
        {"noise": "scale[counts > 20_000] = 1.0"},
    ),
    "half noise where two partitions are present": (
        "",
        {"noise": "if len(np.unique(cells)) == 2:\n        scale[:] = 0.5"},
        {"noise": "if len(np.unique(cells)) == 2:\n        scale[:] = 1.0"},
    ),
    "noise by partitions of earlier tables": (
        "",
        {"noise": REMEMBERED.format(factor="0.5")},
        {"noise": REMEMBERED.format(factor="1.0")},
    ),
    "half noise at a total of rows % 128 == 5": (
        "",
        {"noise": "if len(rows) % 128 == 5:\n        scale[:] = 0.5"},
        {"noise": "if len(rows) % 128 == 5:\n        scale[:] = 1.0"},
    ),
    "half noise where a user has more than 500 rows": (
        "",
        {"noise": "if len(users) and np.bincount(users).max() > 500:\n        scale[:] = 0.5"},
        {"noise": "if len(users) and np.bincount(users).max() > 500:\n        scale[:] = 1.0"},
    ),
}
"""Of each: lines of the claim, what is wrong, and a right relative that takes the same branches."""


def claim_of(more: str = "") -> Any:
    """The claim; more: lines of its mechanism."""
    return parse_claim(tomllib.loads(CLAIM.format(more=more)))


def written(folder: Path, **wrong: str) -> str:
    """The spec of the engine in a folder of its own, with other lines than the right ones."""
    path = folder / "target.py"
    path.write_text(SOURCE.format(**{**RIGHT, **wrong}))
    return f"{path}:target"
