"""What a pass sees with the queries that there are: the search for it, and its warnings."""

import math
from collections.abc import Callable
from typing import Protocol, TypeVar

from ..claims.tables import Gate
from ..findings.note import Note
from ..inputs.input_error import InputError

COARSEST_EFFECT, COARSEST_TOLERANCE = 0.5, 0.5
"""Coarsest precision tried: beyond it a pass would not rule out halved or doubled noise."""

_TOLERANCE = 2.5  # tolerance over effect, as in the defaults


class TooFewError(InputError):
    """Too few queries for any pass; the message and `least` say about how many one takes."""

    code = "too-few-queries-for-a-pass"

    def __init__(self, message: str, least: int) -> None:
        super().__init__(message)
        self.least = least


class TakesQueries(Protocol):
    """A plan that says how many queries a pass takes."""

    @property
    def queries(self) -> int:
        """Queries in total."""


T = TypeVar("T", bound=TakesQueries)


def gate_for(gate: Gate, queries: int, effect: float) -> Gate:
    """The gate at an effect, rounded to two digits, with the tolerance that goes with it.

    Values that the claim states are kept; only defaults change.
    """
    effect = float(f"{effect:.2g}")
    default = Gate.model_fields["tolerance"].default
    tolerance = min(COARSEST_TOLERANCE, max(default, _TOLERANCE * effect))
    wanted = {"smallest_effect": effect, "tolerance": float(f"{tolerance:.2g}")}
    changed = {key: value for key, value in wanted.items() if key not in gate.model_fields_set}
    return gate.model_copy(update={**changed, "max_queries": queries})


def sharpest_within(
    at: Callable[[float], T], between: tuple[float, float], found: T, queries: int, steps: int
) -> T:
    """The plan of the smallest effect whose pass takes at most `queries`, by bisection.

    at: the plan at an effect; between: the effect that the claim has, and the coarsest one; found:
    the plan at the coarsest, which fits.
    """
    low, high = (math.log(effect) for effect in between)
    for _ in range(steps):
        middle = at(math.exp((low + high) / 2.0))
        if middle.queries <= queries:
            found, high = middle, (low + high) / 2.0
        else:
            low = (low + high) / 2.0
    return found


def is_default(gate: Gate) -> bool:
    """Whether a pass sees as much as one at the defaults."""
    fields = Gate.model_fields
    default = fields["smallest_effect"].default, fields["tolerance"].default
    return (gate.smallest_effect, gate.tolerance) == default


def coarser(gate: Gate, besides: str) -> Note:
    """A warning that a pass rules out less than at the default precision.

    besides: what is left out, or asked less of.
    """
    fields = Gate.model_fields
    effect, tolerance = fields["smallest_effect"].default, fields["tolerance"].default
    return Note(
        "coarser-than-default",
        f"planned for {gate.max_queries:,} queries: a pass sees {gate.smallest_effect:g} in total "
        f"variation (default {effect:g}) and a noise scale off by {gate.tolerance:.0%} "
        f"(default {tolerance:.0%}){besides}",
        {"smallest_effect": gate.smallest_effect, "tolerance": gate.tolerance},
    )


def dearer(most: int, needed: int, enough: float, *, coarse: str) -> Note:
    """A warning that the queries ended before a pass, with the number that a pass takes.

    enough: queries that nearly always suffice; coarse: what fewer queries allow, if to be said.
    """
    if needed <= most:
        message = f"{most:,} queries were too few for a pass, for which about as many were expected"
        return Note("too-few-queries", message)
    unit = 10 ** max(0, len(str(needed)) - 2)
    rounded = math.ceil(enough / unit) * unit
    message = f"a pass takes about {needed:,} queries: --max-queries {rounded} allows one{coarse}"
    return Note("too-few-queries", message, {"queries": rounded})
