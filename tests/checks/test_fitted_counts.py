"""Changes of votes or of noisy counts that no scale of noise is: told with their size."""

from typing import Any

import numpy as np
import pytest
from plans import GNMAX

from dpassay.verifiers.kinds.labels.checks import ClassProbabilities
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim

LABELS = 1500
SCALE = float(GNMAX["noise"].split(":")[1])


def clamped(votes: Any, noise: Any) -> Any:
    return votes + np.clip(noise, -1.2 * SCALE, 1.2 * SCALE)


def without_sign(votes: Any, noise: Any) -> Any:
    return np.abs(votes + noise)


def capped(votes: Any, noise: Any) -> Any:
    return np.minimum(votes, 0.45 * GNMAX["teachers"]) + noise


def drawn_until_clear(votes: Any, noise: Any) -> Any:
    """Noise is drawn again until the two largest counts are half a scale apart."""
    counts, rng = votes + noise, np.random.default_rng(8)
    while (close := np.diff(np.sort(counts)[:, -2:])[:, 0] < 0.5 * SCALE).any():
        counts[close] = votes + rng.normal(0.0, SCALE, (int(close.sum()), votes.size))
    return counts


def unchanged(votes: Any, noise: Any) -> Any:
    return votes + noise


def wider(votes: Any, noise: Any) -> Any:
    return votes + 1.25 * noise


def told(change: Any) -> tuple[str, Any]:
    """The code and fields of what is found once labels of all streams have come."""
    plan = make_plan(parse_claim({"mechanism": GNMAX}), 0)
    check, rng = ClassProbabilities(plan), np.random.default_rng(3)
    for stream in range(plan.deep):
        votes = np.array(plan.streams[stream].histogram, dtype=np.float64)
        noise = rng.normal(0.0, SCALE, (LABELS, votes.size))
        check.observe(stream, change(votes, noise).argmax(1))
    found = check.fail_finding()
    return str(found.code), found.fields


@pytest.mark.slow("plans and laws of many histograms")
@pytest.mark.parametrize(
    ("change", "code", "field", "size"),
    [
        (clamped, "noise-clipped", "scales", 1.2),
        (without_sign, "counts-without-sign", None, None),
        (capped, "votes-capped", "cap", 0.45 * GNMAX["teachers"]),
        (drawn_until_clear, "redrawn-where-close", None, None),
        (wider, "scale-too-large", "factor", 1.25),
    ],
)
def test_a_change_of_counts_is_no_scale(change: Any, code: str, field: Any, size: Any) -> None:
    """They were told as a scale that stands nowhere in the code; a true scale is told as one."""
    found, fields = told(change)
    assert found == code
    if field is not None:
        assert fields[field] == pytest.approx(size, rel=0.1)


@pytest.mark.slow("plans and laws of many histograms")
def test_labels_of_the_claim_have_no_such_cause() -> None:
    assert told(unchanged)[0] == "law-unexplained"
