"""Noise that repeats a run, or a whole release, of earlier noise.

A copied run shows by its context, wherever it lies: the last few numbers are looked up among all
earlier ones, with either sign, and the number that followed them then is wagered on, at the claim's
price. A whole release is wagered to have the noise of an earlier one, perhaps negated, reversed or
rolled: what came m times among N gains m / N over its probability under the claim.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .copies import LearnedCopies, matches

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


CELLS = {53: 2.0**22, 24: 2.0**17}
"""Cells per scale of unrounded noise, by the digits of its floats; numbers in one are alike."""

_LONGEST = 64  # context
_FINEST = 1 << 12  # steps per scale beyond which a sum over them is an integral


@dataclass(frozen=True)
class Predictability:
    """The entropy in nats of one number of noise, and the chance that two numbers are alike."""

    entropy: float
    alike: float

    @classmethod
    @cache
    def of(cls, noise: NumberNoise) -> "Predictability":
        """Predictability of claimed noise, in steps of its grid or in whole numbers.

        Numbers of noise that is not rounded are alike where they lie in one of `CELLS`.
        """
        scale, step = noise.family.scale, noise.grid or float(noise.family.whole)
        step = step or scale / CELLS[53]
        if scale > _FINEST * step:
            return cls(math.log(scale / step) + 1.0, 0.0)  # Laplace: 1.69, Gaussian: 1.42
        most = math.ceil(60.0 * scale / step) + 1
        values = step * np.arange(-most, most + 1)
        family = type(noise)(noise.family, noise.grid)
        logs = family.log_mass(values, np.zeros(values.size))
        mass = np.exp(logs)
        entropy = -float(mass[mass > 0] @ logs[mass > 0])
        return cls(entropy, float(np.square(mass).sum()))

    def context(self, places: float, spare: float) -> int:
        """How many numbers identify one of so many places, with so many nats to spare."""
        wanted = math.log(places) + spare
        return min(_LONGEST, math.ceil(wanted / max(self.entropy, wanted / _LONGEST)))


_MOST_RELEASES = 1 << 16  # releases remembered
_WIDEST = 64  # numbers of a release that are compared
_END = 2.0**31 - 1.0  # steps that stand for an end of the range
_SEED = 7
_LEAST = 6.0  # nats of a release's noise: what tells less is repeated by most releases


@dataclass(frozen=True)
class NoiseSteps:
    """Noise (n, k) in steps of the grid, with the releases and the exact numbers behind it."""

    steps: NDArray[np.int32]
    released: Matrix
    exact: Matrix
    digits: int

    @classmethod
    def of(cls, noise: NumberNoise, y: Matrix, x: Matrix, digits: int) -> "NoiseSteps":
        """The steps of the first numbers of releases y (n, d) of exact numbers x (n, d).

        For whole noise the steps are the noise itself. An end of the range, which may lie off the
        grid, has the most or the least steps. Numbers beyond are not compared, and have -2^31.
        """
        y, x = y[:, :_WIDEST], x[:, :_WIDEST]
        step = noise.grid
        steps = np.rint(y / step) - np.rint(x / step) if step else np.rint(y - x)
        whole = np.where(np.abs(steps) < _END, steps, -(2.0**31))
        lowest, highest = noise.held(y, noise.half_width(y, digits))
        whole = np.where(lowest, -_END, np.where(highest, _END, whole))
        return cls(whole.astype(np.int32), y, x, digits)

    def log_chance(self, noise: NumberNoise, rows: NDArray[np.int64]) -> Vector:
        """Log-chance (m,) of some rows' releases under the claim; infinite if not compared."""
        y, x = self.released[rows], self.exact[rows]
        found = noise.log_mass(y, x, noise.half_width(y, self.digits)).sum(1)
        untold = (self.steps[rows] == -(1 << 31)).any(1) | ~np.isfinite(found)
        return np.where(untold, np.inf, np.minimum(found, 0.0))


class RepeatedReleases:
    """Remembers releases by their noise, and wagers that the next one has the noise of one of them.

    forms: whether the noise may be negated, reversed and rolled, each of the 4 k forms as likely.
    """

    def __init__(self, noise: NumberNoise, width: int, *, forms: bool = False) -> None:
        self._noise = noise
        self._ways = 4 * width if forms else 1
        self.applies = bool(noise.grid) or noise.family.whole
        """Whether noise comes in steps, so that what repeats is alike to the last digit."""
        self.applies &= min(width, _WIDEST) * Predictability.of(noise).entropy >= _LEAST
        if forms:
            self.applies &= 1 < width <= _WIDEST // 2
        if not self.applies:
            return
        self._counts: dict[bytes, int] = {}
        self._seen = 0
        turned = (np.arange(width)[:, None] + np.arange(width)) % width
        self._turns = np.concatenate([turned, turned[:, ::-1]])
        self._factors = np.random.default_rng(_SEED).integers(1, 1 << 62, width) | 1

    def observe(self, evidence: LearnedCopies, steps: NoiseSteps) -> None:
        """Wagers on releases in the order they came, and remembers them."""
        rows = np.ascontiguousarray(steps.steps if self._ways == 1 else self._turned(steps.steps))
        size, counts = rows.shape[1] * rows.itemsize, self._counts
        data, times = rows.tobytes(), []
        for at in range(0, len(data), size):
            key = data[at : at + size]
            before = counts.get(key, 0)
            times.append(before)
            counts[key] = before + 1
        came = np.array(times, dtype=np.float64)
        total = self._seen + np.arange(came.size, dtype=np.float64)
        place = np.flatnonzero(came)
        share = np.log(came[place]) - np.log(total[place] * self._ways)
        chance = steps.log_chance(self._noise, place) - share if place.size else share
        finite = np.isfinite(chance)
        matched = np.zeros(came.size, dtype=bool)
        matched[place[finite]] = True
        some = slice(1 if self._seen == 0 else 0, None)  # nothing came before the very first
        evidence.observe(matched[some], chance[finite])
        self._seen += came.size
        if self._seen >= _MOST_RELEASES:
            self._counts, self._seen = {}, 0

    def _turned(self, steps: NDArray[np.int32]) -> NDArray[np.int32]:
        """One form of each row (n, k), the same for all rows that are forms of each other."""
        factors = np.zeros((steps.shape[1], len(self._turns)), dtype=np.int64)
        factors[self._turns, np.arange(len(self._turns))[:, None]] = self._factors
        sums = steps.astype(np.int64) @ factors
        best = np.argmax(np.abs(sums), axis=1)
        own = np.arange(len(steps))
        sign = np.where(sums[own, best] < 0, -1, 1).astype(np.int32)
        return np.asarray(sign[:, None] * steps[own[:, None], self._turns[best]])
