"""How many units a run asks, and what so many surely show."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import beta

from ...evidence.dependence import log_of_signs
from ...findings.excluded import SURE_TO_SEE, Excluded
from ...run.error_budget import log_threshold
from ...run.plain_session import PlainPlan
from ...run.precision import TooFewError
from .claim import SameAsClaim
from .evidence import FIRST, log_share
from .registry import CHECKS

CALLS, LIVES = 20_000, 500
"""Units of a run, unless others are asked for: calls, or lives."""

DIFFERS = "replies-differ"
"""The code of a law that is another."""

_CHECK = "same-law"
_METHOD = (
    "the binomial law of how many units the target withholds an answer that the reference gives, "
    "and the evidence of so many; of all inputs together"
)


def surely_withheld(claim: SameAsClaim, inputs: int, units: int) -> float | None:
    """The least share of withheld answers that so many units surely show; None where none is.

    Of units of which the reference answers all.
    """
    wanted = log_threshold(CHECKS.shares[_CHECK], claim.gate.false_alarm)
    apart = claim.mechanism.lives is None and inputs > 1
    wanted += math.log(2.0) if apart else 0.0
    return _share(units, wanted - log_share(lives=claim.mechanism.lives is not None))


@lru_cache(maxsize=64)
def _share(units: int, wanted: float) -> float | None:
    """wanted: natural log of the evidence that one statistic's own wagers must reach."""
    enough = log_of_signs(np.arange(1, units + 1), np.zeros(1)) >= wanted
    if not enough.any() or units < FIRST:
        return None
    needed = int(enough.argmax()) + 1  # units, all of one sign
    return float(beta.ppf(SURE_TO_SEE, needed, units - needed + 1))  # P(so many of a binomial)


@dataclass(frozen=True)
class PlannedUnits(PlainPlan):
    """So many units, each a call or a life, put to both; queries are those of the target."""

    claim: SameAsClaim
    asked: Sequence[Any] = field(repr=False)
    extent: int

    @property
    def looked_at(self) -> Mapping[str, int]:
        calls = self.claim.mechanism.lives or 1
        return {"input-contract": len(self.asked), _CHECK: self.extent * calls}

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        return {_CHECK: excluded_by(self.claim, self.asked, self.extent)}


def excluded_by(claim: SameAsClaim, asked: Sequence[Any], units: int) -> tuple[Excluded, ...]:
    """What a pass excludes, whatever the law.

    Faults in the reference's own replies are told beside, as they follow from replies.
    """
    share = surely_withheld(claim, len(asked), units)
    if share is None:
        return ()
    return (
        Excluded(
            code=DIFFERS,
            size={"withheld": share},
            where=tuple(claim.release.input_text(one) for one in asked),
            queries=units * (claim.mechanism.lives or 1),
            probability=SURE_TO_SEE,
            false_alarm=CHECKS.shares[_CHECK] * claim.gate.false_alarm,
            method=_METHOD,
        ),
    )


def planned_units(claim: SameAsClaim, queries: int | None, seed: int) -> PlannedUnits:
    """As many units as `queries`, or else max_queries, allow. Raises TooFewError."""
    asked, calls = claim.asked(seed), claim.mechanism.lives or 1
    claim = claim.with_drawn(asked)
    opening, units = len(asked), range(FIRST, 10_000)
    least = next(n for n in units if surely_withheld(claim, opening, n) is not None)
    most = LIVES if claim.mechanism.lives else CALLS
    if queries is None:
        allowed = (claim.gate.max_queries - opening) // calls
        return PlannedUnits(claim, asked, max(least, min(most, allowed)))
    fits = (queries - opening) // calls
    if fits < least:
        wanted = opening + least * calls
        what = "pairs of calls" if calls == 1 else "lives"
        raise TooFewError(
            f"{queries:,} queries are too few: no two laws are told apart by less than {least} "
            f"{what}, so that a pass takes {wanted:,} or more",
            wanted,
        )
    return PlannedUnits(claim, asked, fits)
