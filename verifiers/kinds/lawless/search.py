"""Further pairs of neighbours, drawn after the claim's own: empty, duplicates, extremes.

Nothing stands in them that the claim's pairs do not have: records, cells and moves are theirs, and
neighbours differ as theirs do. Which pairs are drawn depends on the claim alone.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from .pairs import Control, Pair

Form = Literal["rows", "histogram", "vector"]
MOST = 12
"""Drawn pairs at most."""

_Made = tuple[str, list[Any], list[Any]]
_Far = tuple[list[Any], list[Any], float]
"""Two inputs, and how many steps from neighbour to neighbour lie between them."""


def drawn_pairs(pairs: Sequence[Pair], form: Form) -> list[Pair]:
    """Pairs beside those of the claim, in the order in which they are asked.

    Raises ValueError for a pair of the claim that is not of this form.
    """
    known = {_key(pair.here, pair.there) for pair in pairs}
    streams = []
    for number, pair in enumerate(pairs, 1):
        slot = _slot(pair)
        if slot is None or not _FITS[form](*slot[:2]):
            raise ValueError(
                f'search = "{form}": pairs, {number}: expected {_EXPECTED[form]}, alone or as the '
                "one value of an object that differs"
            )
        source = "drawn" if len(pairs) == 1 else f"drawn from pair {number}"
        streams.append((source, slot[2], _MAKES[form](slot[0], slot[1], _values(pairs))))
    found: list[Pair] = []
    while streams and len(found) < MOST:  # one of each in turn
        source, put, made = streams.pop(0)
        for what, here, there in made:
            key = _key(put(here), put(there))
            if key not in known and here != there:
                known.add(key)
                found.append(Pair(here=put(here), there=put(there), name=f"{source}: {what}"))
                streams.append((source, put, made))
                break
    return found


def far_apart(pairs: Sequence[Pair], form: Form | None) -> list[Control]:
    """Two inputs as far apart as the inputs of a search are, the farthest first.

    Made of what the first pair has, which is of this form, or of any that fits where none is named.
    """
    slot, found = _slot(pairs[0]), []
    if slot is None:
        return []
    here, there, put = slot
    for name in _FITS if form is None else (form,):
        if _FITS[name](here, there):
            found += _FAR[name](here, there, _values(pairs[:1]))
    made = [
        Control(here=put(one), there=put(other), distance=distance)
        for one, other, distance in found
        if one != other and distance > 1
    ]
    return sorted(made, key=lambda control: -(control.distance or 0.0))


def _far_rows(here: list[Any], there: list[Any], records: list[Any]) -> list[_Far]:
    least, most, size = records[0], records[-1], max(len(here), len(there))
    if _one_more(here, there):
        return [([], [most] * size, size), ([least], [most] * size, size - 1)]
    return [([least] * size, [most] * size, size)]


def _far_counts(here: list[Any], there: list[Any], _: list[Any]) -> list[_Far]:
    total, rest = max(sum(here), sum(there)), [0] * (len(here) - 1)
    if sum(here) != sum(there):
        return [([0, *rest], [total, *rest], total)]
    return [([total, *rest], [*rest, total], total)]


def _far_vectors(here: list[Any], there: list[Any], _: list[Any]) -> list[_Far]:
    largest = max(here, there, key=lambda vector: math.hypot(*vector))
    return [
        ([-x for x in largest], largest, 2 * math.hypot(*largest) / (math.dist(here, there) or 1.0))
    ]


def _key(here: Any, there: Any) -> str:
    return min(json.dumps([here, there]), json.dumps([there, here]))


def _slot(pair: Pair) -> tuple[Any, Any, Callable[[Any], Any]] | None:
    """The two lists, and what puts a list in their place."""
    here, there = pair.here, pair.there
    if isinstance(here, list) and isinstance(there, list):
        return here, there, lambda value: value
    if not (isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys()):
        return None
    differing = [key for key in here if here[key] != there[key]]
    if len(differing) != 1:
        return None
    key = differing[0]
    if not (isinstance(here[key], list) and isinstance(there[key], list)):
        return None
    return here[key], there[key], lambda value: {**here, key: value}


def _values(pairs: Sequence[Pair]) -> list[Any]:
    """All records of the claim's pairs, in an order of their own, each once."""
    found: dict[str, Any] = {}
    for pair in pairs:
        slot = _slot(pair)
        for record in [*slot[0], *slot[1]] if slot else []:
            found.setdefault(json.dumps(record), record)
    return sorted(found.values(), key=_order)


def _order(record: Any) -> tuple[float, str]:
    """Numbers by size, objects by the sum of their numbers, then by text."""
    parts = record.values() if isinstance(record, dict) else [record]
    if isinstance(record, list):
        parts = record
    numbers = [float(x) for x in parts if isinstance(x, int | float)]
    return sum(numbers), json.dumps(record)


def _one_more(here: list[Any], there: list[Any]) -> bool:
    """Whether one of two lists of rows has the other's and one more."""
    short, long = sorted(([json.dumps(row) for row in side] for side in (here, there)), key=len)
    left = list(long)
    for row in short:
        if row in left:
            left.remove(row)
    return len(long) == len(short) + 1 and len(left) == 1


def _one_replaced(here: list[Any], there: list[Any]) -> bool:
    if len(here) != len(there):
        return False
    return sum(bool(a != b) for a, b in zip(here, there, strict=True)) == 1


def _rows(here: list[Any], there: list[Any], records: list[Any]) -> Iterator[_Made]:
    least, most, size = records[0], records[-1], min(len(here), len(there))
    base = min(here, there, key=len)
    if _one_more(here, there):
        yield "none, and the largest record", [], [most]
        yield "one largest record more", base, [*base, most]
        yield "one smallest record more", base, [*base, least]
        yield "a duplicate more", base, [*base, *base[:1]]
        yield "equal records, and one more", [most] * size, [most] * (size + 1)
        yield "smallest records, and a largest one", [least] * size, [*[least] * size, most]
        yield "none, and the smallest record", [], [least]
        return
    yield "smallest records, and one of them largest", [least] * size, [*[least] * (size - 1), most]
    yield "largest records, and one of them smallest", [most] * size, [*[most] * (size - 1), least]
    yield "the first record largest", base, [most, *base[1:]]
    yield "the first record smallest", base, [least, *base[1:]]


def _counts(here: list[Any], there: list[Any], _: list[Any]) -> Iterator[_Made]:
    cells, total = len(here), min(sum(here), sum(there))

    def one(place: int, count: int = 1) -> list[int]:
        return [count if k == place else 0 for k in range(cells)]

    def more(base: list[int], place: int) -> list[int]:
        return [n + (k == place) for k, n in enumerate(base)]

    if sum(here) != sum(there):  # a record more
        base = min(here, there, key=sum)
        yield "empty, and one in the first cell", [0] * cells, one(0)
        yield "one more in the largest cell", base, more(base, base.index(max(base)))
        yield "one more in the smallest cell", base, more(base, base.index(min(base)))
        yield "all in one cell, and one more", one(0, total), one(0, total + 1)
        yield "all in one cell, and one in the last", one(0, total), more(one(0, total), cells - 1)
        yield "empty, and one in the last cell", [0] * cells, one(cells - 1)
        return
    for first, last in ((0, cells - 1), (cells - 1, 0)):
        yield (
            f"all in cell {first + 1}, and one of them in cell {last + 1}",
            one(first, total),
            more(one(first, total - 1), last),
        )


def _vectors(here: list[Any], there: list[Any], _: list[Any]) -> Iterator[_Made]:
    yield "both negated", [-x for x in here], [-x for x in there]
    for by in range(1, len(here)):
        yield f"both rolled by {by}", [*here[-by:], *here[:-by]], [*there[-by:], *there[:-by]]
    yield (
        "zero, and the difference",
        [0.0] * len(here),
        [b - a for a, b in zip(here, there, strict=True)],
    )
    yield "both in reverse", here[::-1], there[::-1]


def _are_counts(here: list[Any], there: list[Any]) -> bool:
    whole = all(type(n) is int and n >= 0 for n in [*here, *there])
    if not whole or len(here) != len(there) or not here:
        return False
    moves = sorted(b - a for a, b in zip(here, there, strict=True) if a != b)
    return moves in ([1], [-1], [-1, 1])


_FITS: dict[str, Callable[[list[Any], list[Any]], bool]] = {
    "rows": lambda here, there: _one_more(here, there) or _one_replaced(here, there),
    "histogram": _are_counts,
    "vector": lambda here, there: (
        len(here) == len(there) and all(type(x) in (int, float) for x in [*here, *there])
    ),
}
_MAKES: dict[str, Callable[[list[Any], list[Any], list[Any]], Iterator[_Made]]] = {
    "rows": _rows,
    "histogram": _counts,
    "vector": _vectors,
}
_FAR: dict[str, Callable[[list[Any], list[Any], list[Any]], list[_Far]]] = {
    "rows": _far_rows,
    "histogram": _far_counts,
    "vector": _far_vectors,
}
_EXPECTED = {
    "rows": "two lists, of which one has a row more, or another in one place",
    "histogram": "two lists of counts, of which one has one more, or one that moved",
    "vector": "two lists of as many numbers",
}
