"""Lives of a target: what comparing them shows that no start shows alone."""

from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import Protocol

import numpy as np

from .....reference import BudgetExhausted, Histogram
from .....reference.clock import check_clock, seconds_left
from .....reference.mechanisms import Labels
from ....run.restarts import not_restarted
from ....targets import NotOffered, Refused, Target, TargetError, checked_labels
from ..claim import LabelsClaim
from ..planning.stream_planner import FRESH_CALL

LAST_CALL = 16
"""Labels of the calls just before a restart."""

_CALLS_AGAIN = 2
QUERIES = (2 + 2 * _CALLS_AGAIN) * FRESH_CALL
"""Labels that a comparison asks for at most."""

MORE = 8
"""Lives that are compared beside, where a start is quick."""

_QUICK = 1.0  # seconds that a quick start takes less than
_SHARE = 0.1  # of the time left that more starts may take
_PAUSE = 11.0  # seconds: systemd refuses a sixth start of a service within ten


def last_calls(seed: int) -> int:
    """Calls just before a restart, so many that state saved every 50 calls was saved in them.

    Their number differs from seed to seed: the calls of a plan are as many in every run, and what
    was saved with the very last of them is replayed by nobody.
    """
    return 51 + seed % 9


class Compared(Protocol):
    """The check that takes the labels of other starts."""

    def observe_restart(
        self,
        earlier: Labels,
        again: Labels,
        kind: str = "restarted",
        unseen: str | None = None,
        *,
        begins: bool = False,
    ) -> None:
        """Labels of earlier starts, those of a new one, how these differ, and what is not seen.

        begins: whether they are the first of a start.
        """

    def observe_start(self, first: Labels, *, new: bool = True) -> None:
        """The first labels of a start; new: whether no other method takes them."""

    def note_few_restarts(self, why: str) -> None:
        """Why no more starts were compared."""


class RestartComparison:
    """Restarts a target, and asks one histogram for the first labels of each start.

    histogram: that of the first call of all; queries: labels asked so far; start: seconds that a
    start takes, from the restart to the first answer: the least of several, as whatever else the
    machine does only adds to it.
    """

    def __init__(self, target: Target, claim: LabelsClaim, histogram: Histogram) -> None:
        self.target, self.claim, self.histogram = target, claim, histogram
        self.queries = 0
        self.start = float("inf")

    def compare(self, check: Compared, earlier: Sequence[Labels]) -> None:
        """Shows `check` the labels of new starts; earlier: all labels of the histogram, in order.

        Raises as the target does where it cannot be restarted as it was started.
        """
        check.observe_start(np.concatenate(earlier)[:FRESH_CALL], new=False)
        alike = self._contained(check)
        began = monotonic()
        unseen = self.target.restart()
        if alike is None:
            unseen = None
        elif unseen is not None:
            unseen = f"{unseen}: {alike}"
        begun = self._follow(check, np.concatenate(earlier), "restarted", unseen, began)
        if alike is not None:  # the run's own first labels need not be the first of their start
            began = monotonic()
            self.target.restart()
            self._follow(check, begun, "begun", unseen, began)

    def compare_more(self, check: Compared, left: int, goes_on: Callable[[], bool]) -> None:
        """Begins more starts, one after the other, where starts are quick: seeds may take turns.

        Each has the call that opened the run: a shorter one may be cut from other draws. left:
        queries that may be asked; goes_on: whether more are wanted.
        """
        few = self._too_slow()
        for start in range(MORE):
            if not goes_on():
                return
            if few is None and left < (start + 1) * FRESH_CALL:
                few = "no queries are left"
            few = few or self._restart_again(start)
            if few is not None:
                check.note_few_restarts(few)
                return
            check.observe_start(self._first_labels())

    def _too_slow(self) -> str | None:
        """Why no more starts fit into the time; None where they do."""
        if self.start >= _QUICK:
            return f"a start takes {self.start:.2g} s"
        if MORE * self.start > _SHARE * seconds_left():
            return "too little time is left"
        return None

    def _restart_again(self, start: int) -> str | None:
        """Restarts the target; why not, where its command would not do that so often.

        What manages a service may refuse to start it again and again. Then the target is started
        once more, later, and left as it is.
        """
        try:
            self.target.restart()
        except TargetError:
            if self.claim.gate.restart is None:
                raise
            until = monotonic() + _PAUSE
            while monotonic() < until:
                check_clock()
                sleep(0.1)
            self.target.restart()
            return f"its restart failed after {start} more"
        return None

    def _follow(
        self, check: Compared, earlier: Labels, kind: str, unseen: str | None, began: float
    ) -> Labels:
        """Compares the first calls of a start, each by itself: a fixed seed repeats one alone.

        began: when the target was told to restart.
        """
        calls, ended = [], [began]
        for _ in range(_CALLS_AGAIN):
            calls.append(self._first_labels())
            ended.append(monotonic())
        first, again = ended[1] - began, ended[2] - ended[1]  # the labels alone take as long
        self.start = min(self.start, max(first - again, 0.0))
        for place, call in enumerate(calls):
            check.observe_restart(earlier, call, kind, unseen, begins=place == 0)
        return np.concatenate(calls)

    def _contained(self, check: Compared) -> str | None:
        """Compares two starts of one process id, as in containers; why not, where it cannot.

        A target that does not work in a namespace is not compared so: that says nothing of it.
        """
        try:
            self.target.restart_contained()
            one = self._first_labels()
            self.target.restart_contained()
            other = self._first_labels()
        except NotOffered as why:
            return str(why)
        except (TargetError, BudgetExhausted):
            return "it does not answer as process 1 of a PID namespace"
        check.observe_start(one)
        check.observe_restart(one, other, kind="contained", begins=True)
        return None

    def _first_labels(self) -> Labels:
        self.queries += FRESH_CALL
        try:
            reply = self.target.ask(self.histogram, FRESH_CALL)
        except Refused as refusal:
            call = self.claim.release.text(self.histogram, FRESH_CALL)
            raise TargetError(
                f"{call} is refused after a restart, but was answered: {refusal}"
            ) from None
        return checked_labels(reply, self.histogram, FRESH_CALL, self.claim.mechanism.refuses)


def not_seen(target: Target, claim: LabelsClaim, *, cut_short: bool) -> str:
    """The warning of a run in which no two starts of the target were compared.

    cut_short: the target could have been restarted, and the run ended before.
    """
    caching = claim.mechanism.caching
    lost = "answers kept in memory alone" if caching else "a seed fixed at its start"
    return not_restarted(target, lost, cut_short=cut_short, comparable=not caching)
