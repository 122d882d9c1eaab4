"""Where a run stands: its queries, its time, and who is told."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from ...reference import BudgetExhausted
from ...reference.clock import OutOfTime
from ...reference.clock import step as clock_step
from ..kinds.labels.claim import Claim
from ..targets import Target, TargetError
from .ending import Ending
from .events import Event, Hearer, Listener, Progress

_EXHAUSTED = (
    "the target's own budget was exhausted: verify an instance without one, and name the one that "
    "has it as budget_target in [gate]"
)


class Standing:
    """The `Site` of the checks that ask the target themselves; it publishes what happens.

    queries: made so far; ending: what has ended the run or parts of it; restarted: whether two
    lives of the target have been compared; began: in UTC.
    """

    def __init__(
        self,
        target: Target,
        claim: Claim,
        ending: Ending,
        hearers: Sequence[Hearer],
        listener: Listener | None,
    ) -> None:
        self.target, self.claim, self.ending = target, claim, ending
        self.hearers, self.listener = hearers, listener
        self.queries = 0
        self.restarted = False
        self.began, self._started = datetime.now(UTC), time.monotonic()
        self._planned, self._part, self._doing = 0, "", "before the first call"

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.monotonic() - self._started

    @property
    def left(self) -> int:
        """Queries that the claim's budget still allows."""
        return self.claim.gate.max_queries - self.queries

    def publish(self, event: Event) -> None:
        """Tells all who follow the run within the gate."""
        for hear in self.hearers:
            hear(event)

    def tell(self, doing: str, planned: int | None = None) -> None:
        """See `Site.tell`; planned: queries, those made so far when None."""
        self._planned, self._part = self.queries if planned is None else planned, doing
        clock_step(doing)

    def step(self, doing: str) -> None:
        """Tells the listener what is done now: a part of the run, or a step of one."""
        self._doing = doing if doing == self._part else f"{self._part}: {doing}"
        if self.listener is not None:
            planned = min(max(self._planned, self.queries), self.claim.gate.max_queries)
            self.listener(Progress(self.queries, planned, self._doing))

    def say_over(self) -> None:
        """Tells the listener that all is asked and judged."""
        if self.listener is not None:
            self.listener(Progress(self.queries, self.queries, "reporting", over=True))

    def spend(self, queries: int) -> None:
        """See `Site.spend`."""
        self.queries += queries

    def use_up(self) -> None:
        """See `Site.use_up`."""
        self.ending.used_up = True
        self.ending.stopped = f"max_queries = {self.claim.gate.max_queries} are used up"

    def note_restart(self) -> None:
        """See `Site.note_restart`."""
        self.restarted = True

    @contextmanager
    def kept_to_here(self) -> Iterator[None]:
        """Around a part of the run: what ends it early is noted, and what was found is kept."""
        try:
            yield
        except TargetError as error:
            self.ending.error = str(error)
        except BudgetExhausted:
            self.ending.stopped = _EXHAUSTED
        except OutOfTime as end:
            self.ending.out_of_time(str(end), self._doing)
        except KeyboardInterrupt:
            self.ending.interrupted = True
            self.ending.stopped = "the run was interrupted"
