"""Connections to a server that are kept from call to call, and asked in turns."""

from contextlib import suppress
from time import monotonic
from typing import Any, Protocol, Self, runtime_checkable

from ...reference import BudgetExhausted, Histogram
from .replies import NoReplyError, NotOffered, Refused, Target, TargetError

CLOSES = "the server closes its connection after every answer"
_TRIED = 3  # calls after which a server that has kept no connection is taken to keep none
_SLOWER, _LEAST = 10.0, 2.0  # times the slowest call so far, and seconds: for a further connection


class Connection(Protocol):
    """A client whose connection is kept; opened: how many it has made so far."""

    opened: int

    def ask(self, histogram: Histogram, size: int) -> Any:
        """See `Target.ask`."""

    def close(self) -> None:
        """Ends it."""


@runtime_checkable
class Keeping(Protocol):
    """A target behind connections."""

    def keep_connection(self, seconds: float | None = None) -> Connection:
        """A client of its own; seconds per call, as the target's when None. Raises NotOffered."""


class KeptConnections:
    """Several connections at a time, over which calls for one label are made one after the other.

    calls: made so far; ended: why no more are, in words. Each call is sent once: whoever finds its
    connection closed before that opens another, and what is closed under a call ends all of them.
    Raises NotOffered where a target has no connections.
    """

    def __init__(self, target: Target, several: int) -> None:
        if not isinstance(target, Keeping):
            raise NotOffered("the target has no connections")
        self._target, self.several = target, several
        self._kept: list[Connection] = [target.keep_connection()]
        self.calls = 0
        self.ended: str | None = None
        self._again = 0  # calls over a connection that had had one before
        self._slowest = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._kept:
            with suppress(OSError):
                connection.close()

    def ask(self, histogram: Histogram, calls: int) -> tuple[list[Any], list[tuple[int, ...]]]:
        """The raw replies to so many calls, fewer where it has `ended`, and over what each came.

        Raises as `Target.ask` for what is no matter of a kept connection.
        """
        replies: list[Any] = []
        over: list[tuple[int, ...]] = []
        while len(replies) < calls and self.ended is None:
            place = self.calls % self.several
            found = self._asked(histogram, place)
            if self.ended is None:
                replies.append(found)
                over.append((self.several, place, self._kept[place].opened))
                if self.calls >= _TRIED * self.several and not self._again:
                    self.ended = CLOSES
        return replies, over

    def _asked(self, histogram: Histogram, place: int) -> Any:
        """The reply to one call; None where that is the end."""
        further = place == len(self._kept)
        if further:
            assert isinstance(self._target, Keeping)
            seconds = _LEAST + _SLOWER * self._slowest
            self._kept.append(self._target.keep_connection(seconds))
        connection, began = self._kept[place], monotonic()
        before = connection.opened
        self.calls += 1
        try:
            reply = connection.ask(histogram, 1)
        except (TargetError, BudgetExhausted, Refused) as error:
            if further:
                self.ended = f"no answer came over connection {place + 1} while others were kept"
            elif isinstance(error, NoReplyError) and 0 < before == connection.opened:
                self.ended = "a kept connection ended without an answer"
            else:
                raise
            return None
        self._slowest = max(self._slowest, monotonic() - began)
        self._again += 0 < before == connection.opened
        return reply
