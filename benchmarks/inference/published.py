"""The published votes on Adult: the attack of the paper, fewer teachers, several of a kind."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.inference import measures
from dpassay.attacks.inference.attribute import disagreement, low_consensus
from dpassay.attacks.inference.measures import Estimate

from ..pages import head
from .attributes import published
from .balanced import judged_fully
from .learned import auc_ahead

TEACHERS = (10, 50, 250)
TOGETHER = (1, 5, 20)
_SEED, _DRAWN, _RESAMPLED = 0, 4_000, 400


def document() -> dict[str, Any]:
    """What the attack finds in the votes that were released with Wang et al. 2022, as JSON."""
    votes, holder = published()
    one = judged_fully(disagreement(votes), low_consensus(votes), holder)
    return {
        "people": int(holder.size),
        "with_attribute": int(holder.sum()),
        "attack": "consensus below 75 %",
        "recall": _said(one.recall),
        "false_positives": _said(one.false_positive_rate),
        "precision": _said(one.precision),
        "area": _said(one.auc),
        "balanced_precision": {
            "value": one.balanced.mean,
            "low": one.balanced.quantile(0.025),
            "high": one.balanced.quantile(0.975),
            "subsets_from_75": one.balanced.at_least(0.75),
        },
        "teachers": [of_teachers(votes, holder, count) for count in TEACHERS],
        "together": [of_several(votes, holder, count) for count in TOGETHER],
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The same as text."""
    yield f"{found['people']:,} people, {found['with_attribute']} with the attribute"
    for name in ("recall", "false_positives", "precision", "area", "balanced_precision"):
        yield f"{name.replace('_', ' ')}: {_printed(found[name])}"
    reached = found["balanced_precision"]["subsets_from_75"]
    yield f"balanced subsets with a precision from 75 %: {100 * reached:.1f} %"
    yield "\n" + head("teachers | area | less than that of 250")
    for row in found["teachers"]:
        yield f"| {row['teachers']} | {_printed(row)} | {_printed(row['lost'])} |"
    yield "\n" + head("people known to be of one kind | area")
    for row in found["together"]:
        yield f"| {row['people']} | {_printed(row)} |"


def of_teachers(votes: NDArray[np.int64], holder: NDArray[np.bool_], count: int) -> dict[str, Any]:
    """Area of the votes of so many of the teachers, drawn anew for each person; DeLong's interval.

    lost: how much less than the area of all, on the same people.
    """
    rng = np.random.default_rng([_SEED, count])
    first = rng.hypergeometric(votes[:, 0], votes[:, 1], count)
    scores = disagreement(np.column_stack([first, count - first]))
    lost = auc_ahead(disagreement(votes), scores, holder)
    return {"teachers": count} | _said(measures.auc(scores, holder)) | {"lost": _said(lost)}


def of_several(votes: NDArray[np.int64], holder: NDArray[np.bool_], count: int) -> dict[str, Any]:
    """Area of the mean disagreement on so many people of one kind, known to be so.

    How often that of as many with the attribute is above that of as many without, ties half. The
    interval is a bootstrap of the people of either kind.
    """
    rng = np.random.default_rng([_SEED, count])
    scores = disagreement(votes)
    kinds = scores[holder], scores[~holder]

    def area(pairs: int, have: NDArray[np.float64], lack: NDArray[np.float64]) -> float:
        drawn = (rng.choice(kind, (pairs, count)).mean(1) for kind in (have, lack))
        apart = np.sign(np.subtract(*drawn).round(12))
        return float(0.5 + apart.mean() / 2)

    resampled = ([rng.choice(kind, kind.size) for kind in kinds] for _ in range(_RESAMPLED))
    low, high = np.quantile([area(_DRAWN, *again) for again in resampled], [0.025, 0.975])
    value = area(100 * _DRAWN, *kinds)
    return {"people": count, "value": value, "low": float(low), "high": float(high)}


def _said(found: Estimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _printed(found: dict[str, float]) -> str:
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
