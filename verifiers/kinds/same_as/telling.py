"""In what the replies of two deployments differ, in words: for diagnoses alone."""

from typing import Any, NamedTuple

import numpy as np

from ...findings.note import Fields
from .statistics import Middles
from .units import Units

_SURE = 5.0  # standard errors from which a difference is named


class ToldDifference(NamedTuple):
    """What differs most."""

    words: str
    fields: Fields


def told_by(units: Units) -> ToldDifference:
    """By the means of both sides: of whether there is an answer, of each number, of its spread."""
    assert units.features is not None
    middles = Middles.of(units.numbers, units.inputs, int(units.inputs.max()) + 1)
    apart = middles.apart(units.numbers, units.inputs)
    found: list[tuple[float, str, dict[str, Any]]] = []
    withheld = units.numbers[..., -1].mean((0, 2))
    words = f"it withholds {withheld[0]:.3g} of its answers, and the reference {withheld[1]:.3g}"
    found.append((_score(units.numbers[..., -1]), words, {"withheld": float(withheld[0])}))
    for place, path in enumerate(units.features.paths):
        name, column = path.split(" ")[0].lstrip(".") or "the reply", apart[..., place]
        offset = float(column[:, 0].mean() - column[:, 1].mean())
        said = f"`{name}` lies {offset:+.3g} spreads from the reference's"
        found.append((_score(column), said, {"number": name, "offset": offset}))
        spread = np.abs(column).mean((0, 2))
        factor = float(spread[0] / spread[1]) if spread[1] > 0 else 0.0
        said = f"`{name}` spreads {factor:.3g} times as far as the reference's"
        found.append((_score(np.abs(column)), said, {"number": name, "factor": factor}))
    score, words, fields = max(found, key=lambda one: one[0])
    if score < _SURE:
        return ToldDifference(
            "in how often a reply comes, or in how numbers of a reply, or of several, go together",
            {},
        )
    return ToldDifference(words, fields)


def _score(values: Any) -> float:
    """Standard errors between the sides' means of units (n, 2, calls)."""
    gaps = values[:, 0].mean(-1) - values[:, 1].mean(-1)
    spread = gaps.std() / max(1.0, len(gaps)) ** 0.5
    return float(abs(gaps.mean()) / spread) if spread > 0 else (np.inf if gaps.any() else 0.0)
