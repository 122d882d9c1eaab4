"""Noise that repeats a run of earlier noise: as the last few numbers came before, so does the next.

A copied run shows by its context, wherever it lies: in a table that is read from anywhere, in the
stream of another worker or input, in the release before but moved by some places. The last few
numbers are looked up among all earlier ones, with either sign, and the number that followed them
then is wagered on. Any wager on the next number is fair if the claim gives its price.
"""

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .copies import LearnedCopies, matches
from .predictability import CELLS, Predictability

_MOST = 1 << 18  # numbers remembered; the older half is forgotten at once
_SPARE, _SPARE_NEARBY = 4.0, 1.5  # nats of a context beyond what telling its place takes
_MIX = np.array([0x9E3779B97F4A7C15], dtype=np.uint64)


class ContinuedNoise:
    """Predicts each number of a stream by what followed the same context before.

    width: numbers per release that are given; releases: how far back a context may lie, as far as
    is remembered by default.
    """

    def __init__(self, noise: NumberNoise, width: int, releases: int | None = None) -> None:
        self._noise = noise
        telling = Predictability.of(noise)
        self.honest = telling.alike
        self._nearby = releases is not None
        self._far = _MOST if releases is None else releases * width
        spare = _SPARE if releases is None else _SPARE_NEARBY
        self.context = telling.context(min(self._far, _MOST // 2), spare)
        self._whole = bool(noise.grid) or noise.family.whole
        self._places: dict[int, int] = {}
        self._near_keys = np.zeros(0, dtype=np.int64)
        self._copied, self._signs = np.zeros(0), np.zeros(0, dtype=np.int8)
        self._base, self._tail = 0, np.zeros(0, dtype=np.int64)
        self._next, self._goes_on = np.full(1, -1), False

    def observe(self, evidence: LearnedCopies, y: Matrix, x: Matrix, digits: int) -> None:
        """Wagers on releases (n, k) of exact numbers (n, k), in order, and remembers them."""
        released, exact = y.ravel(), x.ravel()
        noise = released - exact
        keys, signs = self._keys(released, exact, noise, digits)
        start = self._base + self._copied.size
        self._copied = np.concatenate([self._copied, noise])
        self._signs = np.concatenate([self._signs, signs])
        found = self._earlier(keys, start)
        # a number is told by the context that ends before it
        before = np.concatenate([self._next, found])
        self._next = before[-1:]
        place = np.flatnonzero(before[:-1] >= 0)
        source = before[place] - self._base
        turned = self._signs[source] * self._signs[start - self._base + place - 1]
        copied = turned * self._copied[source + 1]
        matched, chance = matches(self._noise, released[place], exact[place], copied, digits)
        # draws that follow a copy are a group of their own: runs of copies go on
        known = np.zeros(noise.size + 1, dtype=bool)
        known[0] = self._goes_on
        known[place[matched] + 1] = True
        self._goes_on = bool(known[-1])
        evidence.observe(matched, chance, known[place].astype(np.int64))
        self._forget()

    def _keys(
        self, released: Vector, exact: Vector, noise: Vector, digits: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """A key (n,) and a sign (n,) of the context that ends with each number.

        A context and its negative have the same key and opposite signs: the key is the size of a
        sum over the context with odd factors, modulo 2^64. Where two other contexts share a key the
        wager is poorer, but as fair.
        """
        step = self._noise.grid or 1.0
        if self._whole:
            steps = np.rint(released / step) - np.rint(exact / step)
        else:
            steps = np.trunc(noise * (CELLS[digits] / self._noise.family.scale))
        numbers = np.clip(steps, -(2.0**60), 2.0**60).astype(np.int64)
        last = np.concatenate([self._tail, numbers])
        self._tail = last[max(0, last.size - self.context + 1) :]
        if self.context > 1:
            mixed, factor = last.astype(np.uint64), np.ones(1, dtype=np.uint64)
            total = np.zeros(last.size, dtype=np.uint64)
            for back in range(min(self.context, last.size)):
                factor *= _MIX
                total[back:] += factor * mixed[: last.size - back]
            last = total.astype(np.int64)
        last = last[last.size - numbers.size :]
        return np.abs(last), np.where(last < 0, -1, 1).astype(np.int8)

    def _earlier(self, keys: NDArray[np.int64], start: int) -> NDArray[np.int64]:
        """Where each key (n,) came last, -1 where not within reach; remembers the keys."""
        if self._nearby:
            known = np.concatenate([self._near_keys, keys])
            self._near_keys = known[max(0, known.size - self._far) :].copy()
            order = np.argsort(known, kind="stable")
            alike = np.flatnonzero(known[order[1:]] == known[order[:-1]])
            found = np.full(known.size, -1)
            found[order[alike + 1]] = order[alike] + (start + keys.size - known.size)
            before = found[known.size - keys.size :]
        else:
            places, last = self._places, []
            for at, key in enumerate(keys.tolist(), start):
                last.append(places.get(key, -1))
                places[key] = at
            before = np.array(last, dtype=np.int64)
        own = np.arange(start, start + before.size)
        before[(before < self._base) | (own - before > self._far)] = -1
        return before

    def _forget(self) -> None:
        """Drops the older half once more is held than may be remembered."""
        extra = self._copied.size - _MOST
        if extra <= 0:
            return
        extra = self._copied.size - _MOST // 2
        self._copied, self._signs = self._copied[extra:].copy(), self._signs[extra:].copy()
        self._base += extra
        self._places = {key: at for key, at in self._places.items() if at >= self._base}
        if self._next[0] < self._base:
            self._next = np.full(1, -1)
