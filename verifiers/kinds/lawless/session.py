"""One run on a deployment without a law: a coin for each draw, and a call for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...findings.excluded import Excluded
from ...findings.finding import Finding, Outcome
from ...findings.note import Note
from ...findings.verdict import Verdict
from ...run.checks import Check, RunContext
from ...run.events import ReleasesSeen
from ...run.plain_session import PlainSession
from ...run.precision import TooFewError
from ...run.request import RunRequest
from ...run.state import RunState
from ...targets import Refused, Target
from ...targets.replies import CallError
from .claim import AnyClaim
from .halving import FIRST, all_draws
from .privacy_audit import WANTED, PrivacyAudit, excluded_by


class AnySession(PlainSession):
    """See `Session`; a draw is one call of size 1, which the target must take for a fresh one."""

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.answered = state, False
        self.claim: AnyClaim = state.claim
        self._rng = np.random.default_rng([request.seed, 41])
        self.audit = PrivacyAudit(self.claim, request.extent)
        chosen = request.selection.keeps(PrivacyAudit.id)
        self.checks: list[Check] = [self.audit] if chosen else []

    @property
    def contract_queries(self) -> int:
        """See `Session.contract_queries`: each input once."""
        return 2 * len(self.audit.pairs)

    def conclude(self, context: RunContext) -> Outcome:
        """`input-contract`: each input is answered; a drawn one that is not is left out."""
        for pair in self.claim.pairs:
            for values in (pair.here, pair.there):
                self._one(values)
        self._try_drawn()
        self.answered = True
        message = "every input of a pair was answered by one release for each call"
        return Outcome(Verdict.PASS, Finding(message), self.contract_queries)

    def _try_drawn(self) -> None:
        """Leaves out drawn pairs whose inputs the target does not take."""
        for place in list(self.audit.searched):
            pair = self.audit.pairs[place]
            try:
                self._one(pair.here)
                self._one(pair.there)
            except (Refused, CallError) as error:
                self.audit.drop(place)
                code = error.code if isinstance(error, CallError) else "input-refused"
                message = f"{pair.name}: not looked at: {error}"
                self.state.outcome.warn(Note(code, message, {"pair": place + 1, "name": pair.name}))

    def _one(self, values: Any) -> Any:
        found = one_release(self.state.target, self.claim, values)
        self.state.spend(1)
        return found

    def gather(self) -> None:
        """See `Session.gather`: draws of the pairs in turn, each of the world that a coin says."""
        planned = self.contract_queries + self.audit.samples_needed()
        for place, coins, looks in self.audit.asked(self._rng) if self.checks else ():
            if self.state.left < len(coins):
                self.state.use_up()
                return
            self.state.tell("asking", planned)
            pair = self.audit.pairs[place]
            replies = [self._one(pair.there if coin else pair.here) for coin in coins]
            self.audit.observe(place, replies, coins)
            if looks:
                self.state.publish(ReleasesSeen(self.state.queries, self.checks))
                if not self.goes_on:
                    return


def one_release(target: Target, claim: AnyClaim, values: Any) -> Any:
    """One release of an input. Raises Refused, which names the call, and TargetError."""
    try:
        reply = target.ask(values, 1)
    except Refused as error:
        raise Refused(
            f"{claim.release.text(values, 1)} was refused: {error}; whether there is an answer may "
            "tell inputs apart: a deployment that withholds one returns null"
        ) from error
    return claim.release.shaped(reply, values, 1)[0]


@dataclass(frozen=True)
class PlannedDraws:
    """See `Planned`: so many draws of each pair."""

    claim: AnyClaim
    extent: int = WANTED  # draws of each pair
    coarser: None = None
    lacking: dict[str, Note] = field(default_factory=dict)

    @property
    def queries(self) -> int:
        """See `Planned.queries`."""
        return sum(self.looked_at.values())

    calls = queries

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        """See `Planned.excluded`."""
        return {PrivacyAudit.id: excluded_by(self.claim, self.extent)}

    @property
    def looked_at(self) -> dict[str, int]:
        """See `Planned.looked_at`."""
        pairs = len(self.claim.pairs) + len(self.claim.drawn)
        return {"input-contract": 2 * pairs, "privacy-audit": _draws(self.claim, self.extent)}


def _draws(claim: AnyClaim, extent: int) -> int:
    """Of all pairs."""
    return extent * len(claim.pairs) + all_draws(len(claim.drawn), extent)


def planned_draws(claim: AnyClaim, queries: int | None, *_: Any, **__: Any) -> PlannedDraws:
    """As many draws of each pair as `queries` allow. Raises TooFewError."""
    if queries is None:
        return PlannedDraws(claim)
    pairs = len(claim.pairs) + len(claim.drawn)
    left = queries - 2 * pairs
    least = _draws(claim, FIRST) + 2 * pairs
    if queries < least:
        raise TooFewError(
            f"{queries:,} queries are too few: {FIRST} draws of each pair are looked at first, so "
            f"that a pass takes {least:,} or more",
            least,
        )
    low, high = FIRST, max(FIRST, left)
    while low < high:  # the most draws of a pair that are not too many
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _draws(claim, middle) <= left else (low, middle - 1)
    return PlannedDraws(claim, low)
