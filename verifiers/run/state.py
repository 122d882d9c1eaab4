"""Where a run stands: its queries, its time, and who is told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from ...reference import BudgetExhausted
from ...reference.clock import OutOfTime
from ...reference.clock import step as clock_step
from ..findings.note import Note
from ..ledger.ledger import EvidenceLedger
from ..targets import Refused, Target, TargetError
from ..targets.json_target import BUDGET_ERROR
from ..targets.replies import one_line
from .events import Event, Hearer, Listener, Progress
from .outcome import RunOutcome


def _exhausted(end: BudgetExhausted) -> Note:
    said = "" if str(end) == BUDGET_ERROR else one_line(end)
    return Note(
        "budget-exhausted",
        f"the target's own budget was exhausted{f' ({said})' if said else ''}: verify an instance "
        "without one, and name the one that has it as budget_target in [gate]",
    )


class RunState:
    """The `Site` of the checks that ask the target themselves; it publishes what happens.

    claim: of the kind that is released; queries: made so far; explains: whether more may be asked
    once a check has failed; outcome: what has ended the run or parts of it; restarted: whether the
    target's answers before and after a restart have been compared; lost: whether it could not be
    started again; began: in UTC; ledger: that the run adds to, None without one.
    """

    def __init__(
        self, target: Target, claim: Any, outcome: RunOutcome, listener: Listener | None
    ) -> None:
        self.target, self.claim, self.outcome = target, claim, outcome
        self.listener = listener
        self.hearers: list[Hearer] = [outcome.hear]
        self.queries = 0
        self.restarted = self.lost = False
        self.ledger: EvidenceLedger | None = None
        self.explains = True
        self.began, self._started = datetime.now(UTC), time.monotonic()
        self._planned, self._part, self._doing = 0, "", "before the first call"

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.monotonic() - self._started

    @property
    def failed(self) -> bool:
        """Whether a check has failed."""
        return self.outcome.found_after is not None

    @property
    def left(self) -> int:
        """Queries that the claim's budget still allows."""
        most: int = self.claim.gate.max_queries
        return most - self.queries

    def publish(self, event: Event) -> None:
        """Tells all who follow the run within the gate."""
        if self.ledger is not None:
            self.ledger.look(self.queries)
        for hear in self.hearers:
            hear(event)

    def tell(self, doing: str, planned: int | None = None) -> None:
        """Planned: queries, those made so far when None."""
        self._planned, self._part = self.queries if planned is None else planned, doing
        clock_step(doing)

    def step(self, doing: str) -> None:
        """Tells the listener what is done now: a part of the run, or a step of one."""
        self._doing = doing if doing == self._part else f"{self._part}: {doing}"
        if self.ledger is not None:
            self.ledger.look(self.queries)
        if self.listener is not None:
            planned = min(max(self._planned, self.queries), self.claim.gate.max_queries)
            self.listener(Progress(self.queries, planned, self._doing))

    def say_over(self) -> None:
        """Tells the listener that all is asked and judged."""
        if self.listener is not None:
            self.listener(Progress(self.queries, self.queries, "reporting", over=True))

    def spend(self, queries: int) -> None:
        self.queries += queries

    def warn(self, warning: Note) -> None:
        self.outcome.warn(warning)

    def use_up(self) -> None:
        self.outcome.used_up = True
        most = self.claim.gate.max_queries
        self.outcome.stopped = Note(
            "too-few-queries", f"max_queries = {most} are used up", {"max_queries": most}
        )

    def note_restart(self) -> None:
        self.restarted = True

    @contextmanager
    def kept_to_here(self) -> Iterator[None]:
        """Around a part of the run: what ends it early is noted, and what was found is kept."""
        try:
            yield
        except (TargetError, Refused) as error:
            self.outcome.error = Note(error.code, str(error))
            if isinstance(error, TargetError):
                self.outcome.whose = error.whose
        except BudgetExhausted as end:
            self.outcome.stopped = _exhausted(end)
        except OutOfTime as end:
            self.outcome.out_of_time(str(end), self._doing)
        except KeyboardInterrupt:
            self.outcome.interrupted = True
            self.outcome.stopped = Note("interrupted", "the run was interrupted")
