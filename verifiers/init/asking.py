"""Asks a target of an unknown kind: raw replies, never more of them than were announced."""

import time
from collections.abc import Callable
from typing import Any

from ...reference import BudgetExhausted
from ...reference.clock import OutOfTime
from ..targets import Refused, Target, TargetError
from ..targets.anything import AnyRelease
from ..targets.batches import BatchRelease
from ..targets.http_route import template_keys
from ..targets.labels import LABELS, FormRelease
from ..targets.numbers import NumberRelease
from ..targets.paced import ask_whole
from ..targets.release import Release
from ..targets.replies import CallError, NoReplyError, plain_json, shown
from ..targets.tables import TableRelease

PARTITIONS = "a", "b", "c"
"""Of the rows that an engine is asked."""

FORMS: dict[str, Release] = {
    "histogram": LABELS,
    "counts": NumberRelease("counts", 1),
    "records": NumberRelease("records", 1),
    "votes": FormRelease("votes", {}, {}),
    "one-hot": FormRelease("one-hot", {}, {}),
    "rows": TableRelease(["count"], list(PARTITIONS), "array"),
    "pandas": TableRelease(["count"], list(PARTITIONS), "pandas"),
    "any": AnyRelease(),
    "batches": BatchRelease(),
}
"""How an input travels. A Python target gets one array as `histogram` and as `counts`, whose raw
replies its process passes on whatever they are."""

_FIRST, _GROWTH = 8, 4  # answers of a first call, and how much more the next one may ask
_SHARE = 0.1  # of the timeout: calls that take less may grow
_ENDS = (
    "target-too-slow",
    "target-unreachable",
    "handshake-failed",
    "target-not-found",
    "target-not-started",
    "target-option-wrong",
)
_CALLS = 10  # timeouts that all calls together may take


class StoppedError(Exception):
    """Why nothing more is asked, in one line; what was answered before stays."""


class Asker:
    """Asks one target, in any form, for a limited number of answers.

    What a target refuses may be how its inputs look: `serves` tells, and keeps what was said.

    Args:
        open_with: opens the target for a form of its input. Raises TargetError.
        most: answers that are asked for in all; calls are no more than these.
        timeout: seconds for a call; all of them together may take ten times as many.
        body: of requests, as `[http]` has it: only forms of input that it has are asked.
    """

    def __init__(
        self,
        open_with: Callable[[Release], Target],
        most: int,
        timeout: float,
        body: str | None = None,
    ) -> None:
        self._open, self.most, self.left, self.body = open_with, most, most, body
        self._quick, self._seconds = _SHARE * timeout, _CALLS * timeout
        self._target: Target | None = None
        self._form, self._size = "", _FIRST
        self._answered_at_once = 0
        self.largest_call: int | None = None
        """The largest call that was answered, where a larger one for the same input was not."""
        self._spent = 0.0
        self.refusals: list[str] = []
        """What was said of inputs that were not taken."""
        self.ended: Exception | None = None
        """What stopped an `ask` that had answers already."""
        self.failures = 0
        """Inputs at which the target failed, in place of refusing them, one after another."""

    def ask(self, form: str, given: Any, draws: int) -> list[Any]:
        """Up to `draws` replies to one input, as JSON has them: fewer where the limit is near.

        Raises Refused, BudgetExhausted or TargetError as the target does, StoppedError once nothing
        more may be asked. What was answered before that is returned, and the next `ask` raises it.
        """
        if self.ended is not None:
            raise self.ended
        found: list[Any] = []
        while len(found) < draws and (self.left or not found):
            try:
                found += self._ask_once(form, given, draws - len(found))
            except (StoppedError, BudgetExhausted, Refused, TargetError) as error:
                if not found:
                    raise
                self.ended = error
                break
        return found

    def _ask_once(self, form: str, given: Any, most: int) -> list[Any]:
        size = min(self._size, most, self.left)
        if size == 0:
            raise StoppedError(f"all {self.most:,} answers that were announced are there")
        if self._spent > self._seconds:
            raise StoppedError(
                f"the target is slow: {self.most - self.left:,} answers took "
                f"{self._spent:.3g} s, and ten calls' timeout is the limit (--timeout)"
            )
        release = FORMS[form]
        if self._target is None or self._form != form:
            self.close()
            self._target, self._form = self._open(release), form
        size = 1 if form == "batches" else size
        self.left -= size
        began = time.monotonic()
        try:
            reply = ask_whole(self._target, given, size)
        except Refused:
            if not 0 < self._answered_at_once < size:
                raise
            self._size = self._answered_at_once  # a limit of calls, unless this is refused as well
            reply = self._ask_once(form, given, most)
            self.largest_call = self._answered_at_once
            return reply
        except OutOfTime as end:
            raise StoppedError(str(end)) from None
        except TargetError as error:
            if isinstance(error, NoReplyError) or error.code == "target-too-slow":
                self.close()  # its process is gone
            raise
        finally:
            seconds = time.monotonic() - began
            self._spent += seconds
        self._answered_at_once = max(self._answered_at_once, size)
        if seconds < self._quick and self.largest_call is None:
            self._size *= _GROWTH
        replies = [plain_json(reply)] if form == "batches" else plain_json(reply)
        if not isinstance(replies, list) or len(replies) != size:
            call = release.text(given, size)
            raise CallError(call, f"returned {shown(replies)}: expected {size} releases")
        return replies

    def serves(self, form: str, given: Any) -> list[Any] | None:
        """A reply to one input; None where the target does not take it."""
        failures, self.failures = self.failures, 0
        if self.ended is not None:
            raise self.ended
        if self.body is not None and FORMS[form].key not in template_keys(self.body):
            return None
        try:
            return self.ask(form, given, 1)
        except Refused as refusal:
            self.refusals.append(str(refusal))
            return None
        except TargetError as error:
            hung_up = error.code == "target-unreachable" and isinstance(error, NoReplyError)
            if error.code in _ENDS and not hung_up:  # as servers do that fail at a wrong form
                raise
            self.refusals.append(str(error))
            self.failures = failures + 1
            return None

    def close(self) -> None:
        """Closes the target."""
        if self._target is not None:
            self._target.close()
            self._target = None
