"""Numbers by which the two replies of a unit are compared: of a reply, and of what came before it.

A unit is a call, or a life of several calls; its numbers are (units, 2, calls, numbers), the
target's before the reference's. Nothing here treats one side otherwise than the other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector

Numbers = NDArray[np.float64]
Inputs = NDArray[np.int64]
MOST_STATISTICS = {False: 91, True: 455}
"""Statistics of a unit at most, of a call and of a life, of as many numbers as are looked at."""

_FARTHEST = 1e3  # spreads from the middle
_MOST_CELLS = 12  # numbers of a reply whose neighbours are looked at one by one
_EVERY = 2 / 3  # of the replies to an input: those that are equal show no spread


@dataclass(frozen=True)
class Middles:
    """Where replies lie: the median of each number by input (inputs, f), and its spread (f,)."""

    middle: Matrix
    spread: Vector

    @classmethod
    def of(cls, numbers: Numbers, inputs: Inputs, count: int) -> "Middles":
        """Of both sides' replies to inputs (units, calls), count: how many inputs there are."""
        flat = numbers.transpose(0, 2, 1, 3).reshape(-1, numbers.shape[-1])
        of = np.repeat(inputs.reshape(-1), 2)
        middle = np.tile(np.median(flat, axis=0), (count, 1))
        for one in np.unique(of):
            middle[one] = np.median(flat[of == one], axis=0)
        apart = np.abs(flat - middle[of])
        spread = np.quantile(apart, _EVERY, axis=0)
        spread = np.where(spread > 0, spread, apart.mean(0))
        return cls(middle, np.where(spread > 0, spread, 1.0))

    def apart(self, numbers: Numbers, inputs: Inputs) -> Numbers:
        """The numbers as spreads from the middle of the replies to their input."""
        found = (numbers - self.middle[inputs][:, None]) / self.spread
        return np.clip(found, -_FARTHEST, _FARTHEST)


def earlier_calls(inputs: Inputs) -> tuple[Inputs, Inputs]:
    """Of calls (n,) in their order: the call before on the same input, and the one before; or -1.

    That before is only looked at where it is on another input.
    """
    last: dict[int, int] = {}
    same = np.full(len(inputs), -1)
    for place, one in enumerate(inputs):
        same[place] = last.get(int(one), -1)
        last[int(one)] = place
    before = np.arange(len(inputs)) - 1
    return same, np.where(same == before, -1, before)


def statistics(
    numbers: Numbers, inputs: Inputs, middles: Middles
) -> tuple[Numbers, tuple[int, int]]:
    """What units are compared by (units, 2, s), of all of them in their order.

    And how many of them, the first, are of values alone, and of replies by themselves.
    """
    apart = middles.apart(numbers, inputs)
    if numbers.shape[2] > 1:
        return _of_lives(numbers, apart, inputs, middles)
    own, shown = numbers[:, :, 0], apart[:, :, 0]
    found = [_of_replies(own, shown)]
    for earlier, whole in zip(earlier_calls(inputs[:, 0]), (True, False), strict=True):
        if whole or len(middles.middle) > 1:
            old = own[earlier][:, None], shown[earlier][:, None]
            each = _between((own[:, :, None], shown[:, :, None]), old, middles, whole=whole)
            each[earlier < 0] = 0.0
            found.append(each.reshape(len(own), 2, -1))
    return np.concatenate(found, axis=-1), (2 * numbers.shape[-1], found[0].shape[-1])


def _of_replies(numbers: Numbers, apart: Numbers) -> Numbers:
    """Of replies by themselves (..., f): values, distances, and how numbers go together."""
    found = [apart, np.abs(apart)]
    if apart.shape[-1] > 2:  # the last says whether there was an answer
        cells, own = apart[..., :-1], numbers[..., :-1]
        total, square = cells.sum(-1), (cells**2).sum(-1)
        one = [total, np.abs(cells).sum(-1), cells.max(-1), cells.min(-1), total**2 - square]
        one += [cells.std(-1), (own[..., 1:] == own[..., :-1]).sum(-1)]
        found.append(np.stack(one, -1))
        few = cells[..., :_MOST_CELLS]
        found += [few[..., 1:] * few[..., :-1], np.abs(np.diff(few, axis=-1))]
    return np.concatenate(found, axis=-1)


def _between(
    now: tuple[Numbers, Numbers], old: tuple[Numbers, Numbers], middles: Middles, *, whole: bool
) -> Numbers:
    """Replies beside earlier ones (..., s): how far, of which product, and how many are equal.

    Of each the numbers, and their distance from the middle. whole: both are of one input, so that
    they may be equal.
    """
    (own, apart), (earlier, earlier_apart) = now, old
    distance = np.abs((own - earlier) / middles.spread if whole else apart - earlier_apart)
    found = [np.minimum(distance, _FARTHEST).mean(-1), (apart * earlier_apart).mean(-1)]
    if whole:
        found += [(own == earlier).mean(-1), np.minimum(distance, _FARTHEST).min(-1)]
    return np.stack(np.broadcast_arrays(*found), -1)


def _of_lives(
    numbers: Numbers, apart: Numbers, inputs: Inputs, middles: Middles
) -> tuple[Numbers, tuple[int, int]]:
    """Of whole transcripts: what their replies are together, and beside earlier ones of a life."""
    each = _of_replies(numbers, apart)
    found = [each.mean(2), each.max(2), each.min(2), np.abs(apart.mean(2)), apart.std(2)]
    found += [each[:, :, 0], each[:, :, -1]]
    same, before = zip(*(earlier_calls(row) for row in inputs), strict=True)
    for earlier, whole in ((np.array(same), True), (np.array(before), False)):
        there = np.maximum(earlier, 0)[:, None, :, None]
        old = np.take_along_axis(numbers, there, axis=2), np.take_along_axis(apart, there, axis=2)
        beside = _between((numbers, apart), old, middles, whole=whole)
        made = (earlier >= 0)[:, None, :, None]
        found.append((beside * made).sum(2) / np.maximum(made.sum(2), 1))
    kinds = np.unique(inputs, axis=0, return_inverse=True)[1].ravel()
    earlier = earlier_calls(kinds)[0]  # the life before with the same requests
    before_it, lives = numbers[earlier][:, None], numbers[:, :, None]
    distance = np.minimum(np.abs(lives - before_it) / middles.spread, _FARTHEST)
    beside = np.stack([(lives == before_it).mean((-1, -2)), distance.mean((-1, -2))], -1)
    beside[earlier < 0] = 0.0
    found.append(beside.reshape(len(numbers), 2, -1))
    return np.concatenate(found, axis=-1), (2 * numbers.shape[-1], found[0].shape[-1])
