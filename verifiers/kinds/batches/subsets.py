"""Evidence on which records are in a batch, given its size: a uniform subset of the pool."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....reference.batches import hypergeometric, runs
from .history import Batch, History
from .pairs import CopyWager, PairWagers
from .wagers import HIGHER, LOWER, TILTS, Wagers, sharpened, tilted, tilts

Marked = NDArray[np.bool_]
POWER = np.array([3.0])
SHARE_NUMBERED, SHARE_ENDS, SHARE_SINGLE, SHARE_SINCE, SHARE_COPIED = 0.35, 0.05, 0.05, 0.3, 0.2
"""Of the evidence, that is wagered on these causes."""

_NEXT = 3  # records at either end that are each looked at

_LEVELS = (0.0, 1.28, 2.5, 4.0)  # deviations above the mean, of the records that come most

ODDS = np.array([2.0, 5.0, 20.0])  # by which a single record may come oftener

_WAITING = 1_000  # one record of so many has waited longest, beside the very longest

NUMBERED = "records of some numbers come more often than others"
ENDS = "a record at an end of the data comes at another rate"
NEVER, OFTEN = "some records never come", "some records come more often than others"
SINGLE = "a single record comes more often than others"
EARLIER = "the order of an epoch follows that of earlier ones"
SINCE = "a batch avoids, or repeats, the records of batches before it"
WAITED = "records that have waited longest come at another rate"
LAGGED = "a batch follows one some steps before it"
COPIED = "a batch is one that came before"
PAIRED = "two records come together"
BLOCKS = "records with numbers beside each other come together"


def _overlap(history: History, marked: Marked, batch: Batch) -> tuple[int, int, int, int]:
    """Records of the pool, marked ones among them, the size, and marked ones in the batch."""
    of_pool = marked & history.pool if history.shuffles else marked
    return history.left, int(np.count_nonzero(of_pool)), batch.size, int(marked[batch].sum())


def _marked_wagers(history: History, marked: Marked, batch: Batch) -> NDArray[np.float64]:
    pool, many, size, seen = _overlap(history, marked, batch)
    return tilted(*hypergeometric(pool, many, size), float(seen))


def ends(records: int) -> NDArray[np.int64]:
    """The first records and the last ones, each of which is wagered on by itself."""
    at = np.arange(records)
    return np.union1d(at[:_NEXT], at[-_NEXT:])


def windows(epoch: int) -> list[int]:
    """Of how many batches before a batch records may be avoided, or come again."""
    return [2**j for j in range(int(np.ceil(np.log2(2 * epoch))) + 1)]


class InclusionEvidence:
    """Wagers that some records come more often than others, by their numbers or the past.

    What comes less often because it came before is dependence, and not looked at here.
    """

    def __init__(self, history: History) -> None:
        self.history, n = history, history.of.records
        at = np.arange(n)
        few = max(1, n // 20)
        self._numbered = [at < (n + 1) // 2, at % 2 == 0, at < few, at >= n - few]
        often = EARLIER if history.shuffles else OFTEN
        self._often = often
        self._ends = ends(n)
        self.wagers = Wagers(
            [
                (NUMBERED, SHARE_NUMBERED, len(self._numbered) * (TILTS + 1)),
                (ENDS, SHARE_ENDS, self._ends.size * TILTS),
                (often, 0.25, len(_LEVELS) * TILTS // 2),
                *([] if history.shuffles else [(NEVER, 0.3, TILTS // 2)]),
                *([] if history.shuffles else [(SINGLE, SHARE_SINGLE, ODDS.size)]),
            ]
        )
        self._single = SingleRecords(n)

    def observe(self, batch: Batch) -> None:
        """Adds the next batch, which the history does not have yet."""
        history = self.history
        gains = []
        for marked in self._numbered:
            pool, many, size, seen = _overlap(history, marked, batch)
            k, law = hypergeometric(pool, many, size)
            gains += [tilted(k, law, float(seen)), sharpened(k, law, float(seen), POWER)]
        self.wagers.gain(NUMBERED, np.concatenate(gains))
        self.wagers.gain(ENDS, self._of_ends(batch).ravel())
        mean, spread = float(history.early.mean()), float(history.early.std())
        levels = [history.early > mean + level * spread for level in _LEVELS]
        often = [_marked_wagers(history, marked, batch)[HIGHER] for marked in levels]
        self.wagers.gain(self._often, np.concatenate(often))
        if not history.shuffles:
            never = history.counts == 0
            self.wagers.gain(NEVER, _marked_wagers(history, never, batch)[LOWER])
            self.wagers.gain(SINGLE, self._single.gained(batch))

    def _of_ends(self, batch: Batch) -> NDArray[np.float64]:
        """Log-ratios (ends, TILTS): each record is in the batch as the claim says, or not."""
        slopes, totals = tilts(*hypergeometric(self.history.left, 1, batch.size))
        come = np.isin(self._ends, batch)[:, None]
        # what the epoch has had already cannot come
        waits = self.history.pool[self._ends][:, None]
        return np.asarray(np.where(waits, slopes * come - totals, 0.0))

    @property
    def oddest_end(self) -> int:
        """The record at an end whose rate is refuted most."""
        return int(self._ends[self.wagers.best(ENDS) // TILTS])


class SingleRecords:
    """Of each of `ODDS` the mean over all records of wagers that this one comes with these odds."""

    def __init__(self, records: int) -> None:
        self._counts = np.zeros(records, dtype=np.int64)
        self._expected, self._values = np.zeros(ODDS.size), np.zeros(ODDS.size)

    def gained(self, batch: Batch) -> NDArray[np.float64]:
        """What the next batch adds to the logs (odds,) of the means, where any record may come."""
        records, before = self._counts.size, self._values
        self._counts[batch] += 1
        self._expected += single_expected(batch.size / records)
        times = np.bincount(self._counts)
        some = np.flatnonzero(times)
        each = some * np.log(ODDS)[:, None] + np.log(times[some] / records)
        self._values = np.logaddexp.reduce(each, axis=1) - self._expected
        return np.asarray(self._values - before)


def single_expected(rate: float) -> NDArray[np.float64]:
    """What makes `ODDS` of a record of this rate a law again: natural logs (odds,)."""
    return np.asarray(np.log1p(rate * (ODDS - 1.0)))


class DependenceEvidence:
    """Wagers that a batch depends on others, or that records of a batch depend on each other."""

    def __init__(self, history: History) -> None:
        self.history, epoch = history, history.of.epoch
        self._windows = windows(epoch)
        self._lags = sorted({2, 3, epoch - 1, epoch, epoch + 1} - {0, 1, -1})
        self.copies, self.pairs = CopyWager(), PairWagers(history)
        self.wagers = Wagers(
            [
                (SINCE, SHARE_SINCE, (len(self._windows) + 1) * TILTS),
                (LAGGED, 0.2, len(self._lags) * TILTS),
                (COPIED, SHARE_COPIED, 1),
                (PAIRED, 0.15, 1),
                (BLOCKS, 0.1, TILTS),
                (WAITED, 0.05, 2 * TILTS),
            ]
        )

    def observe(self, batch: Batch) -> None:
        """Adds the next batch, which the history does not have yet."""
        history, gain = self.history, self.wagers.gain
        gain(SINCE, np.concatenate([_marked_wagers(history, m, batch) for m in self._since()]))
        gain(LAGGED, np.concatenate([self._lagged(lag, batch) for lag in self._lags]))
        gain(COPIED, np.array([self.copies.ratio(history, batch)]))
        gain(PAIRED, np.array([self.pairs.gained(batch)]))
        gain(WAITED, np.concatenate([_marked_wagers(history, m, batch) for m in self._waited()]))
        ranks = history.ranks(batch)
        broken = float(np.count_nonzero(np.diff(ranks) > 1) + 1)
        gain(BLOCKS, tilted(*runs(history.left, batch.size), broken))

    def _since(self) -> Iterator[Marked]:
        history = self.history
        for window in self._windows:
            yield history.last >= max(0, history.steps - window)
        yield history.counts > 0

    def _waited(self) -> Iterator[Marked]:
        """The records that came last so long ago as no other, and so few of them as `_WAITING`."""
        last = self.history.last
        few = last.size // _WAITING
        for at in (0, few):
            yield last <= np.partition(last, at)[at]

    def _lagged(self, lag: int, batch: Batch) -> NDArray[np.float64]:
        history = self.history
        if lag > history.steps:
            return np.zeros(TILTS)
        earlier = np.zeros(history.of.records, dtype=np.bool_)
        earlier[history.past[-lag]] = True
        return _marked_wagers(history, earlier, batch)
