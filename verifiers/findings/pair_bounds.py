"""Lower bounds on the privacy loss between a pair of histograms, from labels alone.

All labels are merged into two by a cut that is fixed beforehand (the 2-cut of Chadha et al. 2024,
arXiv 2402.09403, equation 3). As this is post-processing, bounds for the cut hold for the pair.
"""

import numpy as np
from pydantic import Field

from ...attacks.auditing import anytime_interval
from ...reference.accounting.counting import MOST, best_count
from ...reference.accounting.divergences import renyi_divergence
from ...reference.mechanisms import Labels
from ..claims.tables import PrivacyClaim
from ..evidence.outcomes import count_outcomes
from ..text import counted
from .document import VariedDocument
from .verdict import Verdict, verdict_of

ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0)


class LowerBounds(VariedDocument):
    """Lower bounds for one query of a pair, which hold together with `confidence`."""

    epsilon_lower: float = Field(ge=0, description="Of one query at least, at delta.")
    delta: float = Field(ge=0, le=1)
    rdp_lower: tuple[tuple[float, float], ...] = Field(
        description="Pairs of an order and the Rényi cost of one query at least, in nats."
    )
    confidence: float = Field(gt=0, lt=1)
    queries: int = Field(ge=0, description="Labels or releases that were asked, of both inputs.")
    verdict: Verdict = Field(
        description="Fail where the claimed epsilon, delta and queries cannot all hold; "
        "inconclusive where all bounds are zero, as the replies look alike."
    )


class Audit(LowerBounds):
    """The bounds by the labels of two histograms, and the errors of a test by one event."""

    false_positives_at_most: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="How often one label says that the second histogram was asked when the first "
        "was; left out where labels look alike.",
    )
    false_negatives_at_most: float = Field(
        default=1.0, ge=0, le=1, description="The other way round."
    )
    claimed: str = Field(exclude=True)

    @property
    def refuted(self) -> bool:
        """Whether the claim cannot hold."""
        return self.verdict is Verdict.FAIL

    @property
    def errors(self) -> tuple[float, float] | None:
        """False positives and negatives, at most; None where labels look alike."""
        if "false_positives_at_most" not in self.model_fields_set:
            return None
        return self.false_positives_at_most, self.false_negatives_at_most

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        meaning = {
            Verdict.FAIL: f"the claim's {self.claimed} cannot hold",
            Verdict.PASS: "the pair is told apart, and the claim is not refuted by it",
            Verdict.INCONCLUSIVE: "the labels seen do not tell the histograms apart",
        }[self.verdict]
        costs = ", ".join(f"{cost:.3g} at order {order:g}" for order, cost in self.rdp_lower)
        told = ""
        if self.errors is not None:
            positive, negative = self.errors
            told = (
                f"by one label: false positives at most {positive:.4g}, negatives {negative:.4g}\n"
            )
        return (
            f"{self.verdict.value.upper()}: {meaning}\n{told}"
            f"epsilon of one query at least {self.epsilon_lower:.4g} at delta {self.delta:g}\n"
            f"Rényi cost of one query at least {costs}\n"
            f"confidence {self.confidence:g}, {self.queries:,} queries"
        )


class PairLabels:
    """Labels of two histograms, merged by a cut that the first `pilot` labels of each decide.

    outcomes: how many there are, a refusal included.
    """

    def __init__(self, outcomes: int, pilot: int) -> None:
        self.pilot = pilot
        self.first = np.zeros((2, outcomes))
        self.fresh = np.zeros((2, outcomes))

    def observe(self, side: int, labels: Labels) -> None:
        """Adds labels (n,) of the first or the second histogram."""
        room = max(0, self.pilot - int(self.first[side].sum()))
        outcomes = self.first.shape[1]
        self.first[side] += count_outcomes(labels[:room], outcomes)
        self.fresh[side] += count_outcomes(labels[room:], outcomes)

    def bounds(self, privacy: PrivacyClaim, times: int, alpha: float) -> Audit:
        """The bounds that the labels so far prove, with confidence 1 - alpha at all times.

        times: queries that the claim allows on the pair.
        """
        cut = self.first[0] > self.first[1]
        intervals = [
            anytime_interval(int(c[cut].sum()), int(c.sum()), alpha / 2) for c in self.fresh
        ]
        p, q = _nearest(*intervals)
        asked = int(self.first.sum() + self.fresh.sum())
        found = bounds_of(p, q, privacy, times, queries=asked, confidence=1.0 - alpha)
        errors = _errors(p, q)
        return found if errors is None else found.model_copy(update=errors)


def bounds_of(
    p: float, q: float, privacy: PrivacyClaim, times: int, *, queries: int, confidence: float
) -> Audit:
    """The bounds from probabilities p and q of an event under either histogram.

    They are the closest pair that is not refuted. times: queries that the claim allows on the pair;
    queries: labels that were asked.
    """
    delta = privacy.delta
    one, other = (np.log(np.clip([x, 1.0 - x], 1e-300, 1.0)) for x in (p, q))
    costs = np.maximum(renyi_divergence(one, other, ORDERS), renyi_divergence(other, one, ORDERS))
    refuted = _refutes(p, q, privacy, times)
    over = counted(times, "query", "queries")
    return Audit(
        epsilon_lower=_epsilon(p, q, delta),
        delta=delta,
        rdp_lower=tuple(zip(ORDERS, costs.tolist(), strict=True)),
        confidence=confidence,
        queries=queries,
        verdict=verdict_of(refuted, costs.max() > 0),
        claimed=f"epsilon {privacy.epsilon:g} at delta {delta:g} over {over}",
    )


def _nearest(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The closest points of two intervals, which are equal if they overlap.

    Every bound grows with the distance of the points, so these give the smallest.
    """
    if one[0] > other[1]:
        return one[0], other[1]
    if one[1] < other[0]:
        return one[1], other[0]
    return 0.5, 0.5


def _errors(p: float, q: float) -> dict[str, float] | None:
    """False positives and negatives of the event by which p and q are nearest: see `Audit`.

    The first histogram is rejected where the label is one that the second has more often.
    """
    if p == q:
        return None
    positive, negative = (1.0 - p, q) if p > q else (p, 1.0 - q)
    return {"false_positives_at_most": positive, "false_negatives_at_most": negative}


def _epsilon(p: float, q: float, delta: float) -> float:
    """The least epsilon at delta between coins of probabilities p and q, in both directions."""
    events = ((p, q), (1.0 - p, 1.0 - q), (q, p), (1.0 - q, 1.0 - p))
    return max([0.0, *(float(np.log((a - delta) / b)) for a, b in events if a > delta and b > 0)])


def _refutes(p: float, q: float, privacy: PrivacyClaim, times: int) -> bool:
    """Whether `times` draws distinguish coins p and q better than the claim allows."""
    counted, delta = min(times, MOST), privacy.delta * (1 + 1e-6)
    if not counted:
        return False
    events = ((p, q), (q, p), (1.0 - p, 1.0 - q), (1.0 - q, 1.0 - p))
    return any(best_count(a, b, counted, privacy.epsilon)[1] > delta for a, b in events)
