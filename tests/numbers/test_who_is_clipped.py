"""Records that are left unclipped where others are clipped: by place, by number and by size."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed, outcome
from numeric_zoo.claims import BALL, GRADIENT, MEAN, SUM

from dpassay.reference.numbers import NoisyGradient
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.numbers.checks.clipping import Clipping
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.planning.neighbours import groups

Clip = Callable[[Any], Any]
TEXTS = {"sum": SUM, "ball": BALL, "mean": MEAN, "gradient": GRADIENT}
USERS = 'unit = "user"\nmax_contributions = 20'


def deployment(claim: NumbersClaim, clipped: Callable[[Any, Clip], Any]) -> Any:
    """Releases the sum of what `clipped` makes of records (n, d) and a correct clip."""
    aggregation, rng = claim.mechanism.aggregation, np.random.default_rng(7)
    of: Any = aggregation
    clipping = of._sum.clipping if isinstance(aggregation, NoisyGradient) else of.clipping

    def aggregate(values: Any, size: int) -> Any:
        records = of.flat(values) if isinstance(aggregation, NoisyGradient) else np.array(values)
        if not np.isfinite(records).all():
            raise ValueError("not finite")
        total = clipped(records, clipping.clipped).sum(0) / (claim.mechanism.divide_by or 1.0)
        return aggregation.noise.sample(total, size, rng)

    return aggregate


def all_of_them(records: Any, clip: Clip) -> Any:
    return clip(records)


def dropped(records: Any, clip: Clip) -> Any:
    """Records beyond the bounds count for nothing: nobody moves a release farther."""
    return records[(clip(records) == records).all(1)]


def the_last(records: Any, clip: Clip) -> Any:
    return np.vstack([records[:-1], clip(records[-1:])])


def the_most_extreme(records: Any, clip: Clip) -> Any:
    worst = int(np.abs(records).max(1).argmax())
    records[worst] = clip(records[worst : worst + 1])[0]
    return records


def beyond_ten(records: Any, clip: Clip) -> Any:
    return np.where(np.abs(records).max(1, keepdims=True) > 10.0, clip(records), records)


def at_the_median(records: Any, clip: Clip) -> Any:
    bound = max(1.0, float(np.median(np.abs(records).max(1))))
    return bound * clip(records / bound)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("wrong", [the_last, the_most_extreme, beyond_ten, at_the_median])
def test_what_some_records_are_spared_shows(text: str, wrong: Callable[[Any, Clip], Any]) -> None:
    """These passed where the one record beyond the bounds was the last, 1,000 times beyond."""
    claim = claimed(text)
    found = outcome(Clipping, claim, deployment(claim, wrong))
    assert found is not None
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("correct", [all_of_them, dropped])
@pytest.mark.quick_cases(2)
def test_what_bounds_every_record_passes(text: str, correct: Callable[[Any, Clip], Any]) -> None:
    """Catches groups that are allowed less than their units are together."""
    claim = claimed(text)
    found = outcome(Clipping, claim, deployment(claim, correct))
    assert found is not None
    assert found.verdict is Verdict.PASS, found.finding.message


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("rest", ["", USERS])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_group_lies_within_what_its_units_are_allowed(
    text: str, rest: str, adjacency: str
) -> None:
    """By the reference's own clipping, which is exact."""
    adjacencies = ("replace-one", "add-remove")
    for other in adjacencies:
        text = text.replace(other, adjacency)
    claim = claimed(f"{text}\n{rest}")
    found = list(groups(claim.mechanism))
    assert found
    for group in found:
        moved = claim.mechanism.aggregation.exact(group.values) - group.exact
        assert np.abs(moved).max() <= group.allowed * (1 + 1e-12), group.name
        assert np.abs(moved).max() > 0, group.name
