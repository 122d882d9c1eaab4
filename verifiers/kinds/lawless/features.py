"""Numbers by which any JSON reply is looked at; which of many, the first replies decide."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector

MOST = 24
"""Numbers of a reply at most: of more, those that tell the first replies apart best."""

_LIST = 40  # a longer list is looked at by its length, ends, sums, extremes and texts, by column
_PLACES = 2_000  # numbers of such a list that are looked at by their places too
_AT = " at "
_FEW = 8  # of these at most, that tell the first replies apart best
_ABSENT = -1e12
_HUGE = 1e100  # infinities, and numbers beyond floats
_SCREENED = 4_096  # numbers among which replies choose
_DEEP = 8


def parts(reply: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Numbers of a reply by where they stand; of texts how often each word, or two words, come."""
    if isinstance(reply, bool) or reply is None:
        yield path, -1.0 if reply is None else float(reply)
    elif isinstance(reply, int | float):
        yield path, _float(reply)
    elif isinstance(reply, str):
        yield f"{path} length", float(len(reply))
        words = re.findall(r"\w+|[^\w\s]", reply.lower())
        for word in set(words):
            yield f"{path} word {word}", float(words.count(word))
        for (one, next_one), times in Counter(pairwise(re.findall(r"\w+", reply.lower()))).items():
            yield f"{path} word {one} before {next_one}", float(times)
    elif isinstance(reply, dict) and depth < _DEEP:
        yield from _order_of_keys(list(reply), path)
        for key, value in reply.items():
            yield from parts(value, f"{path}.{key}", depth + 1)
    elif isinstance(reply, list) and depth < _DEEP:
        yield from _of_list(reply, path, depth)


def _of_list(reply: Sequence[Any], path: str, depth: int) -> Iterator[tuple[str, float]]:
    """A short list by its places; of a long one what `_LIST` says, and its first numbers."""
    yield f"{path} length", float(len(reply))
    if len(reply) <= _LIST and not all(isinstance(one, str) for one in reply):
        for place, value in enumerate(reply):
            yield from parts(value, f"{path}[{place}]", depth + 1)
    else:
        yield from _together(reply, path, depth)
        for place, value in enumerate(reply[:_PLACES]):
            if isinstance(value, int | float):
                yield f"{path}[]{_AT}{place}", _float(value)
        for place in (0, -1) if reply else ():  # rows in the order of exact counts
            yield from parts(reply[place], f"{path}[{place}]", depth + 1)


def _order_of_keys(keys: Sequence[str], path: str) -> Iterator[tuple[str, float]]:
    """Which key stands first and last, and how many stand before a smaller one."""
    if len(keys) < 2:
        return
    yield f"{path} order has {keys[0]} first", 1.0
    yield f"{path} order has {keys[-1]} last", 1.0
    yield f"{path} order", float(sum(str(a) > str(b) for a, b in pairwise(keys)))


def _float(number: float) -> float:
    """A number as a float that can be reckoned with; NaN is a value of its own."""
    try:
        found = float(number)
    except OverflowError:  # of an int
        return _HUGE if number > 0 else -_HUGE
    return _ABSENT / 10 if math.isnan(found) else min(_HUGE, max(-_HUGE, found))


def _together(reply: Sequence[Any], path: str, depth: int) -> Iterator[tuple[str, float]]:
    """What is looked at of a long list: of its rows, each column as such a list."""
    numbers = [_float(x) for x in reply if isinstance(x, int | float)]
    if numbers:
        yield f"{path} sum", sum(numbers)
        yield f"{path} largest", max(numbers)
        yield f"{path} smallest", min(numbers)
    texts = [x for x in reply if isinstance(x, str)]
    for text in set(texts):
        yield f"{path} has {text}", float(texts.count(text))
    columns: dict[str, list[Any]] = {}
    for row in reply if depth < _DEEP else ():
        cells = row.items() if isinstance(row, dict) else ()
        for name, cell in enumerate(row) if isinstance(row, list) else cells:
            columns.setdefault(f"{path}[].{name}", []).append(cell)
    for name, column in columns.items():
        yield f"{name} length", float(len(column))
        yield from _together(column, name, depth + 1)


class Features:
    """Which numbers are looked at: all that vary in the first replies, or the best MOST of them.

    coins: of the first replies, by which the best are chosen; where none are given, those are
    taken that vary most. chosen_by_coins: whether they were, so that these draws are no evidence.
    """

    def __init__(self, replies: Sequence[Any], coins: NDArray[np.bool_] | None = None) -> None:
        rows = [dict(parts(reply)) for reply in replies]
        count: dict[str, float] = {}
        for path in dict.fromkeys(path for row in rows for path in row):
            values = Counter(row.get(path, self.absent(path)) for row in rows)
            count[path] = 1.0 - max(values.values()) / len(rows)
        varying = sorted((p for p in count if count[p] > 0), key=lambda p: -count[p])
        self.paths = varying or [next(iter(count), "")]
        self.chosen_by_coins = coins is not None and len(varying) > MOST
        if coins is not None and self.chosen_by_coins:
            self.paths = varying[:_SCREENED]
            apart = _apart(self._numbers(rows), coins)
            self.paths = [self.paths[place] for place in np.argsort(-apart, kind="stable")]
        of_places = [path for path in self.paths if _AT in path][:_FEW]
        others = [path for path in self.paths if _AT not in path]
        self.paths = [*others[: MOST - len(of_places)], *of_places]

    @staticmethod
    def absent(path: str) -> float:
        """What stands for a number that a reply lacks: of words 0, else far below all."""
        return 0.0 if " word " in path or " has " in path else _ABSENT

    def of(self, replies: Sequence[Any]) -> Matrix:
        """The numbers (n, features) of replies."""
        return self._numbers([dict(parts(reply)) for reply in replies])

    def _numbers(self, rows: Sequence[dict[str, float]]) -> Matrix:
        found = np.empty((len(rows), len(self.paths)))
        for place, row in enumerate(rows):
            found[place] = [row.get(path, self.absent(path)) for path in self.paths]
        return found


def _apart(numbers: Matrix, coins: NDArray[np.bool_]) -> Vector:
    """How far the ranks (n, features) of two coins are apart, or their distances to the middle."""
    from scipy.stats import rankdata

    if coins.all() or not coins.any():
        return np.zeros(numbers.shape[1])
    ranks = rankdata(numbers, axis=0) - 0.5 * (len(numbers) + 1)
    found = np.zeros(numbers.shape[1])
    for x in (ranks, np.abs(ranks)):
        apart = np.abs(x[coins].mean(0) - x[~coins].mean(0))
        found = np.maximum(found, apart / np.maximum(x.std(0), 1e-9))
    return found
