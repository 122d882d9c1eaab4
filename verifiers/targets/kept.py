"""Connections to a server that are kept open, over which calls are made in rotation."""

from contextlib import suppress
from time import monotonic
from typing import Any, Protocol, Self, runtime_checkable

from ...reference import BudgetExhausted, Histogram
from .replies import NoReplyError, NotOffered, Refused, Target, TargetError

CLOSES = "the server closes its connection after every answer"
_TRIED = 3  # calls per connection after which a server that kept none is taken to keep none
_SLOWER, _LEAST = 10.0, 2.0  # timeout of a new connection: times the slowest call, plus seconds


class Connection(Protocol):
    """A client whose connection is kept; opened: connections made so far."""

    opened: int

    def ask(self, histogram: Histogram, size: int) -> Any:
        pass

    def close(self) -> None:
        """Closes the connection."""


@runtime_checkable
class Keeping(Protocol):
    """A target that is reached over connections."""

    def keep_connection(self, seconds: float | None = None) -> Connection:
        """A new client; seconds: per call, the target's when None. Raises NotOffered."""


class KeptConnections:
    """Several kept connections, over which calls for one label are made in rotation.

    calls: made so far; ended: why no more are made, in words. Each call is sent once: a connection
    that was closed before the call is replaced, one that closes during the call ends the series.
    Raises NotOffered where a target has no connections.
    """

    def __init__(self, target: Target, several: int) -> None:
        if not isinstance(target, Keeping):
            raise NotOffered("the target has no connections")
        self._target, self.several = target, several
        self._kept: list[Connection] = [target.keep_connection()]
        self.calls = 0
        self.ended: str | None = None
        self._again = 0  # calls over a connection that was already used
        self._slowest = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._kept:
            with suppress(OSError):
                connection.close()

    def ask(self, histogram: Histogram, calls: int) -> tuple[list[Any], list[tuple[int, ...]]]:
        """The raw replies to `calls` calls, fewer once `ended`, and the connection of each.

        Raises as `Target.ask` for errors that have nothing to do with kept connections.
        """
        replies: list[Any] = []
        over: list[tuple[int, ...]] = []
        while len(replies) < calls and self.ended is None:
            place = self.calls % self.several
            found = self._ask_over(histogram, place)
            if self.ended is None:
                replies.append(found)
                over.append((self.several, place, self._kept[place].opened))
                if self.calls >= _TRIED * self.several and not self._again:
                    self.ended = CLOSES
        return replies, over

    def _ask_over(self, histogram: Histogram, place: int) -> Any:
        """The reply to one call; None where it ends the series."""
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
