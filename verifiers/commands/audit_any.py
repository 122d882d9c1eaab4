"""`dpassay audit` of a claim without a law: what each pair of inputs proves of epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..findings.verdict import Verdict
from ..kinds.lawless.claim import AnyClaim
from ..kinds.lawless.halving import FIRST, all_draws
from ..kinds.lawless.privacy_audit import CONFIDENCE, WANTED, PairAudit, PrivacyAudit
from ..kinds.lawless.session import one_release
from ..targets import Refused, Target
from ..targets.replies import CallError

_LINES = 4  # of a curve, whose epsilons are bounded


@dataclass(frozen=True)
class LineBound:
    """What a pair proves at one delta; claimed: epsilon; refuted: whether these draws refute it."""

    delta: float
    claimed: float
    epsilon_lower: float
    refuted: bool


@dataclass(frozen=True)
class PairBounds:
    """What one pair proves, at each delta of the claim."""

    name: str
    draws: int
    lines: Sequence[LineBound]

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        lines = [
            {
                "delta": line.delta,
                "claimed": line.claimed,
                "epsilon_lower": line.epsilon_lower,
                "refuted": line.refuted,
            }
            for line in self.lines
        ]
        return {"pair": self.name, "draws": self.draws, "bounds": lines}


@dataclass(frozen=True)
class AnyAudit:
    """The bounds of all pairs, which hold together.

    refuted: whether a bound is above its claim, or the evidence of all pairs together reached its
    threshold at some look; left_out: why drawn pairs were not looked at.
    """

    pairs: Sequence[PairBounds]
    queries: int
    refuted: bool
    left_out: Sequence[str]

    @property
    def verdict(self) -> Verdict:
        """Fail where the claim is refuted; inconclusive where nothing is proven."""
        if self.refuted:
            return Verdict.FAIL
        told = any(line.epsilon_lower > 0.0 for pair in self.pairs for line in pair.lines)
        return Verdict.PASS if told else Verdict.INCONCLUSIVE

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        firsts = [pair.lines[0] for pair in self.pairs]
        return {
            "epsilon_lower": max(line.epsilon_lower for line in firsts),
            "delta": firsts[0].delta,
            "rdp_lower": [],
            "confidence": CONFIDENCE,
            "queries": self.queries,
            "verdict": self.verdict.value,
            "pairs": [pair.as_json() for pair in self.pairs],
            "left_out": list(self.left_out),
        }

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        meaning = {
            Verdict.FAIL: "the claim cannot hold",
            Verdict.PASS: "replies tell inputs apart, no better than the claim allows",
            Verdict.INCONCLUSIVE: "replies do not tell the inputs of any pair apart",
        }[self.verdict]
        lines = [f"{self.verdict.value.upper()}: {meaning}"]
        for pair in self.pairs:
            lines.append(f"{pair.name}, {pair.draws:,} draws:")
            for one in pair.lines:
                refuted = ", refuted" if one.refuted else ""
                lines.append(
                    f"  at delta {one.delta:.3g}: epsilon at least {one.epsilon_lower:.3g}, "
                    f"claimed {one.claimed:.4g}{refuted}"
                )
        lines += [f"not looked at: {why}" for why in self.left_out]
        lines.append(
            f"confidence {CONFIDENCE:g} of all bounds together, at any look; {self.queries:,} calls"
        )
        return "\n".join(lines)


def audit_any(target: Target, claim: AnyClaim, seed: int) -> AnyAudit:
    """Asks for draws of each pair, and bounds epsilon at each delta of the claim.

    As many draws as a pass of `verify` takes, or as `max_queries` allow. Raises ValueError where
    these are too few, TargetError and Refused as the target does.
    """
    error = 0.5 * (1.0 - CONFIDENCE)  # half for all bounds, half for all draws together
    audit = PrivacyAudit(claim, 1.0, _extent(claim))
    audit.log_threshold = -float(np.log(error))
    asked, left_out = _try_drawn(target, claim, audit)
    rng = np.random.default_rng([seed, 41])
    for place, coins, _ in audit.asked(rng):
        pair = audit.pairs[place]
        replies = [one_release(target, claim, pair.there if coin else pair.here) for coin in coins]
        audit.observe(place, replies, coins)
        asked += len(coins)
        _ = audit.refuted  # to ask is to look
    seen = [place for place, each in enumerate(audit.each) if len(each.coins) >= FIRST]
    lines = claim.privacy.lines
    some = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), _LINES)).round().astype(int))
    share = error / (len(audit.pairs) * len(some))
    bounds = [
        PairBounds(
            audit.named(place),
            len(audit.each[place].coins),
            [_line(audit.each[place], int(line), share) for line in some],
        )
        for place in seen
    ]
    refuted = audit.refuted or any(line.refuted for pair in bounds for line in pair.lines)
    return AnyAudit(bounds, asked, refuted, left_out)


def _line(pair: PairAudit, place: int, error: float) -> LineBound:
    claimed = pair.guarantees[place]
    lower = pair.least_epsilon(claimed.delta, error)
    refuted = lower > claimed.epsilon or pair.audits[place].log_e_value >= -np.log(error)
    return LineBound(claimed.delta, claimed.epsilon, lower, bool(refuted))


def _extent(claim: AnyClaim) -> int:
    """Draws of a pair that `max_queries` allow."""
    own, drawn = len(claim.pairs), len(claim.drawn)
    allowed, extent = claim.gate.max_queries - 2 * drawn, WANTED
    while extent >= FIRST and extent * own + all_draws(drawn, extent) > allowed:
        extent = int(0.9 * extent)
    if extent < FIRST:
        raise ValueError(
            f"gate.max_queries = {claim.gate.max_queries}: expected {FIRST} draws of each pair or "
            "more"
        )
    return extent


def _try_drawn(target: Target, claim: AnyClaim, audit: PrivacyAudit) -> tuple[int, list[str]]:
    """Leaves out drawn pairs that the target does not take: calls made, and why."""
    asked, left_out = 0, []
    for place in list(audit.searched):
        pair = audit.pairs[place]
        try:
            for values in (pair.here, pair.there):
                asked += 1
                one_release(target, claim, values)
        except (Refused, CallError) as why:
            audit.drop(place)
            left_out.append(f"{pair.name}: {why}")
    return asked, left_out
