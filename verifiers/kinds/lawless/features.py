"""Numbers by which any JSON reply is looked at; which ones is decided by replies, not by coins."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....reference.arrays import Matrix

MOST = 24
"""Numbers of a reply at most: those that vary most often."""

_LIST = 40  # a longer list is looked at by its length, sum and words
_ABSENT = -1e12
_DEEP = 8


def parts(reply: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Numbers of a reply by where they stand; of texts, how often each word is there."""
    if isinstance(reply, bool) or reply is None:
        yield path, -1.0 if reply is None else float(reply)
    elif isinstance(reply, int | float):
        number = float(reply)
        yield path, _ABSENT / 10 if math.isnan(number) else number
    elif isinstance(reply, str):
        yield f"{path} length", float(len(reply))
        words = re.findall(r"\w+|[^\w\s]", reply.lower())
        for word in set(words):
            yield f"{path} word {word}", float(words.count(word))
    elif isinstance(reply, dict) and depth < _DEEP:
        for key, value in reply.items():
            yield from parts(value, f"{path}.{key}", depth + 1)
    elif isinstance(reply, list) and depth < _DEEP:
        yield f"{path} length", float(len(reply))
        if len(reply) <= _LIST and not all(isinstance(one, str) for one in reply):
            for place, value in enumerate(reply):
                yield from parts(value, f"{path}[{place}]", depth + 1)
        else:
            yield from _together(reply, path)


def _together(reply: Sequence[Any], path: str) -> Iterator[tuple[str, float]]:
    numbers = [float(x) for x in reply if isinstance(x, int | float) and not isinstance(x, bool)]
    if numbers:
        yield f"{path} sum", float(np.nan_to_num(sum(numbers)))
        yield f"{path} largest", max(numbers)
        yield f"{path} smallest", min(numbers)
    texts = [x for x in reply if isinstance(x, str)]
    for text in set(texts):
        yield f"{path} has {text}", float(texts.count(text))


class Features:
    """Which numbers are looked at: of those of the first replies, the ones that vary most."""

    def __init__(self, replies: Sequence[Any]) -> None:
        rows = [dict(parts(reply)) for reply in replies]
        count: dict[str, float] = {}
        for path in dict.fromkeys(path for row in rows for path in row):
            values = [row.get(path, self.absent(path)) for row in rows]
            common = max(values.count(value) for value in set(values))
            count[path] = 1.0 - common / len(values)
        varying = sorted((p for p in count if count[p] > 0), key=lambda p: -count[p])[:MOST]
        self.paths = varying or [next(iter(count), "")]

    @staticmethod
    def absent(path: str) -> float:
        """What stands for a number that a reply lacks: of words 0, else far below all."""
        return 0.0 if " word " in path or " has " in path else _ABSENT

    def of(self, replies: Sequence[Any]) -> Matrix:
        """The numbers (n, features) of replies."""
        found = np.empty((len(replies), len(self.paths)))
        for place, reply in enumerate(replies):
            row = dict(parts(reply))
            found[place] = [row.get(path, self.absent(path)) for path in self.paths]
        return found
