"""Where a run of numbers stands: its queries, its time, and who is told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ....reference import BudgetExhausted
from ....reference.clock import OutOfTime
from ....reference.clock import step as clock_step
from ...run.ending import Ending
from ...run.events import Listener, Progress
from ...targets import Refused, Target, TargetError
from .claim import NumbersClaim

if TYPE_CHECKING:
    from .simplest import Simplest

_EXHAUSTED = "the target's own budget was exhausted: verify an instance without one"


class NumbersStanding:
    """queries: made so far; ending: what has ended the run or parts of it; began: in UTC.

    explains: whether more may be asked once a check has failed; simplest: the simplest input that
    shows that the noise does not follow its law, once found.
    """

    def __init__(
        self, target: Target, claim: NumbersClaim, ending: Ending, listener: Listener | None
    ) -> None:
        self.target, self.claim, self.ending, self.listener = target, claim, ending, listener
        self.queries = 0
        self.explains = True
        self.simplest: Simplest | None = None
        self.began, self._started = datetime.now(UTC), time.monotonic()
        self._planned, self._doing = 0, "before the first call"

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.monotonic() - self._started

    @property
    def left(self) -> int:
        """Queries that the claim's budget still allows."""
        return self.claim.gate.max_queries - self.queries

    def tell(self, doing: str, planned: int) -> None:
        """Says what is done now. Raises OutOfTime where no time is left."""
        self._planned, self._doing = planned, doing
        clock_step(doing)

    def step(self, doing: str) -> None:
        """Tells the listener what is done now."""
        if self.listener is not None:
            planned = min(max(self._planned, self.queries), self.claim.gate.max_queries)
            self.listener(Progress(self.queries, planned, doing))

    def spend(self, queries: int) -> None:
        """Counts queries."""
        self.queries += queries

    def use_up(self) -> None:
        """Says that the budget does not hold what is still to be asked."""
        self.ending.used_up = True
        self.ending.stopped = f"max_queries = {self.claim.gate.max_queries} are used up"

    @contextmanager
    def kept_to_here(self) -> Iterator[None]:
        """Around a part of the run: what ends it early is noted, and what was found is kept."""
        try:
            yield
        except (TargetError, Refused) as error:
            self.ending.error = str(error)
        except BudgetExhausted:
            self.ending.stopped = _EXHAUSTED
        except OutOfTime as end:
            self.ending.out_of_time(str(end), self._doing)
        except KeyboardInterrupt:
            self.ending.interrupted = True
            self.ending.stopped = "the run was interrupted"
