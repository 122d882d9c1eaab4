"""One run on a deployment without a law: a coin for each draw, and a call for each."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...findings.finding import Finding, Outcome
from ...findings.report import CheckResult
from ...findings.verdict import Verdict
from ...run.cause import Explanation
from ...run.checks import Check, RunContext, Running
from ...run.events import ReleasesSeen
from ...run.phase import Phase
from ...run.precision import TooFewError
from ...run.request import RunRequest
from ...run.session import Notes
from ...run.state import RunState
from .claim import AnyClaim
from .privacy_audit import FIRST, WANTED, PrivacyAudit
from .registry import CHECKS

_LOOK = 0.04  # of the draws so far, between looks
_FEWEST = 16


@dataclass
class NoFigures:
    """A report on a deployment without a law draws nothing."""

    template: str = "report.html"

    def trace(self, check: str) -> None:
        """See `Figures.trace`."""

    def as_json(self, check: str, claim: Any) -> None:
        """See `Figures.as_json`."""

    def shown(self, claim: Any) -> dict[str, Any]:
        """See `Figures.shown`."""
        return {}


class AnySession:
    """See `Session`; a draw is one call of size 1, which the target must take for a fresh one."""

    lacking: ClassVar[dict[str, str]] = {}
    refusals: Sequence[str] = ()
    opening = None
    id = "input-contract"  # concluded by the session itself

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

    @property
    def goes_on(self) -> bool:
        """See `Session.goes_on`."""
        return self.state.outcome.finished or not self.state.failed

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

    def prepare(self) -> None:
        """See `Session.prepare`: pairs are the claim's."""

    def compare(self, earlier: Any) -> None:
        """See `Session.compare`: nothing is kept of a run to compare."""

    def explain(self) -> None:
        """See `Session.explain`: the pair and its bound say it."""

    def restart(self) -> None:
        """See `Session.restart`: calls are taken for fresh ones."""

    def ask_restarted(self) -> None:
        """See `Session.ask_restarted`."""

    def concluding(self, phase: Phase) -> Iterator[Running]:
        """See `Session.concluding`."""
        return iter([self] if phase is Phase.OPENING else [])

    def explanations(self) -> Sequence[Explanation]:
        """See `Session.explanations`."""
        peaks = [(check, check.peak.finding) for check in self.checks if check.peak is not None]
        return [Explanation(check, found, found.log_odds or 0.0) for check, found in peaks]

    def end(self, found: Sequence[CheckResult]) -> Notes:
        """See `Session.end`."""
        return Notes()

    def figures(self, found: Sequence[CheckResult]) -> NoFigures:
        """See `Session.figures`."""
        return NoFigures()


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
