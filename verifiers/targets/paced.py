"""Splits large calls, so that a slow target is not asked for more than it answers in time.

Several calls are concurrent where a target takes them so, else in sequence.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from time import monotonic
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...reference import Histogram
from ...reference.clock import check_clock
from .kept import Connection, Keeping
from .labels import LABELS
from .release import Release
from .replies import InputAndSize, NotOffered, Refused, Target

_ROUNDS_AT_ONCE = 2  # opening calls for each that may be in flight


@runtime_checkable
class ParallelTarget(Protocol):
    """A target that takes up to `at_once` concurrent calls, which may be only one."""

    @property
    def at_once(self) -> int:
        """How many calls may be in flight."""

    def ask_each(self, calls: Sequence[InputAndSize]) -> Sequence[Any]:
        """The raw replies to the calls, in order; raises as `Target.ask`."""


def at_once(target: Target) -> int:
    """How many concurrent calls the target takes."""
    return target.at_once if isinstance(target, ParallelTarget) else 1


def calls_at_once(at_once: int) -> int:
    """Calls like the first that a run makes side by side, where so many may be in flight."""
    return _ROUNDS_AT_ONCE * at_once if at_once > 1 else 0


def ask_each(target: Target, calls: Sequence[InputAndSize]) -> tuple[list[Any], tuple[int, ...]]:
    """The raw replies to the calls, in order, and the sizes of the calls made.

    A paced target may split one call into several. Raises as `Target.ask`.
    """
    if isinstance(target, ParallelTarget) and target.at_once > 1:
        found = list(target.ask_each(calls))
        return found, getattr(target, "parts", tuple(size for _, size in calls))
    replies: list[Any] = []
    made: list[int] = []
    for histogram, size in calls:
        replies.append(target.ask(histogram, size))
        made += getattr(target, "parts", (size,))
    return replies, tuple(made)


def parts(size: int, most: int) -> list[int]:
    """Sizes of at most `most` that add up to `size`."""
    return [min(most, size - start) for start in range(0, size, most)]


_FIRST = 32  # labels asked of a target of unknown speed
_GROWTH = 8  # at most, from one call to the next
_SHARE = 1.0 / 3.0  # of the timeout that a call should take


class PacedTarget:
    """Splits `ask` into consecutive calls, sized by how long earlier calls took.

    Args:
        target: asked one call at a time, or concurrently by `ask_each`.
        timeout: seconds per call. The first calls are small; sizes grow as long as a call takes
            less than a third of the timeout. largest: most releases per call, None for no limit.
        release: what the target releases.
    """

    def __init__(
        self, target: Target, timeout: float, largest: int | None = None, release: Release = LABELS
    ) -> None:
        self._target, self._seconds = target, _SHARE * timeout
        self._largest, self._release = largest, release
        self._allowed = _FIRST if largest is None else min(_FIRST, largest)
        self._answered = 0  # labels of the largest call that was answered
        self._fits = 1  # labels of a call that should be in time, at the best pace seen
        self._hear: Callable[[Any, int], None] | None = None
        self.parts: tuple[int, ...] = ()
        """Sizes of the calls answered in the last `ask`, in order."""

    @property
    def python_spec(self) -> str | None:
        """The spec of a Python target in a process of its own, None for any other."""
        spec: str | None = getattr(self._target, "python_spec", None)
        return spec

    def listen(self, hear: Callable[[Any, int], None]) -> None:
        """Tells from now on of each call that the target itself is sent: its input and its size."""
        if isinstance(self._target, PacedTarget):
            self._target.listen(hear)
        else:
            self._hear = hear

    def let_end(self) -> None:
        """From now on a process may end by itself, as its tools write their files then."""
        ending = getattr(self._target, "let_end", None)
        if ending is not None:
            ending()

    def ask(self, histogram: Histogram, size: int) -> Any:
        """Labels (size,); raises TargetError for a part of wrong shape or type.

        A refusal of a call larger than any answered so far may be about its size: it is asked again
        with a smaller one. After an exception the labels of earlier parts are lost; `parts` holds
        their sizes.
        """
        self.parts, limits = (), (self._largest, self._allowed)
        found: list[NDArray[Any]] = []
        while sum(self.parts) < size or not found:
            part = min(self._allowed, size - sum(self.parts))
            check_clock()
            try:
                reply = self._ask_timed(histogram, part)
            except Refused:
                if part <= max(self._answered, 1):
                    self._largest, self._allowed = limits  # it was the histogram, not the size
                    raise
                self._largest = self._allowed = max(self._answered, part // 2)
                continue
            found.append(self._release.shaped(reply, histogram, part))
            self.parts += (part,)
            self._answered = max(self._answered, part)
        return found[0] if len(found) == 1 else np.concatenate(found)

    def ask_each(self, calls: Sequence[InputAndSize]) -> list[NDArray[Any]]:
        """Labels of the calls, in order, with as many in flight as the target takes.

        Sizes larger than any answered so far are asked alone first, as they may be refused. Raises
        as `ask`, the first failure in this order.
        """
        found: list[NDArray[Any]] = []
        made: tuple[int, ...] = ()
        largest = list(accumulate((size for _, size in reversed(calls)), max))[::-1]
        for place, (histogram, size) in enumerate(calls):
            if self.at_once > 1 and min(largest[place], self._allowed) <= self._answered:
                break
            found.append(self.ask(histogram, size))
            made += self.parts
        split = [
            [(histogram, part) for part in parts(size, self._allowed)]
            for histogram, size in calls[len(found) :]
        ]
        if split:
            replies = iter(self._in_flight(list(chain.from_iterable(split))))
            found += [np.concatenate([next(replies) for _ in each]) for each in split]
            made += tuple(size for each in split for _, size in each)
        self.parts = made
        return found

    def ask_whole(self, histogram: Histogram, size: int) -> Any:
        """The raw reply to one call, not split; raises as `Target.ask`."""
        self._tell(histogram, size)
        return ask_whole(self._target, histogram, size)

    def largest_whole(self, size: int) -> int:
        """The most labels, up to `size`, that one call should give in time, by earlier calls."""
        allowed = size if self._largest is None else min(size, self._largest)
        return min(largest_whole(self._target, allowed), self._fits)

    def _in_flight(self, calls: Sequence[InputAndSize]) -> list[NDArray[Any]]:
        """The labels of concurrent calls, whose time sets the size of later ones."""
        assert isinstance(self._target, ParallelTarget)
        for histogram, size in calls:
            self._tell(histogram, size)
        started, waited = monotonic(), self._waited
        replies = self._target.ask_each(calls)
        rounds, most = -(-len(calls) // self.at_once), max(size for _, size in calls)
        self._learn(most, (monotonic() - started - (self._waited - waited)) / rounds)
        return [
            self._release.shaped(reply, histogram, size)
            for reply, (histogram, size) in zip(replies, calls, strict=True)
        ]

    @property
    def at_once(self) -> int:
        """How many calls the target takes concurrently."""
        return at_once(self._target)

    def _ask_timed(self, histogram: Histogram, part: int) -> Any:
        """The reply to a call, whose time sets the size of later ones."""
        self._tell(histogram, part)
        started, waited = monotonic(), self._waited
        reply = self._target.ask(histogram, part)
        self._learn(part, monotonic() - started - (self._waited - waited))
        return reply

    def _tell(self, histogram: Histogram, size: int) -> None:
        if self._hear is not None:
            self._hear(histogram, size)

    @property
    def _waited(self) -> float:
        """Seconds that the target has spent waiting for a server that limits its rate."""
        return float(getattr(self._target, "waited", 0.0))

    def _learn(self, size: int, seconds: float) -> None:
        self._fits = max(self._fits, int(size * self._seconds / max(seconds, 1e-9)))
        fits = int(size * min(_GROWTH, self._seconds / max(seconds, 1e-9)))
        # a call in time is no reason to shrink: its time may all be overhead
        allowed = max(1, fits if seconds > self._seconds else max(fits, self._allowed))
        self._allowed = allowed if self._largest is None else min(allowed, self._largest)

    def keep_connection(self, seconds: float | None = None) -> Connection:
        if not isinstance(self._target, Keeping):
            raise NotOffered("the target has no connections")
        return self._target.keep_connection(seconds)

    def rdp(
        self, histogram: Histogram, orders: Sequence[float], answered: bool | None = None
    ) -> Any:
        return self._target.rdp(histogram, orders, answered)

    def spent(self, delta: float) -> Any:
        return self._target.spent(delta)

    @property
    def no_restart(self) -> str | None:
        return self._target.no_restart

    def restart(self) -> str | None:
        return self._target.restart()

    def restart_contained(self) -> None:
        self._target.restart_contained()

    def close(self) -> None:
        self._target.close()


def ask_whole(target: Target, histogram: Histogram, size: int) -> Any:
    """The raw reply to one call for `size`, which a paced target does not split.

    Raises as `Target.ask`.
    """
    asked = target.ask_whole if isinstance(target, PacedTarget) else target.ask
    return asked(histogram, size)


def largest_whole(target: Target, size: int) -> int:
    """The most labels, up to `size`, that one call to the target should give in time."""
    return target.largest_whole(size) if isinstance(target, PacedTarget) else size
