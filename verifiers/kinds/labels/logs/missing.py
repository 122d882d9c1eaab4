"""Finds that rows were left out of a log, by its call numbers or its counts of inputs."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ....findings.note import Note
from ....inputs.cells import whole
from ....inputs.release_log import Row

_LEAST = 100  # calls, or rows with an id, from which regularity counts
_DENSE = 0.5  # share of present call numbers from which they count as consecutive
_TURNS = 5  # rounds over the inputs from which these count as asked in rotation
_MOST = 1_000_000  # most inputs that are counted

CHOSEN = (
    "the missing rows may have been chosen by their labels, which the other rows cannot rule out"
)


class Missing:
    """Looks for gaps in regular patterns: consecutive calls, or inputs asked in rotation.

    A gap need not be a fault of the deployment, but rows that were selected are no evidence.
    """

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._first: int | None = None
        self._last = 0
        self._calls = 0
        self._numbered = True

    def followed(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yields the rows, and counts each."""
        for row in rows:
            if row.key is not None and len(self._times) <= _MOST:
                self._times[row.key] += 1
            if self._numbered:
                self._count(row.call)
            yield row

    def _count(self, call: str | None) -> None:
        """Counts call numbers, as long as they do not decrease."""
        number = None if call is None else whole(call)
        if number is None or (self._calls and number < self._last):
            self._numbered = False
        elif self._first is None or number > self._last:
            self._first = number if self._first is None else self._first
            self._last = number
            self._calls += 1

    @property
    def selected(self) -> Note | None:
        """What is missing; None if nothing seems to be."""
        return self._of_calls() or self._of_inputs()

    def _of_calls(self) -> Note | None:
        if not self._numbered or self._first is None or self._calls < _LEAST:
            return None
        numbers = self._last - self._first + 1
        if self._calls == numbers or self._calls < _DENSE * numbers:
            return None
        between = f"between {self._first:,} and {self._last:,}"
        missing = numbers - self._calls
        message = f"{missing:,} numbers of calls {between} are missing: {CHOSEN}"
        return Note("rows-missing", message, {"calls": missing})

    def _of_inputs(self) -> Note | None:
        """A note if most inputs are equally frequent, apart from a last round, and some are not."""
        most = max(self._times.values(), default=0)
        whole = sum(times == most for times in self._times.values())
        if most < _TURNS or self._times.total() < _LEAST or len(self._times) > _MOST:
            return None
        at_least = sum(times >= most - 1 for times in self._times.values())
        if max(whole, at_least - whole) <= len(self._times) / 2:
            return None
        counts = list(self._times.values())  # in the order of the first round
        if counts == sorted(counts, reverse=True) and counts[-1] >= most - 1:
            return None
        full = most if whole > len(counts) / 2 else most - 1
        fewer = sum(times < full for times in counts)
        if not fewer:
            return None
        return Note(
            "rows-missing",
            f"most ids occur {full:,} times, and {fewer:,} of {len(counts):,} less often: {CHOSEN}",
            {"ids": fewer, "times": full},
        )
