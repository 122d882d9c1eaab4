"""`joint`: the numbers of a partition have noise of their own, and none comes without."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from ....evidence.mixture import log_mean_of
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ...numbers.checks.joint import Joint
from ...numbers.evidence.copula import (
    CORRELATIONS,
    PAIR_WAGERS,
    CopulaEvidence,
    folded,
    pair_gains,
    scores,
    seen_correlation,
)
from ...numbers.planning.asked import Draws
from ..claim import TablesClaim
from ..planning.plan import TablePlan
from .of_numbers import OfEachAggregate

_SHARED = "noise-shared-by-aggregates"
_BY_NORMAL = "mean and variance of the evidence, taken to be normal, for each two aggregates"


class TableJoint(OfEachAggregate):
    """Gaussian copulas of two aggregates of a partition, and bare releases of each aggregate.

    Half of the evidence is on pairs of aggregates, where there are several.
    """

    id, made, thinned = "joint", Joint, True

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self._pairs = list(combinations(range(self.columns), 2))
        self.pairs = [CopulaEvidence(PAIR_WAGERS, 2) for _ in self._pairs]
        for check in self.each:
            check.log_threshold += math.log(2.0)

    def observe(self, draws: Draws) -> None:
        super().observe(draws)
        uniform = [own.placed.uniform for own in self._columns.of(draws)]
        if not uniform:
            return
        for (one, other), evidence in zip(self._pairs, self.pairs, strict=True):
            for way, made in enumerate((scores, folded)):
                gains = pair_gains(made(uniform[one]).ravel(), made(uniform[other]).ravel())
                evidence.observe(gains, way)

    @property
    def _of_pairs(self) -> float:
        return float(log_mean_of(np.array([evidence.gains for evidence in self.pairs])))

    @property
    def log_e_value(self) -> float:
        if not self.pairs:
            return super().log_e_value
        return float(np.logaddexp(super().log_e_value, self._of_pairs) - math.log(2.0))

    def fail_finding(self) -> Finding:
        if not self.pairs or super().log_e_value > self._of_pairs:
            return super().fail_finding()
        place = int(np.argmax([evidence.gains.max() for evidence in self.pairs]))
        evidence = self.pairs[place]
        one, other = (self.table.aggregates[column].name for column in self._pairs[place])
        message = (
            f"the noise of {one} and {other} of one partition depends: a correlation of about "
            f"{CORRELATIONS[evidence.best]:g}, of the noise or of its size"
        )
        cause = f"{one} and {other} of a partition share noise: one draw serves both"
        correlation = float(CORRELATIONS[evidence.best])
        fields: Fields = {"one": one, "other": other, "correlation": correlation}
        why = Note(_SHARED, cause, fields)
        return Finding.caused(message, why, float(evidence.gains.max()))

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Of two aggregates too, by the normal scores of their noise."""
        first, wagers = self.each[0], sum(evidence.gains.size for evidence in self.pairs)
        assert isinstance(first, Joint)
        pairs = first.counted * self._columns.cells.size
        nats = self.log_threshold + math.log(2.0 * max(1, wagers))
        seen = seen_correlation(pairs, nats) if wagers else None
        if seen is None:
            return super().excluded
        size: Fields = {"correlation": seen}
        draws = pairs * self.columns
        return (
            self.entry(_SHARED, size, first.roles, draws, method=_BY_NORMAL),
            *super().excluded,
        )

    def pass_finding(self) -> Finding:
        found = super().pass_finding()
        if not self.pairs:
            return found
        told = would_show(one for one in found.excludes if one.code == _SHARED)
        message = f"aggregates of a partition were not seen to tell of each other's noise{told}"
        return replace(found, message=f"{message}; {found.message}")
