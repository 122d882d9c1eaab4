"""How well each known fault explains labels, and which of them any labels would tell apart."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....evidence import PointedEvidence
from ..planning.plan import Plan
from .fitted import Fitted

SURE = 7.0
"""Log-odds from which one explanation is told alone."""

MOST = 2048
"""Queries that are spent on telling known faults apart, at most."""

_LEAST_ODDS = 7.0  # of a fault that is named at all: evidence that refutes is twice that
_LEAST_OF_FITTED = 14.0  # of one that labels have chosen, which explains a little of many faults
_LIKE = 0.5  # log-odds within which the plainer of two faults is named
_ONSET_COST = 8.0  # a late onset has many times to choose from, so it must explain more
_DEVIATES = 0.1  # prior probability that a histogram's labels have some law of their own
_SAME = 0.5  # nats that a diagnosis could expect at most, where no histogram tells two faults apart


@dataclass(frozen=True)
class Fits:
    """How well each known fault explains labels, against the claim.

    ratios: log-likelihood ratios (a,), from the start on or from an onset on; onsets: labels (a,)
    before the fault, 0 from the start on; general: log-evidence (streams,) that a histogram's
    labels have any other law; single: whether these are the labels of calls for one alone; first:
    whether they are the first labels of each histogram alone; fitted: the best
    fault, where it is none of those known: the ratio of the one that stands for it is its own;
    gained: log-likelihood ratios (a,) of the labels that were asked to tell the cause.
    """

    ratios: Vector
    onsets: Vector
    general: Vector
    single: bool = False
    first: bool = False
    fitted: Fitted | None = None
    gained: Vector | None = None

    @classmethod
    def of(
        cls,
        evidence: PointedEvidence,
        general: Vector,
        single: bool = False,
        first: bool = False,
    ) -> Self:
        """From what was followed of the faults."""
        late = evidence.recent - _ONSET_COST
        onsets = np.where(late > evidence.log_ratios, evidence.onsets, 0.0)
        return cls(np.maximum(evidence.log_ratios, late), onsets, general, single, first)

    def with_fitted(self, fitted: Fitted | None) -> Self:
        """The same with a fault that labels have chosen, if it explains most."""
        if fitted is None or fitted.log_ratio <= max(self.ratios.max(), _LEAST_OF_FITTED):
            return self
        at = np.arange(self.ratios.size) == fitted.stands_for
        ratios, onsets = np.where(at, fitted.log_ratio, self.ratios), np.where(at, 0.0, self.onsets)
        return replace(self, ratios=ratios, onsets=onsets, fitted=fitted)

    @property
    def best(self) -> int:
        """The fault that fits best; of like ones the first, which is the plainest.

        Of those that set in late, the one that says most of the labels asked since the failure: all
        of these have the fault, of the batch in which it set in a part.
        """
        best = int(np.argmax(self.ratios >= self.ratios.max() - _LIKE))
        if self.gained is None or self.onsets[best] == 0.0 or self.fitted is not None:
            return best
        least = max(_LEAST_ODDS, self.log_any - SURE)
        late = np.where((self.onsets > 0.0) & (self.ratios > least), self.gained, -np.inf)
        latest = int(np.argmax(late))
        return latest if late[latest] > self.gained[best] + SURE else best

    @property
    def log_odds(self) -> float:
        """Of the best fault against the claim."""
        return float(self.ratios[self.best])

    @property
    def log_any(self) -> float:
        """Log-evidence of laws that need not be known: each histogram has one of its own, or not.

        Divided by the likelihood of the fault that is there, its expectation is at most 1: a fault
        that falls behind it by `SURE` is refuted itself.
        """
        return float(np.logaddexp(np.log1p(-_DEVIATES), np.log(_DEVIATES) + self.general).sum())

    @property
    def explained(self) -> bool:
        """Whether the best fault says as much of the labels as laws that fit them would."""
        return self.would_explain(self.log_odds)

    def would_explain(self, log_odds: float) -> bool:
        """Whether a fault with these odds against the claim would say as much."""
        return log_odds > max(_LEAST_ODDS, self.log_any - SURE)


def divergences(plan: Plan, fault: int) -> NDArray[np.float64]:
    """Kullback-Leibler divergence (streams, a) of a fault's law from that of every fault."""
    ratios = np.clip(np.nan_to_num(plan.fault_log_ratios), -50.0, 50.0)
    law = np.exp(plan.log_q + ratios[:, fault])
    return np.asarray(np.einsum("so,sao->sa", law, ratios[:, fault, None, :] - ratios))


def told_apart(divergence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether labels of any stream tell a fault from each other one (a,)."""
    return np.asarray(divergence.max(0) * MOST > _SAME)
