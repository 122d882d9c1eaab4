"""A fault half as large again as what a pass claims to exclude is found, of every check and kind.

Three draws of each, of which the quick suite has one, at the smallest budget that a plan accepts,
or at the default for what that leaves out. An entry says that a fault of its size is seen with
probability .99 or more: one that claims much too much fails here. What fails at the sizes
themselves, of 20 runs each and at both budgets, is told by `python -m benchmarks.claimed_sizes`.
All noise follows from seeds.
"""

import pytest
from claimed_sizes import runs

TIMES = 1.5
AGAIN = pytest.mark.slow("the same fault with other draws")
DRAWN = (0, *(pytest.param(drawn, marks=AGAIN) for drawn in (1, 2)))

LEAST = {
    "labels": ("class-probabilities", "noise-scale", "fresh-noise", "accountant-soundness"),
    "batches": ("repeats", "batch-size", "inclusion", "independence"),
    "tallies": (
        "wrap-around",
        "noise-law",
        "noise-scale",
        "location",
        "joint",
        "independence",
        "fresh-noise",
    ),
    "numbers": (
        "noise-law",
        "noise-scale",
        "location",
        "shift-invariance",
        "permutation-equivariance",
        "joint",
        "independence",
        "fresh-noise",
        "clipping",
        "sensitivity",
        "support",
        "accountant-soundness",
    ),
    "keys": ("independence", "fresh-noise", "partition-release"),
    "tables": (
        "empty-partitions",
        "contribution-bounding",
        "noise-law",
        "noise-scale",
        "location",
        "independence",
        "fresh-noise",
        "joint",
    ),
    "any": (),
    "same-as": ("same-law",),
}
"""Checks that exclude something at the smallest budget, by claim."""

DEFAULT = {
    "labels": ("shift-invariance", "permutation-equivariance", "vote-monotonicity", "order"),
    "tallies": ("mask-uniformity", "recovery"),
    "any": ("privacy-audit",),
}
"""Those that exclude something at the default budget alone."""

LONG = {"tables", "keys", "any", "same-as", "tallies", "numbers-joint", "labels-order"}
"""Claims, and checks of others, that take seconds."""


def _cases(checks, budget):
    slow = pytest.mark.slow("three runs of each of many sizes, in seconds each")
    return [
        pytest.param(
            name,
            budget,
            check,
            id=f"{name}-{check}",
            marks=[slow] * bool(LONG & {name, f"{name}-{check}"}),
        )
        for name, found in checks.items()
        for check in found
    ]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize(
    ("name", "budget", "check"), [*_cases(LEAST, runs.LEAST), *_cases(DEFAULT, runs.MOST)]
)
def test_a_fault_beyond_the_claimed_size_is_found(
    name: str, budget: str, check: str, drawn: int
) -> None:
    """Catches an entry that claims a third of what its check sees, and one of another fault."""
    excluded = runs.planned(name, budget, 0).excluded[check]
    assert excluded
    for place, entry in enumerate(excluded):
        found = runs.run(name, budget, check, place, 0, TIMES, drawn)
        assert found is not None
        assert found.verdict == "fail", entry


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", LEAST)
def test_every_check_that_excludes_something_is_run(name: str) -> None:
    """Catches a check, or a kind, whose sizes nobody runs."""
    for budget, checks in ((runs.LEAST, LEAST), (runs.MOST, DEFAULT)):
        said = {check for check, found in runs.planned(name, budget, 0).excluded.items() if found}
        known = {*LEAST[name], *(DEFAULT.get(name, ()) if budget == runs.MOST else ())}
        assert said <= known
        assert said >= {*checks.get(name, ())}


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("name", "check"), [(n, c) for n in ("batches", "numbers", "keys", "tallies") for c in LEAST[n]]
)
def test_the_same_target_without_its_fault_passes(name: str, check: str) -> None:
    """Catches a target that is wrong in another way than by the size of the entry."""
    for place, entry in enumerate(runs.planned(name, runs.LEAST, 0).excluded[check]):
        if entry.code != "shuffled-not-sampled":  # it has no size
            found = runs.run(name, runs.LEAST, check, place, 0, times=0.0)
            assert found is not None
            assert found.verdict == "pass", entry
