"""A zoo of aggregators, broken and correct, on which the gate is tried; one file a class of fault.

Imported as `zoo`, with `tests` on the path: pyproject.toml puts it there for pytest,
`benchmarks/zoo` for itself.
"""

from . import (
    accounting,
    balance,
    classes,
    correct,
    families,
    forms,
    inputs,
    kinds,
    late,
    ledgers,
    neighbours,
    order,
    outcomes,
    output,
    relatives,
    restarts,
    reuse,
    rounding,
    sampled,
    scale,
    screening,
    seeds,
    seldom,
    shortcuts,
    streams,
    weights,
)
from .entry import Aggregator, Deployed, opened

_FAULTS = (
    scale,
    families,
    rounding,
    classes,
    shortcuts,
    inputs,
    kinds,
    forms,
    sampled,
    weights,
    reuse,
    seeds,
    balance,
    late,
    order,
    output,
    screening,
    accounting,
    outcomes,
    ledgers,
    neighbours,
    restarts,
    seldom,
    streams,
)

BROKEN: tuple[Aggregator, ...] = tuple(entry for file in _FAULTS for entry in file.shelf.entries)
CORRECT: tuple[Aggregator, ...] = (
    *correct.shelf.entries,
    *relatives.shelf.entries,
    *rounding.correct.entries,
    *kinds.correct.entries,
    *forms.correct.entries,
    *sampled.correct.entries,
    *weights.correct.entries,
    *restarts.correct.entries,
    *ledgers.correct.entries,
    *neighbours.correct.entries,
    *outcomes.correct.entries,
    *streams.correct.entries,
)

__all__ = ["BROKEN", "CORRECT", "Aggregator", "Deployed", "opened"]
