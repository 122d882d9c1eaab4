"""What counts the decisions of rewritten code while it runs."""

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .decisions import (
    CHANGED,
    COUNTER,
    CUT,
    KEPT,
    NEVER_RUN,
    NO,
    OFTEN,
    ONCE,
    TAKEN,
    WHOLE,
    YES,
)

Outcome = tuple[int, str]
"""The number of a decision, and the way it went."""

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass
class DecisionCounter:
    """How often each outcome came, and the two sides of comparisons of two numbers.

    sides: of each such comparison, the last two sides; the distance to its other outcome.
    """

    taken: Counter[Outcome] = field(default_factory=Counter)
    sides: dict[int, tuple[float, float]] = field(default_factory=dict)

    def install(self) -> None:
        """Makes this the counter of all rewritten code."""
        setattr(builtins, COUNTER, self)

    def clear(self) -> None:
        """Forgets what was counted."""
        self.taken.clear()
        self.sides.clear()

    # -- called by rewritten code: each gives back what the code would have had ------------------

    def test(self, number: int, value: Any) -> Any:
        """A test, or a part of one; of an array whether any and whether not all of it is true."""
        try:
            truth = np.asarray(value, dtype=bool) if isinstance(value, np.ndarray) else bool(value)
        except Exception:  # the code itself may still know what to do with it
            return value
        if np.any(truth):
            self.taken[number, YES] += 1
        if not np.all(truth):
            self.taken[number, NO] += 1
        return value

    def compare(self, number: int, sign: str, left: Any, right: Any) -> Any:
        """A comparison of two values."""
        result = _OPERATORS[sign](left, right)
        if _is_number(left) and _is_number(right):
            self.sides[number] = float(left), float(right)
        return self.test(number, result)

    def loop(self, number: int, over: Iterable[Any]) -> Iterator[Any]:
        """The turns of a loop."""
        turns = 0
        try:
            for each in over:
                turns += 1
                yield each
        finally:
            self.taken[number, (NEVER_RUN, ONCE)[turns] if turns < 2 else OFTEN] += 1

    def take(self, number: int) -> None:
        """A case or a handler that is taken."""
        self.taken[number, TAKEN] += 1

    def choose(self, number: int, function: Any, *given: Any) -> Any:
        """The smallest or largest of some values."""
        result = function(*given)
        self.taken[number, "argument 1" if result is given[0] else "argument 2"] += 1
        if len(given) == 2 and _is_number(given[0]) and _is_number(given[1]):
            self.sides[number] = float(given[0]), float(given[1])
        return result

    def clip(self, number: int, result: Any, given: Any) -> Any:
        """Values set to a bound."""
        return self._changed(number, given, result)

    def cast(self, number: int, given: Any, names: Sequence[str], *values: Any) -> Any:
        """Values as another type, by the method `astype`."""
        plain = values[: len(values) - len(names)]
        words = dict(zip(names, values[len(plain) :], strict=True))
        return self._changed(number, given, given.astype(*plain, **words))

    def piece(self, number: int, whole: Any, start: Any, stop: Any, step: Any) -> Any:
        """A slice with an end."""
        if _is_number(stop) and hasattr(whole, "__len__"):
            cut = len(whole) > stop if stop >= 0 else True
            self.taken[number, CUT if cut else WHOLE] += 1
            self.sides[number] = float(len(whole)), float(stop)
        return whole[start:stop:step]

    def _changed(self, number: int, given: Any, result: Any) -> Any:
        try:
            same = np.shape(given) == np.shape(result) and bool(np.all(given == result))
        except Exception:  # frames and other objects
            return result
        self.taken[number, KEPT if same else CHANGED] += 1
        return result


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
