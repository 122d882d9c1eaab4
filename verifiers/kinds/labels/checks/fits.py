"""How well each known fault explains labels, and which faults labels can distinguish."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....evidence.dirichlet import PointedEvidence
from ....findings.note import Note
from ....run.cause import SURE
from ..planning.plan import Plan
from .fitted import Fitted

MOST = 2048
"""Most queries that are spent on distinguishing known faults."""

_LEAST_ODDS = 7.0  # least log-odds of a fault that is named; evidence that refutes is twice that
_LEAST_OF_FITTED = 14.0  # as `_LEAST_ODDS`, for a fitted fault, which fits many faults a little
_LIKE = 0.5  # log-odds within which the plainer of two faults is named
_ONSET_COST = 8.0  # nats that a late onset must explain in addition, for its choice
_DEVIATES = 0.1  # prior probability that a histogram's labels have some other law
_SAME = 0.5  # most nats that a diagnosis can expect between two faults that it cannot distinguish


@dataclass(frozen=True)
class Fits:
    """How well each known fault explains labels, against the claim.

    ratios: log-likelihood ratios (a,), since the start or an onset; onsets: labels (a,) before the
    onset, 0 for the start; general: log-evidence (streams,) of any other law; single, first:
    whether only labels of single-label calls, or only first labels of histograms, are explained;
    fitted: the best fault if it is not a known one, whose ratio then stands in place of that of the
    nearest known fault; gained: log-likelihood ratios (a,) of labels asked for the diagnosis;
    beside: a cause of which the size is fitted that explains labels nearly as well.
    """

    ratios: Vector
    onsets: Vector
    general: Vector
    single: bool = False
    first: bool = False
    fitted: Fitted | None = None
    gained: Vector | None = None
    beside: Note | None = None

    @classmethod
    def of(
        cls,
        evidence: PointedEvidence,
        general: Vector,
        single: bool = False,
        first: bool = False,
    ) -> Self:
        """Made from the evidence on known faults."""
        late = evidence.recent - _ONSET_COST
        onsets = np.where(late > evidence.log_ratios, evidence.onsets, 0.0)
        return cls(np.maximum(evidence.log_ratios, late), onsets, general, single, first)

    def with_fitted(self, fitted: Fitted | None) -> Self:
        """These fits with `fitted` in place of a known fault, if it explains most."""
        if fitted is None or fitted.log_ratio <= max(self.ratios.max(), _LEAST_OF_FITTED):
            return self
        at = np.arange(self.ratios.size) == fitted.stands_for
        ratios, onsets = np.where(at, fitted.log_ratio, self.ratios), np.where(at, 0.0, self.onsets)
        return replace(self, ratios=ratios, onsets=onsets, fitted=fitted)

    @property
    def best(self) -> int:
        """The fault that fits best; of equally good ones the first, which is the plainest.

        Among late faults, the one that best explains the labels asked since the failure, since all
        of those have the fault.
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
        """Log-odds of the best fault against the claim."""
        return float(self.ratios[self.best])

    @property
    def log_any(self) -> float:
        """Log-evidence of unknown laws, where each histogram has the claimed law or any other.

        Divided by the likelihood of the true fault, its expectation is at most 1, so a fault that
        is worse by `SURE` is itself refuted.
        """
        return float(np.logaddexp(np.log1p(-_DEVIATES), np.log(_DEVIATES) + self.general).sum())

    @property
    def explained(self) -> bool:
        """Whether the best fault explains the labels about as well as any laws would."""
        return self.would_explain(self.log_odds)

    def would_explain(self, log_odds: float) -> bool:
        """Whether a fault with these log-odds against the claim would explain as much."""
        return log_odds > max(_LEAST_ODDS, self.log_any - SURE)


def divergences(plan: Plan, fault: int) -> NDArray[np.float64]:
    """Kullback-Leibler divergence (streams, a) of a fault's law from that of every fault."""
    ratios = np.clip(np.nan_to_num(plan.fault_log_ratios), -50.0, 50.0)
    law = np.exp(plan.log_q + ratios[:, fault])
    return np.asarray(np.einsum("so,sao->sa", law, ratios[:, fault, None, :] - ratios))


def distinguishable(divergence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether labels of some stream can distinguish a fault from each other one (a,)."""
    return np.asarray(divergence.max(0) * MOST > _SAME)
