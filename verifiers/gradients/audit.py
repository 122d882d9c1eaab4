"""`dpassay audit` of a deployment that releases noisy gradients: a canary asked in both worlds.

Releases are looked at along the canary's direction, and counted above thresholds that are fixed
before: halfway between the worlds, and far out, both by the claim alone; and between what the first
tenth showed, for deployments that are not where the claim has them. The errors of all are shared.
"""

import math
from dataclasses import replace

import numpy as np
from pydantic import Field

from ...attacks.auditing import Counts
from ...attacks.auditing.two_cut import separated
from ...attacks.gradients.canary_audit import (
    ABOVE,
    HALFWAY,
    epsilon_of,
    fixed_threshold,
    mu_by,
    proved_by,
)
from ...reference.accounting.adjacency import Adjacency
from ...reference.accounting.counting import MOST
from ...reference.arrays import Flags, Vector
from ...reference.numbers import NoisyGradient, sensitivity
from ..claims.tables import PrivacyClaim
from ..findings.pair_bounds import LowerBounds, bounds_of
from ..findings.verdict import Verdict, verdict_of
from ..kinds.numbers.claim import NumbersClaim
from ..kinds.numbers.planning.plan import at_once
from ..targets import Target, TargetError, parts
from .canary_pair import CanaryPair

_ROWS = {
    "epsilon_lower": "at least, any mechanism",
    "epsilon_lower_if_gaussian": "at least, Gaussian noise",
    "epsilon_exact": "of this pair, exactly",
    "epsilon_substitution": "of any record substituted",
    "epsilon_add_remove": "of any record added",
}
"""Epsilons in words; each also stands composed over the releases of the claim."""


class GradientAudit(LowerBounds):
    """Lower bounds that hold together with the audit's confidence, and what they are held against.

    Of one release, and composed over all that the claim allows. Where the claim is of other noise
    than Gaussian, the figures of Gaussian noise are left out.
    """

    epsilon_lower_if_gaussian: float = Field(
        default=0.0, ge=0, description="At least, by Gaussian noise."
    )
    epsilon_exact: float = Field(
        default=0.0, ge=0, description="Of this pair exactly, by the claimed Gaussian noise."
    )
    epsilon_substitution: float = Field(
        default=0.0, ge=0, description="The same of any record in another's place."
    )
    epsilon_add_remove: float = Field(
        default=0.0, ge=0, description="The same of any record more or less."
    )
    epsilon_lower_composed: float = Field(ge=0)
    epsilon_lower_if_gaussian_composed: float = Field(default=0.0, ge=0)
    epsilon_exact_composed: float = Field(default=0.0, ge=0)
    epsilon_substitution_composed: float = Field(default=0.0, ge=0)
    epsilon_add_remove_composed: float = Field(default=0.0, ge=0)
    refuted: tuple[str, ...] = Field(description="Why the claim cannot hold.")
    pair: str = Field(description="The pair in words.")
    steps_of_adjacency: int = Field(
        ge=1, description="How many steps of the claimed adjacency lie between the batches."
    )
    distance: float = Field(
        ge=0, description="Between the releases of the two batches, without noise."
    )
    releases_composed: int = Field(ge=0, description="Releases that the claim allows.")

    @property
    def _rows(self) -> list[tuple[str, float, float]]:
        """In words, the epsilon of one release, and that of all that the claim allows."""
        return [
            (words, getattr(self, key), getattr(self, f"{key}_composed"))
            for key, words in _ROWS.items()
            if key in self.model_fields_set
        ]

    def as_text(self) -> str:
        """The results as text."""
        meaning = {
            Verdict.FAIL: "; ".join(self.refuted),
            Verdict.PASS: "the worlds are told apart, and the claim is not refuted by it",
            Verdict.INCONCLUSIVE: "the releases seen do not tell the worlds apart",
        }[self.verdict]
        head = f"epsilon at delta {self.delta:g}"
        several = f"{self.releases_composed:,} releases" if self.releases_composed > 1 else ""
        lines = [
            f"{self.verdict.value.upper()}: {meaning}",
            self.pair,
            f"{head:30}{'one release':>12}{several:>20}".rstrip(),
        ]
        for name, one, many in self._rows:
            lines.append(f"  {name:28}{one:>12.4g}" + (f"{many:>20.4g}" if several else ""))
        lines.append(f"confidence {self.confidence:g}, {self.queries:,} releases")
        lines.append(
            "gradients within the bound were asked: whether others are clipped, "
            "`dpassay verify` tests"
        )
        return "\n".join(lines)


CONFIDENCE = 0.99
_SHARE = (1.0 - CONFIDENCE) / 3.0  # the error that the counts of one threshold may have
_PILOT = 0.1  # of the releases, from which the third threshold is learned
_LARGEST = 1_000  # releases that a call asks for
_NUMBERS = 100_000_000  # of all releases together: as JSON, some minutes


def audit_gradient(
    target: Target, claim: NumbersClaim, pair: CanaryPair, queries: int | None = None
) -> GradientAudit:
    """Asks both batches of a pair alike, and bounds what tells them apart.

    queries: releases in all, the claim's `max_queries` when None; of many numbers each, no more
    than take minutes. A claim of add-remove is held to what it says of two steps where the pair
    substitutes a record. Raises ValueError for a claim without [privacy], TargetError as the target
    does.
    """
    if claim.privacy is None:
        raise ValueError("the claim has no [privacy]: its delta is needed")
    each = (claim.gate.max_queries if queries is None else queries) // 2
    if each < 2:
        raise ValueError(f"max_queries = {claim.gate.max_queries}: expected 4 or more")
    each = min(each, max(2, _NUMBERS // (2 * claim.mechanism.width)))
    seen = _Releases(claim, pair, each)
    for size in parts(each, min(_LARGEST, at_once(claim.mechanism.width, _LARGEST))):
        for world, values in enumerate((pair.here, pair.there)):
            reply = target.ask(values, size)
            released = claim.release.shaped(reply, values, size)
            if not np.isfinite(released).all():
                call = claim.release.text(values, size)
                raise TargetError(f"{call} returned a number that is not finite")
            seen.observe(world, released @ pair.direction)
    return _judge(claim, claim.privacy, pair, seen)


class _Releases:
    """Releases along the canary's direction, counted above three thresholds."""

    def __init__(self, claim: NumbersClaim, pair: CanaryPair, each: int) -> None:
        self.pilot = max(1, int(_PILOT * each))
        spread = _spread(claim)
        far = fixed_threshold(
            pair.distance / spread, each, claim.private.delta, _SHARE, anytime=True
        )
        self.fixed = pair.halfway + spread * np.array([HALFWAY, far])
        self.counts = np.zeros((3, 2, 2), dtype=np.int64)
        self._first: tuple[list[float], list[float]] = ([], [])
        self._waiting: list[tuple[int, Vector]] = []
        self._learned: tuple[float, float] | None = None

    def observe(self, world: int, along: Vector) -> None:
        """Adds releases (n,) of one world."""
        for place, threshold in enumerate(self.fixed):
            self._count(place, world, along > threshold)
        room = max(0, self.pilot - len(self._first[world]))
        self._first[world].extend(along[:room].tolist())
        self._waiting.append((world, along[room:]))
        if min(map(len, self._first)) < self.pilot:
            return
        if self._learned is None:
            middles = [float(np.median(first)) for first in self._first]
            self._learned = 0.5 * sum(middles), 1.0 if middles[0] >= middles[1] else -1.0
        threshold, sign = self._learned
        for side, waiting in self._waiting:
            self._count(2, side, sign * waiting > sign * threshold)
        self._waiting.clear()

    def _count(self, place: int, world: int, above: Flags) -> None:
        hits = int(above.sum())
        self.counts[place, world] += (hits, above.size - hits)

    @property
    def each(self) -> list[Counts]:
        """Counts of each threshold that has any."""
        return [Counts(*pair) for pair in self.counts if pair.sum(1).min() > 0]


def _spread(claim: NumbersClaim) -> float:
    """The standard deviation of the claimed noise, without its rounding."""
    return claim.mechanism.aggregation.noise.family.spread


def _judge(
    claim: NumbersClaim, privacy: PrivacyClaim, pair: CanaryPair, seen: _Releases
) -> GradientAudit:
    times = min(privacy.queries, MOST)
    events = [separated(counts, ABOVE, _SHARE, anytime=True) for counts in seen.each]
    queries = int(seen.counts[0].sum())
    promised = _of_pair(privacy, pair.steps)
    audits = [
        bounds_of(p, q, promised, times, queries=queries, confidence=CONFIDENCE) for p, q in events
    ]
    composed = max(proved_by(event, privacy.delta, times) for event in events)
    mu = max(mu_by(event) for event in events)
    steps = "" if pair.steps == 1 else f", of neighbours {pair.steps} steps apart,"
    by_any = any(audit.refuted for audit in audits)
    refuted = [f"the claim's {audits[0].claimed}{steps} cannot hold"] * by_any
    costs = {"epsilon_lower": (max(proved_by(e, privacy.delta) for e in events), composed)}
    if _plain(claim):
        costs["epsilon_lower_if_gaussian"] = _both(mu, privacy.delta, times)
        costs |= _exact(claim, privacy, pair, times)
        refuted += _faults_of_gaussian(claim, privacy, pair, mu, times)
    largest = np.array([audit.rdp_lower for audit in audits]).max(0)
    return GradientAudit(
        delta=privacy.delta,
        rdp_lower=tuple((order, cost) for order, cost in largest.tolist()),
        confidence=CONFIDENCE,
        queries=queries,
        verdict=verdict_of(bool(refuted), bool(largest[:, 1].max() > 0)),
        refuted=tuple(refuted),
        pair=pair.words,
        steps_of_adjacency=pair.steps,
        distance=pair.distance,
        releases_composed=times,
        **{key: one for key, (one, _) in costs.items()},
        **{f"{key}_composed": all_ for key, (_, all_) in costs.items()},
    )


def _of_pair(privacy: PrivacyClaim, steps: int) -> PrivacyClaim:
    """What the claim says of neighbours so many steps apart, of any mechanism.

    (k epsilon, sum over i < k of e^(i epsilon) delta): Dwork and Roth 2014, Theorem 2.2 with delta.
    """
    grown = sum(math.exp(min(i * privacy.epsilon, 700.0)) for i in range(steps))
    changed = {"epsilon": steps * privacy.epsilon, "delta": min(grown * privacy.delta, 1.0)}
    return privacy.model_copy(update=changed)


def _plain(claim: NumbersClaim) -> bool:
    """Whether the claimed noise is Gaussian, and nothing is made of the release afterwards."""
    noise = claim.mechanism.aggregation.noise
    return noise.is_plain and noise.family.isotropic


def _epsilon(mu: float, delta: float) -> float:
    return epsilon_of(mu, delta) if mu > 0.0 else 0.0


def _exact(
    claim: NumbersClaim, privacy: PrivacyClaim, pair: CanaryPair, times: int
) -> dict[str, tuple[float, float]]:
    """Exact epsilons of the claimed Gaussian noise: of the pair, and of any neighbours."""
    aggregation = claim.mechanism.aggregation
    assert isinstance(aggregation, NoisyGradient)
    spread = _spread(claim)
    replaced, added = (
        sensitivity(replace(aggregation, adjacency=adjacency), 2) / spread
        for adjacency in (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE)
    )
    apart = {
        "epsilon_exact": pair.distance / spread,
        "epsilon_substitution": replaced,
        "epsilon_add_remove": added,
    }
    return {key: _both(mu, privacy.delta, times) for key, mu in apart.items()}


def _both(mu: float, delta: float, times: int) -> tuple[float, float]:
    """Epsilon of one release, and of so many."""
    return _epsilon(mu, delta), _epsilon(mu * math.sqrt(times), delta)


def _faults_of_gaussian(
    claim: NumbersClaim, privacy: PrivacyClaim, pair: CanaryPair, mu: float, times: int
) -> list[str]:
    """Why a claim of Gaussian noise cannot hold where the worlds lie `mu` apart or farther."""
    found = []
    exact = pair.distance / _spread(claim)
    if mu > exact:
        found.append(
            f"the worlds lie {mu:.4g} standard deviations apart or more, where the claimed "
            f"clipping and noise leave {exact:.4g}"
        )
    # Gaussian means lie as many times as far apart as there are steps, at most
    needed = _epsilon(mu * math.sqrt(times) / pair.steps, privacy.delta)
    if needed > privacy.epsilon:
        found.append(
            f"with Gaussian noise, {times:,} releases cost epsilon {needed:.4g} or more at delta "
            f"{privacy.delta:g} under {claim.mechanism.adjacency}, and {privacy.epsilon:g} is "
            "claimed"
        )
    return found
