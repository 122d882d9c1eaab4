"""One run on a sampler: batch after batch, looked at by all checks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...findings.excluded import Excluded
from ...findings.finding import Finding, Outcome
from ...findings.note import Note
from ...findings.verdict import Verdict
from ...run.checks import Check, EvidenceCheck, RunContext
from ...run.events import ReleasesSeen
from ...run.phase import Phase
from ...run.plain_session import PlainPlan, PlainSession
from ...run.precision import TooFewError
from ...run.request import RunRequest
from ...run.state import RunState
from .checks import WANTED, made_checks
from .claim import BatchesClaim
from .price import BatchesPrivacyClaim
from .registry import CHECKS
from .shown import excluded
from .watch import Watch

_FIRST = 2
_LOOK = 0.02  # of the batches so far, between looks
_FEWEST = 50  # batches of a pass at least


class BatchSession(PlainSession):
    """A query is a batch."""

    contract_queries = _FIRST

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.answered = state, False
        self.claim: BatchesClaim = state.claim
        self.watch = Watch(self.claim.mechanism.batches)
        self.wanted = request.extent
        made = made_checks(self.claim, self.watch, request.extent)
        self.checks: list[EvidenceCheck] = [one for one in made if request.selection.keeps(one.id)]
        self.lacking: Mapping[str, Note] = CHECKS.lacking(self.claim)

    def open(self, context: RunContext) -> Outcome:
        """`input-contract`: the first batches are lists of record numbers."""
        for _ in range(_FIRST):
            if not self._one():
                ended = self._ended(f"{self.watch.seen}")
                return Outcome(Verdict.INCONCLUSIVE, Finding.of(ended), self.watch.seen)
        self.answered = True
        self.state.publish(ReleasesSeen(self.state.queries, self.checks))
        message = "each call was answered by record numbers"
        return Outcome(Verdict.PASS, Finding(message), _FIRST)

    def _ended(self, seen: str) -> Note:
        """That there are no more batches; seen: how many there were, as it is written."""
        message = f"the target has no more batches after {seen}"
        return Note("no-more-batches", message, {"batches": self.watch.seen})

    def _one(self) -> bool:
        """Looks at the next batch; False where there is none."""
        target, release = self.state.target, self.claim.release
        batch = release.shaped(target.ask(None, 1), None, 1)  # type: ignore[arg-type]
        if batch is None:
            return False
        self.state.spend(1)
        self.watch.observe(batch)
        return True

    def gather(self) -> None:
        while self.answered and self.checks and self.goes_on and self.watch.seen < self.wanted:
            self.state.tell("drawing batches", self.wanted)
            for _ in range(min(1 + int(_LOOK * self.watch.seen), self.wanted - self.watch.seen)):
                if self.state.left < 1:
                    self.state.use_up()
                    return
                if not self._one():
                    self.state.outcome.stopped = self._ended(f"{self.watch.seen:,}")
                    self.state.publish(ReleasesSeen(self.state.queries, self.checks))
                    return
            self.state.publish(ReleasesSeen(self.state.queries, self.checks))

    def concluding(self, phase: Phase) -> Iterator[Check]:
        yield from super().concluding(phase)
        if phase is Phase.CLAIM and "privacy-claim" not in self.lacking:
            yield BatchesPrivacyClaim(
                self.claim, self.watch, [check for check in self.checks if check.refuted]
            )


@dataclass(frozen=True)
class PlannedBatches(PlainPlan):
    """So many batches, looked at by all checks."""

    claim: BatchesClaim
    extent: int = WANTED

    @property
    def queries(self) -> int:
        return self.extent

    @property
    def lacking(self) -> Mapping[str, Note]:
        return CHECKS.lacking(self.claim)

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        kept = {one: self.extent for one, seen in self.looked_at.items() if seen > _FIRST}
        return {one: excluded(self.claim, one, batches) for one, batches in kept.items()}

    @property
    def looked_at(self) -> Mapping[str, int]:
        absent = self.lacking
        seen = {"input-contract": _FIRST}
        for check in ("repeats", "coverage", "batch-size", "inclusion", "independence"):
            seen[check] = 0 if check in absent else self.extent
        return {**seen, "privacy-claim": 0}


def planned_batches(claim: BatchesClaim, queries: int | None) -> PlannedBatches:
    """As many batches as `queries` allow. Raises TooFewError."""
    if queries is None:
        return PlannedBatches(claim)
    if queries < _FEWEST:
        raise TooFewError(
            f"{queries:,} queries are too few for a pass, which takes {_FEWEST} batches or more",
            _FEWEST,
        )
    return PlannedBatches(claim, queries)
