"""Further inputs, drawn by the run's seed around those that a claim names: any JSON.

Records and values are those of the named inputs, or lie among or next to them.
"""

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_MOST_CHANGES = 3
_TRIES = 50  # for each input that is wanted, as few may differ from those that there are

Path = tuple[Any, ...]


def drawn_inputs(named: Sequence[Any], wanted: int, rng: np.random.Generator) -> list[Any]:
    """Inputs (wanted at most) that are not among those named, each once.

    Each is one of these after up to three changes, of a value, or of the records of a list.
    """
    known, found = {json.dumps(one) for one in named}, list[Any]()
    around = _Around(named, rng)
    for _ in range(_TRIES * wanted):
        one = named[int(rng.integers(len(named)))]
        for _ in range(int(rng.integers(1, _MOST_CHANGES + 1))):
            one = around.changed(one)
        text = json.dumps(one)
        if text not in known and len(found) < wanted:
            known.add(text)
            found.append(one)
    return found


class _Around:
    """What stands where in the named inputs, and changes of it."""

    def __init__(self, named: Sequence[Any], rng: np.random.Generator) -> None:
        self._rng, self._there = rng, dict[Path, list[Any]]()
        for at, value in _parts(list(named), ()):
            self._there.setdefault(_kind(at), []).append(value)

    def changed(self, given: Any) -> Any:
        """The input with a number or a list replaced by another; itself where it has neither."""
        root = [copy.deepcopy(given)]
        kinds: dict[Path, list[Path]] = {}
        for at, value in _parts(root, ()):
            if at and (isinstance(value, list) or _is_number(value)):
                kinds.setdefault(_kind(at), []).append(at)
        if not kinds:
            return given
        kind = self._one_of(list(kinds))
        *way, last = self._one_of(kinds[kind])
        holder: Any = root
        for step in way:
            holder = holder[step]
        old = holder[last]
        holder[last] = self._list(old, kind) if isinstance(old, list) else self._number(old, kind)
        return root[0]

    def _number(self, old: float, kind: Path) -> float:
        """Another one that is there, between the ends of these, next to it, or nothing."""
        there = [one for one in self._there.get(kind, []) if _is_number(one)] or [old]
        low, high = min(there), max(there)
        between = low + (high - low) * self._rng.random()
        found = self._one_of([self._one_of(there), between, old + 1, old - 1, 2 * old, 0])
        found = max(found, 0) if low >= 0 else found
        return round(found) if isinstance(old, int) else float(found)

    def _list(self, old: list[Any], kind: Path) -> list[Any]:
        """A record left out, added or repeated, none at all, or another order.

        Of numbers whose lists all have one length, as histograms, another order alone.
        """
        lists = [one for one in self._there.get(kind, []) if isinstance(one, list)]
        shuffled = [old[place] for place in self._rng.permutation(len(old))]
        plain = all(map(_is_number, old))
        if plain and len(lists) > 1 and len({len(one) for one in lists}) == 1:
            return shuffled
        records = self._there.get((*kind, None), [])
        more = [copy.deepcopy(self._one_of(group)) for group in (records, old) if group]
        return list(
            self._one_of([shuffled[1:], [], shuffled, *([*old, record] for record in more)])
        )

    def _one_of(self, some: Sequence[Any]) -> Any:
        return some[int(self._rng.integers(len(some)))]


def _parts(value: Any, at: Path) -> Iterator[tuple[Path, Any]]:
    """A value and all that is in it, each with the way to it."""
    yield at, value
    items = value.items() if isinstance(value, dict) else ()
    for step, inner in enumerate(value) if isinstance(value, list) else items:
        yield from _parts(inner, (*at, step))


def _kind(at: Path) -> Path:
    """Where something stands, whichever record it is of."""
    return tuple(None if isinstance(step, int) else step for step in at)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
