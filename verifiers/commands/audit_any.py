"""`dpassay audit` of a claim without a law: what each pair of inputs proves of epsilon."""

from contextlib import closing
from typing import NoReturn

import numpy as np
from pydantic import Field

from ..claims.open_target import open_claimed
from ..cli.exit_statuses import asking, fail, print_and_exit
from ..findings.document import Document
from ..findings.verdict import Verdict, verdict_of
from ..kinds.lawless.claim import AnyClaim
from ..kinds.lawless.fresh_states import check_fresh
from ..kinds.lawless.halving import FIRST, all_draws
from ..kinds.lawless.privacy_audit import CONFIDENCE, WANTED, LawlessPrivacyAudit
from ..kinds.lawless.session import one_draw, one_release
from ..targets import Refused, Target
from ..targets.replies import CallError

_LINES = 4  # of a curve, whose epsilons are bounded


def audit_any_claim(target: str | None, claim: AnyClaim, *, seed: int, as_json: bool) -> NoReturn:
    """Audits the pairs that the claim names, prints what was found, and exits."""
    if target is None:
        fail('name = "any" names no law, so that there is no reference of it: name a TARGET')
    with asking("an input of a pair"), closing(open_claimed(target, claim, plainly=True)) as asked:
        found = audit_any(asked, claim, seed)
    print_and_exit(found, as_json)


class LineBound(Document):
    """What a pair proves at one delta."""

    delta: float = Field(ge=0, le=1)
    claimed: float = Field(ge=0, description="The claimed epsilon at this delta.")
    epsilon_lower: float = Field(ge=0)
    refuted: bool = Field(description="Whether the draws of this pair refute the claim.")


class PairBounds(Document):
    """What one pair proves, at each delta of the claim."""

    pair: str = Field(description="Its name.")
    draws: int = Field(ge=0)
    bounds: tuple[LineBound, ...]


class AnyAudit(Document):
    """The bounds of all pairs, which hold together."""

    epsilon_lower: float = Field(ge=0, description="The largest of all pairs, at delta.")
    delta: float = Field(ge=0, le=1)
    rdp_lower: tuple[()] = Field(description="Empty: no law is claimed.")
    confidence: float = Field(gt=0, lt=1, description="Of all bounds together, at any look.")
    queries: int = Field(ge=0, description="Calls.")
    verdict: Verdict = Field(
        description="Fail where a bound is above its claim, or all pairs together refute it; "
        "inconclusive where nothing is proven."
    )
    pairs: tuple[PairBounds, ...]
    left_out: tuple[str, ...] = Field(description="Why drawn pairs were not looked at.")

    def as_text(self) -> str:
        """The audit as text for the terminal."""
        meaning = {
            Verdict.FAIL: "the claim cannot hold",
            Verdict.PASS: "replies tell inputs apart, no better than the claim allows",
            Verdict.INCONCLUSIVE: "replies do not tell the inputs of any pair apart",
        }[self.verdict]
        lines = [f"{self.verdict.value.upper()}: {meaning}"]
        for pair in self.pairs:
            lines.append(f"{pair.pair}, {pair.draws:,} draws:")
            for one in pair.bounds:
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
    check_fresh(target, claim)
    error = 0.5 * (1.0 - CONFIDENCE)  # half for all bounds, half for all draws together
    audit = LawlessPrivacyAudit(claim, _extent(claim))
    audit.log_threshold, audit.fresh = -float(np.log(error)), True  # as its page assumes
    asked, left_out = _try_drawn(target, claim, audit)
    rng = np.random.default_rng([seed, 41])
    for place, coins, _ in audit.asked(rng):
        pair = audit.pairs[place]
        replies = [one_draw(target, claim, pair.there if coin else pair.here) for coin in coins]
        audit.observe(place, replies, coins)
        asked += len(coins)
        _ = audit.refuted  # to ask is to look
    seen = [place for place, each in enumerate(audit.each) if len(each.coins) >= FIRST]
    lines = claim.privacy.lines
    some = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), _LINES)).round().astype(int))
    share = error / (len(audit.pairs) * len(some))
    bounds = tuple(
        PairBounds(
            pair=audit.named(place),
            draws=len(audit.each[place].coins),
            bounds=tuple(_line(audit, place, int(line), share) for line in some),
        )
        for place in seen
    )
    refuted = audit.refuted or any(line.refuted for pair in bounds for line in pair.bounds)
    told = any(line.epsilon_lower > 0.0 for pair in bounds for line in pair.bounds)
    firsts = [pair.bounds[0] for pair in bounds]
    return AnyAudit(
        epsilon_lower=max(line.epsilon_lower for line in firsts),
        delta=firsts[0].delta,
        rdp_lower=(),
        confidence=CONFIDENCE,
        queries=asked,
        verdict=verdict_of(refuted, told),
        pairs=bounds,
        left_out=tuple(left_out),
    )


def _line(audit: LawlessPrivacyAudit, place: int, line: int, error: float) -> LineBound:
    """The bound of a line of a pair, with this error; what refutes without it is in all draws'."""
    pair = audit.each[place]
    claimed = pair.guarantees[line]
    lower = pair.least_epsilon(claimed.delta, error)
    told = audit.refuted and pair.log_e_values[line] >= -np.log(error)
    refuted = lower > claimed.epsilon or told
    return LineBound(
        delta=claimed.delta, claimed=claimed.epsilon, epsilon_lower=lower, refuted=bool(refuted)
    )


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


def _try_drawn(
    target: Target, claim: AnyClaim, audit: LawlessPrivacyAudit
) -> tuple[int, list[str]]:
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
