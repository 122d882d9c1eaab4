"""One run on a deployment without a law: a coin for each draw, and a call for each."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...findings.finding import Finding, Outcome
from ...findings.verdict import Verdict
from ...run.checks import Check, RunContext
from ...run.events import ReleasesSeen
from ...run.plain_session import PlainSession
from ...run.precision import TooFewError
from ...run.request import RunRequest
from ...run.state import RunState
from .claim import AnyClaim
from .privacy_audit import FIRST, WANTED, PrivacyAudit
from .registry import CHECKS

_LOOK = 0.04  # of the draws so far, between looks
_FEWEST = 16


class AnySession(PlainSession):
    """See `Session`; a draw is one call of size 1, which the target must take for a fresh one."""

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.answered = state, False
        self.claim: AnyClaim = state.claim
        self._rng = np.random.default_rng([request.seed, 41])
        self.audit = PrivacyAudit(self.claim, CHECKS.shares[PrivacyAudit.id], request.extent)
        chosen = request.selection.keeps(PrivacyAudit.id)
        self.checks: list[Check] = [self.audit] if chosen else []

    @property
    def contract_queries(self) -> int:
        """See `Session.contract_queries`: each input once."""
        return 2 * len(self.claim.pairs)

    def conclude(self, context: RunContext) -> Outcome:
        """`input-contract`: each input is answered."""
        for pair in self.claim.pairs:
            for values in (pair.here, pair.there):
                self._one(values)
        self.answered = True
        message = "every input of a pair was answered by one release for each call"
        return Outcome(Verdict.PASS, Finding(message), self.contract_queries)

    def _one(self, values: Any) -> Any:
        reply = self.state.target.ask(values, 1)
        self.state.spend(1)
        return self.claim.release.shaped(reply, values, 1)[0]

    def gather(self) -> None:
        """See `Session.gather`: draws of the pairs in turn, each of the world that a coin says."""
        while self.checks and self.goes_on and self.audit.samples_needed():
            pairs = len(self.claim.pairs)
            size = max(_FEWEST, int(_LOOK * self.audit.queries / pairs))
            size = min(size, math.ceil(self.audit.samples_needed() / pairs))
            for place, pair in enumerate(self.claim.pairs):
                if self.state.left < size:
                    self.state.use_up()
                    return
                self.state.tell("asking", self.contract_queries + self.audit.wanted * pairs)
                coins = self._rng.random(size) < 0.5
                replies = [self._one(pair.there if coin else pair.here) for coin in coins]
                self.audit.observe(place, replies, coins)
            self.state.publish(ReleasesSeen(self.state.queries, self.checks))


@dataclass(frozen=True)
class PlannedDraws:
    """See `Planned`: so many draws of each pair."""

    claim: AnyClaim
    extent: int = WANTED  # draws of each pair
    coarser: None = None
    lacking: dict[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> int:
        """See `Planned.queries`."""
        return sum(self.looked_at.values())

    calls = queries

    @property
    def looked_at(self) -> dict[str, int]:
        """See `Planned.looked_at`."""
        pairs = len(self.claim.pairs)
        return {"input-contract": 2 * pairs, "privacy-audit": self.extent * pairs}


def planned_draws(claim: AnyClaim, queries: int | None, *_: Any, **__: Any) -> PlannedDraws:
    """As many draws of each pair as `queries` allow. Raises TooFewError."""
    if queries is None:
        return PlannedDraws(claim)
    pairs = len(claim.pairs)
    extent = queries // pairs - 2
    if extent < FIRST:
        least = pairs * (FIRST + 2)
        raise TooFewError(
            f"{queries:,} queries are too few: {FIRST} draws of each pair are looked at first, so "
            f"that a pass takes {least:,} or more",
            least,
        )
    return PlannedDraws(claim, extent)
