"""Wagers on batches that come again, and on two records that come together."""

import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from ....reference.batches import log_choose
from ...evidence.mixture import log_mixture_of
from .history import Batch, History

_APART = 0.05  # chance that two records that belong together are drawn by themselves
_MOST = 500  # pairs that are followed at once
_NEW = 20  # pairs that a batch may add
_CHANCE = 2.0  # logs of the number of records: what makes two of all alike by chance


class CopyWager:
    """A wager that the next batch is one of the earlier ones, the nearer the likelier.

    The chance of a copy is 1 / (t + 2) at step t, shared by lags k as 1 / (k (k + 1)); what falls
    to lags whose batch has another size, or is not in the pool, is lost.
    """

    def __init__(self) -> None:
        self._steps: dict[bytes, list[int]] = defaultdict(list)
        self.found: tuple[int, int] | None = None
        """The numbers, from 1, of the last batch that came before, and of that earlier one."""

    def ratio(self, history: History, batch: Batch) -> float:
        """The log-ratio for the next batch, which the history does not have yet."""
        step = history.steps
        earlier = self._steps[np.sort(batch).tobytes()]
        log_ratio = math.log1p(-1.0 / (step + 2.0))
        if earlier:
            lags = step - np.array(earlier, dtype=np.float64)
            log_copies = math.log(float((1.0 / (lags * (lags + 1.0))).sum()) / (step + 2.0))
            log_copies += float(log_choose(history.left, batch.size))
            log_ratio = float(np.logaddexp(log_ratio, log_copies))
            self.found = (step + 1, earlier[-1] + 1)
        earlier.append(step)
        return log_ratio


class PairWagers:
    """Wagers on pairs of records with the same batches so far, each from when it is seen first.

    The k-th pair that is ever followed has the weight 1 / (k (k + 1)), whatever it will show.
    """

    def __init__(self, history: History) -> None:
        self.history, n = history, history.of.records
        self._words = np.random.default_rng(0)  # a word for each batch, to tell patterns apart
        self._pattern = np.zeros(n, dtype=np.uint64)
        self._alike = np.zeros(n)  # how unlikely the batches of a record are for another one
        self.pairs = np.zeros((0, 2), dtype=np.int64)
        self._logs = np.zeros(0)
        self._tried: set[tuple[int, int]] = set()
        self._value = 0.0

    def gained(self, batch: Batch) -> float:
        """What the next batch, which the history does not have yet, adds to the log of the mean."""
        history, before = self.history, self._value
        member = np.zeros(history.of.records, dtype=np.bool_)
        member[batch] = True
        if len(self.pairs):
            self._logs += self._ratios(member, batch.size)
        self._value = self._log_mean()
        self._follow(batch)
        return self._value - before

    def _ratios(self, member: NDArray[np.bool_], size: int) -> NDArray[np.float64]:
        pool, come = self.history.left, member[self.pairs].sum(1)
        both = self.history.pool[self.pairs].all(1)
        out = pool - size
        ways = np.array([out * (out - 1.0), 2.0 * size * out, size * (size - 1.0)])
        law = ways / max(pool * (pool - 1.0), 1.0)
        joined = np.array([1.0 - size / pool, 0.0, size / pool])
        other = (1.0 - _APART) * joined + _APART * law
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(other) - np.log(law)
        return np.where(both, ratios[come], 0.0)

    def _log_mean(self) -> float:
        k = np.arange(1.0, self._logs.size + 1.0)
        logs = np.append(self._logs, 0.0)  # of those that are to come: 1
        weights = np.append(-np.log(k * (k + 1.0)), -math.log(self._logs.size + 1.0))
        return log_mixture_of(logs, weights)

    def _follow(self, batch: Batch) -> None:
        """Looks for new pairs among the records of a batch, by all batches with this one."""
        history = self.history
        rate = batch.size / history.left
        self._pattern[batch] ^= self._words.integers(1, 2**63, dtype=np.uint64)
        if not 0.0 < rate < 1.0:
            return
        self._alike[history.pool] -= math.log1p(-rate)
        self._alike[batch] += math.log1p(-rate) - math.log(rate)
        enough = _CHANCE * math.log(history.of.records)
        known = np.sort(batch[self._alike[batch] >= enough])
        if known.size < 2 or len(self.pairs) >= _MOST:
            return
        order = known[np.argsort(self._pattern[known], kind="stable")]
        same = np.flatnonzero(np.diff(self._pattern[order]) == 0)[:_NEW]
        new = [(int(order[i]), int(order[i + 1])) for i in same]
        new = [pair for pair in new if pair not in self._tried]
        if new:
            self._tried.update(new)
            self.pairs = np.concatenate([self.pairs, np.array(new)])
            self._logs = np.append(self._logs, np.zeros(len(new)))

    @property
    def likeliest(self) -> tuple[int, int] | None:
        """The two records that show most."""
        if not self._logs.size:
            return None
        one, other = self.pairs[int(np.argmax(self._logs))]
        return int(one), int(other)
