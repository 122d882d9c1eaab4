"""What counts the decisions of rewritten code while it runs."""

import builtins
import contextlib
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import BuiltinMethodType, MethodType
from typing import Any

import numpy as np

from .decision import (
    CHANGED,
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
from .decisions import COUNTER

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
_PLAIN = frozenset(
    (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, range)
)
"""Types whose truth runs no code of others, so that asking for it once more changes nothing."""

_SLICED = frozenset((list, tuple, str, bytes, range, np.ndarray))
"""Types whose length costs nothing, and runs no code of others."""


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

    def truth(self, number: int, value: Any) -> bool:
        """A test of which the code uses nothing but the truth, which is asked for once."""
        truth = bool(value)
        self.taken[number, YES if truth else NO] += 1
        return truth

    def test(self, number: int, value: Any) -> Any:
        """A value that the code uses; of an array whether any and whether not all of it is true.

        Counted where that runs no code of others: a lazy query may not be carried out twice.
        """
        if _is_plain(value):
            self.truth(number, value)
        elif _has_numbers(value):
            entries = np.asarray(value)
            if entries.any():
                self.taken[number, YES] += 1
            if not entries.all():
                self.taken[number, NO] += 1
        return value

    def operand(self, number: int, value: Any) -> Any:
        """An operand of `and` or `or` whose value is used; objects without a truth are true."""
        if not _is_plain(value) and _is_always_true(type(value)):
            self.taken[number, YES] += 1
            return value
        return self.test(number, value)

    def compare(self, number: int, sign: str, left: Any, right: Any) -> Any:
        """A comparison of two values, whose result the code uses."""
        return self.test(number, self._compared(number, sign, left, right))

    def decide(self, number: int, sign: str, left: Any, right: Any) -> bool:
        """A comparison of two values of which the code uses nothing but the truth."""
        return self.truth(number, self._compared(number, sign, left, right))

    def loop(self, number: int, over: Iterable[Any]) -> Iterator[Any]:
        """The turns of a loop; raises what `iter` raises, at once, as the loop would."""
        return self._turns(number, iter(over))

    def take(self, number: int) -> None:
        """A case or a handler that is taken."""
        self.taken[number, TAKEN] += 1

    def choose(self, number: int, function: Any, *given: Any) -> Any:
        """The smallest or largest of some values."""
        result = function(*given)
        self.taken[number, "argument 1" if result is given[0] else "argument 2"] += 1
        if len(given) == 2:
            self._sides(number, *given)
        return result

    def change(self, number: int, function: Any, names: Sequence[str], *values: Any) -> Any:
        """Values set to a bound or of another type, by a method of theirs or by a function.

        names: those of the last of `values`, which are given by keyword.
        """
        plain = values[: len(values) - len(names)]
        words = dict(zip(names, values[len(plain) :], strict=True))
        result = function(*plain, **words)
        given = _owner(function)
        if given is None:
            given = values[0] if values else None
        with contextlib.suppress(Exception):  # no concern of the code's
            before, after = _as_array(given), _as_array(result)
            if before is not None and after is not None:
                same = before.shape == after.shape and bool(np.all(before == after))
                self.taken[number, KEPT if same else CHANGED] += 1
        return result

    def piece(self, number: int, whole: Any, start: Any, stop: Any, step: Any) -> Any:
        """A slice with an end."""
        result = whole[start:stop:step]
        if _is_number(stop) and type(whole) in _SLICED:
            cut = len(whole) > stop if stop >= 0 else True
            self.taken[number, CUT if cut else WHOLE] += 1
            self._sides(number, len(whole), stop)
        return result

    # -- in short --------------------------------------------------------------------------------

    def _turns(self, number: int, over: Iterator[Any]) -> Iterator[Any]:
        turns = 0
        try:
            while True:
                try:  # `for` would call `__iter__` of the iterator, which the loop does not
                    each = next(over)
                except StopIteration:
                    return
                turns += 1
                yield each
        finally:
            self.taken[number, (NEVER_RUN, ONCE)[turns] if turns < 2 else OFTEN] += 1

    def _compared(self, number: int, sign: str, left: Any, right: Any) -> Any:
        result = _OPERATORS[sign](left, right)
        self._sides(number, left, right)
        return result

    def _sides(self, number: int, left: Any, right: Any) -> None:
        """Keeps two sides that are numbers, except those too large for a float."""
        if _is_number(left) and _is_number(right):
            with contextlib.suppress(OverflowError, ValueError):
                self.sides[number] = float(left), float(right)


# By `type(value)`: `isinstance` asks a lazy object for its class, which carries it out.


def _is_number(value: Any) -> bool:
    kind = type(value)
    return issubclass(kind, int | float | np.integer | np.floating) and kind is not bool


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or issubclass(type(value), np.bool_ | np.number)


def _has_numbers(value: Any) -> bool:
    """Whether a value is an array of truths or numbers."""
    return issubclass(type(value), np.ndarray) and value.dtype.kind in "biufc"


def _is_always_true(kind: type) -> bool:
    """Whether a type leaves it to Python what is true."""
    return not any("__bool__" in vars(each) or "__len__" in vars(each) for each in kind.__mro__)


def _is_of_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas"


def _owner(function: Any) -> Any:
    """The array or frame that a method belongs to; None for a function, or a method of others."""
    owner = function.__self__ if type(function) in (MethodType, BuiltinMethodType) else None
    known = issubclass(type(owner), np.ndarray | np.generic) or _is_of_pandas(owner)
    return owner if known else None


def _as_array(value: Any) -> Any:
    """A value as an array of numbers; None where there is none, or where that might run code."""
    if type(value) in (list, tuple):
        known = all(_is_number(each) for each in value)
    else:
        known = _is_plain(value) or _has_numbers(value) or _is_of_pandas(value)
    found = np.asarray(value) if known else None
    return found if _has_numbers(found) else None
