"""Lower bounds on the privacy loss between a pair of histograms, from labels alone.

All labels are merged into two by a cut that is fixed beforehand (the 2-cut of Chadha et al. 2024,
arXiv 2402.09403, equation 3). As this is post-processing, bounds for the cut hold for the pair.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...attacks.auditing import anytime_interval
from ...reference.accounting.counting import MOST, best_count
from ...reference.accounting.divergences import renyi_divergence
from ...reference.mechanisms import Labels
from ..claims.tables import PrivacyClaim
from ..evidence import count_outcomes
from ..text import counted
from .report import Verdict

ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0)
ERRORS = ("false_positives_at_most", "false_negatives_at_most")


@dataclass(frozen=True)
class Audit:
    """Lower bounds for one query of a pair, which hold together with `confidence`.

    epsilon_lower: at `delta`; rdp_lower: at `ORDERS`, in nats; refuted: whether the claimed
    epsilon, delta and queries cannot all hold; queries: labels of both histograms together;
    claimed: the claim in words; errors: how often a test by one event is wrong, at most: says that
    the second histogram was asked when the first was (false positives), and the other way round;
    None where bounds are of several events, or labels look alike.
    """

    epsilon_lower: float
    delta: float
    rdp_lower: tuple[float, ...]
    queries: int
    refuted: bool
    confidence: float
    claimed: str
    errors: tuple[float, float] | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict; inconclusive if all bounds are zero, as the labels look alike."""
        if self.refuted:
            return Verdict.FAIL
        return Verdict.PASS if max(self.rdp_lower) > 0 else Verdict.INCONCLUSIVE

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "epsilon_lower": self.epsilon_lower,
            "delta": self.delta,
            "rdp_lower": [[o, v] for o, v in zip(ORDERS, self.rdp_lower, strict=True)],
            "confidence": self.confidence,
            "queries": self.queries,
            "verdict": self.verdict.value,
        } | ({} if self.errors is None else dict(zip(ERRORS, self.errors, strict=True)))

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        meaning = {
            Verdict.FAIL: f"the claim's {self.claimed} cannot hold",
            Verdict.PASS: "the pair is told apart, and the claim is not refuted by it",
            Verdict.INCONCLUSIVE: "the labels seen do not tell the histograms apart",
        }[self.verdict]
        costs = ", ".join(
            f"{v:.3g} at order {o:g}" for o, v in zip(ORDERS, self.rdp_lower, strict=True)
        )
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
        return replace(found, errors=_errors(p, q))


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
    return Audit(
        _epsilon(p, q, delta),
        delta,
        tuple(float(c) for c in costs),
        queries,
        _refutes(p, q, privacy, times),
        confidence,
        f"epsilon {privacy.epsilon:g} at delta {delta:g} over {counted(times, 'query', 'queries')}",
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


def _errors(p: float, q: float) -> tuple[float, float] | None:
    """False positives and negatives of the event by which p and q are nearest: see `Audit`.

    The first histogram is rejected where the label is one that the second has more often.
    """
    if p == q:
        return None
    return (1.0 - p, q) if p > q else (p, 1.0 - q)


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
