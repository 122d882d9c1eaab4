"""Evidence that labels of one histogram repeat, or avoid, earlier ones, also after a restart."""

from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from ...reference.arrays import Matrix, Vector
from .mixture import EvenMixture, log_mixture_of
from .outcomes import Outcomes, count_outcomes, log_supremum_ratio

LONGEST = 1 << 14
"""The largest distance at which repetitions are looked for."""

SHARES = np.array([0.999, 0.5, 0.1, 0.02])
"""Probabilities that a label is a copy, which are wagered on."""

AVOIDED = np.array([0.9, 0.4])
"""Relative reductions of the chance of an equal label: negated noise, strata."""

WAGERS = SHARES.size + AVOIDED.size
"""Number of wagers at each distance: copies first, then avoidance."""

SEGMENT = 1 << 16
"""Labels that are compared with each other at a time, which bounds time and memory."""

FOLLOWED = 16
"""How many of the likeliest labels are looked at; copies of others are not wagered on."""

_HARMONIC = float(np.sum(1.0 / np.arange(1, LONGEST + 1)))


def log_lag_weights() -> Vector:
    """Log prior weights (LONGEST,) of distances 1, 2, ..., inversely proportional to them."""
    return np.asarray(-np.log(np.arange(1, LONGEST + 1)) - np.log(_HARMONIC))


_LOG_WEIGHTS = log_lag_weights() - np.log(WAGERS)
_LOG_REST = np.log(np.maximum(1.0 - np.cumsum(np.r_[0.0, np.exp(log_lag_weights())]), 1e-300))


class Repetition:
    """Likelihood ratios of "a label copies, or avoids, the one `distance` before it".

    log_q: the null's log-probabilities (o,) of the labels of one histogram. A copy: with
    probability `share` the label at time t is that of time t - distance, and a fresh draw
    otherwise. Avoidance by r: the chance of the label of time t - distance is multiplied by 1 - r,
    and the law renormalised. Each is a ratio of predictive laws, hence a martingale in t for every
    wager and distance.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_q = log_q
        self.followed = np.argsort(-log_q)[:FOLLOWED]
        q = np.exp(log_q[self.followed])
        # log-ratios, by the earlier label: of a label that differs from it, and of an equal one
        shares, avoided = SHARES[:, None], AVOIDED[:, None]
        copied = np.log1p(-shares) * np.ones_like(q)
        other = -np.log1p(-avoided * np.minimum(q, 1.0 - 1e-12))
        self._differs = np.concatenate([copied, other])
        equal = np.log1p(-shares + shares / np.maximum(q, 1e-300))
        self._gain = np.concatenate([equal, other + np.log1p(-avoided)]) - self._differs
        self._finished = np.zeros((WAGERS, 0))
        self._labels = np.zeros(0, dtype=np.int64)
        self.log_ratios = np.zeros((WAGERS, 0))

    def observe(self, outcomes: Outcomes) -> None:
        """Adds labels in order, as outcomes (n,)."""
        while outcomes.size:
            room = SEGMENT - self._labels.size
            self._labels = np.concatenate([self._labels, outcomes[:room]])
            outcomes = outcomes[room:]
            self.log_ratios = _add(self._finished, self._segment())
            if self._labels.size == SEGMENT:
                self._finished = self.log_ratios
                self._labels = self._labels[:0]

    def _segment(self) -> Matrix:
        """Log-ratios (wagers, distances) of the labels in the current segment."""
        n = self._labels.size
        length = next_fast_len(2 * n, real=True)
        spectrum = np.zeros((WAGERS, length // 2 + 1))
        differs = np.zeros((WAGERS, n))
        for i, outcome in enumerate(self.followed):
            seen = (self._labels == outcome).astype(np.float64)
            if seen.any():
                differs += self._differs[:, i, None] * seen
                spectrum += self._gain[:, i, None] * np.square(np.abs(rfft(seen, length)))
        distances = min(n - 1, LONGEST)
        gained = irfft(spectrum, length)[:, 1 : distances + 1]
        # at distance d all labels but the last d are followed by one that may differ
        before = np.cumsum(differs, axis=1)[:, ::-1][:, 1 : distances + 1]
        return np.asarray(gained + before)

    def share(self, distance: int) -> float | None:
        """The likeliest share of copies at a distance, of the last labels; None where none is.

        By how many labels equal that one, less those that are equal anyway.
        """
        later, before = self._labels[distance:], self._labels[:-distance]
        if not later.size:
            return None
        by_chance = float(np.exp(self.log_q)[before].mean())
        copied = (float((later == before).mean()) - by_chance) / max(1.0 - by_chance, 1e-9)
        return copied if 0.0 < copied < 1.0 else None

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over wagers and distances."""
        return log_mixture(self.log_ratios)


def log_mixture(log_ratios: Matrix) -> float:
    """Log e-value of ratios (wagers, distances); those of longer distances are still 1."""
    distances = log_ratios.shape[1]
    if distances == 0:
        return 0.0
    known = log_mixture_of(log_ratios, _LOG_WEIGHTS[:distances])
    return float(np.logaddexp(known, _LOG_REST[distances]))


def _add(one: Matrix, other: Matrix) -> Matrix:
    """The sum of log-ratios, where missing distances count as 0."""
    wide, narrow = (one, other) if one.shape[1] >= other.shape[1] else (other, one)
    total = wide.copy()
    total[:, : narrow.shape[1]] += narrow
    return total


_POWERS = tuple(2**k for k in range(1, 14))
_ROUND = (3, 5, 6, 7, 10, 12, 20, 24, 25, 50, 60, 100, 200, 250, 500, 1000, 2000, 5000, 10_000)
PERIODS = tuple(sorted({*_POWERS, *_ROUND}))
"""Periods that are wagered on: powers of two, and round numbers."""

_PERIODIC = 0.999  # probability that a label at such a place is a copy
_STARTS = np.concatenate([[0], np.cumsum(PERIODS)[:-1]])
_LOG_PHASES = -np.log(np.repeat(PERIODS, PERIODS)) - np.log(len(PERIODS))


class Periodic:
    """Likelihood ratios of "at these places a label copies the one before it".

    There is one per period and phase. Places count all labels of a run, whatever their histogram,
    as a counter inside the target would. First labels of calls are not wagered on: the label before
    may be of another histogram, and a target may keep nothing between calls.
    """

    def __init__(self) -> None:
        self._place = 0
        self._ratios = np.zeros(sum(PERIODS))  # the phases of all periods, one after the other

    def observe(
        self, outcomes: Outcomes, log_q: Vector, calls: tuple[int, ...] | None = None
    ) -> None:
        """Adds consecutive labels of one histogram: outcomes (n,), the null's log-laws (o,).

        calls: sizes of the calls that gave them, None for one call.
        """
        gain = np.log1p(-_PERIODIC + _PERIODIC / np.maximum(np.exp(log_q), 1e-300))
        same = outcomes[1:] == outcomes[:-1]
        ratios = np.where(same, gain[outcomes[1:]], np.log1p(-_PERIODIC))
        places = self._place + np.arange(1, outcomes.size)
        if calls is not None:
            follows = np.ones(outcomes.size, dtype=bool)
            follows[np.cumsum(calls)[:-1]] = False
            ratios, places = ratios[follows[1:]], places[follows[1:]]
        for start, period in zip(_STARTS, PERIODS, strict=True):
            added = np.bincount(places % period, weights=ratios, minlength=period)
            self._ratios[start : start + period] += added
        self._place += outcomes.size

    def skip(self, labels: int) -> None:
        """Counts labels on which nothing is wagered."""
        self._place += labels

    @property
    def log_e_value(self) -> float:
        """Log of the mean over periods, and over the phases of each."""
        return log_mixture_of(self._ratios, _LOG_PHASES)

    @property
    def heaviest(self) -> int:
        """The period with most evidence."""
        return int(np.repeat(PERIODS, PERIODS)[self._ratios.argmax()])


FIRST = 0.75
"""Prior weight of a copy of the first labels (a fixed seed); the rest is spread evenly."""

ALL_COPIED = 0.7
"""Prior weight of a copy of all labels, as with a generator, or an input, that fixes the seed."""

_LOG_SHARES = np.log([ALL_COPIED, 0.1, 0.1, 0.1])
assert _LOG_SHARES.size == SHARES.size

CHANCES = np.array([0.3, 0.05])
"""Probabilities that a start begins like an earlier one: few seeds in rotation, or many."""


class Replay:
    """E-value for "labels copy a window of earlier ones" against fresh draws of any one law.

    The window begins anywhere in `earlier`; beyond its end labels are fresh. The likelihood is
    divided by its supremum over all laws of `again` (universal inference), so that the expectation
    given `earlier` is at most 1 whatever the law of a label. earlier: outcomes (m,) of one
    histogram, in order, m > 0; again: outcomes (n,) of the same histogram after a restart; log_q:
    the claimed log-probabilities (o,).
    """

    def __init__(self, earlier: Outcomes, again: Outcomes, log_q: Vector) -> None:
        self._ratios = _ratios_of_windows(earlier, again, log_q)
        self._misfit = log_supremum_ratio(count_outcomes(again, log_q.size), log_q)

    @cached_property
    def log_e_value(self) -> float:
        """Log of the mixture over windows and shares."""
        windows = self._ratios.shape[1]
        weights = np.full(windows, np.log((1.0 - FIRST) / max(windows - 1, 1)))
        weights[0] = np.log(FIRST) if windows > 1 else 0.0
        return log_mixture_of(self._ratios, weights + _LOG_SHARES[:, None]) - self._misfit

    @property
    def window(self) -> int:
        """Index in `earlier` at which the window with most evidence begins."""
        return int(np.argmax(self._ratios.max(0)))


class Recurrence(EvenMixture):
    """E-process for "a start begins with the labels of an earlier start".

    log_q: the claimed log-probabilities (o,) of the histogram asked first in every start. Which
    earlier start is repeated, and with which share of its labels, is a mixture, uniform over
    starts. The likelihood of each start is divided by its supremum over all laws, as in `Replay`,
    so that its ratio has expectation at most 1 given the starts before.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_q = log_q
        self._starts: list[Outcomes] = []
        self.gains = np.zeros(CHANCES.size)

    def observe(self, first: Outcomes) -> None:
        """Adds the first outcomes (n,) of a start, n > 0."""
        if self._starts:
            ratios = [_ratios_of_windows(start, first, self.log_q)[:, :1] for start in self._starts]
            weights = _LOG_SHARES[:, None] - np.log(len(ratios))
            copied = log_mixture_of(np.hstack(ratios), weights)
            copied -= log_supremum_ratio(count_outcomes(first, self.log_q.size), self.log_q)
            self.gains += np.logaddexp(np.log1p(-CHANCES), np.log(CHANCES) + copied)
        self._starts.append(first)


def _ratios_of_windows(earlier: Outcomes, again: Outcomes, log_q: Vector) -> Vector:
    """Log-ratios (shares, m) of a copy of the window from each index, against draws of log_q."""
    q = np.maximum(np.exp(log_q[again]), 1e-300)
    cost = np.log1p(-SHARES)[:, None]
    gain = np.log1p(-SHARES[:, None] + SHARES[:, None] / q) - cost  # of a copy that is seen
    beyond = np.full(again.size, -1, dtype=np.int64)  # no label
    windows = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([earlier, beyond]), again.size
    )
    windows = windows[: earlier.size]
    compared = np.minimum(again.size, earlier.size - np.arange(earlier.size))
    return np.asarray(gain @ (windows == again).T + cost * compared)


def log_e_value_again(log_q: Vector, same: Vector) -> float:
    """Log e-value for "a share of answers is not drawn anew" against draws of the claimed law.

    log_q: claimed log-probabilities (n,) of the kept answers, one per input; same: whether (n,)
    the answer after the store was emptied equals the kept one. If a new answer is a copy with
    probability s, the ratio is 1 - s + s [same] / q. Its expectation is 1 - s + s q / q = 1 where
    the new answer has the claimed law, independently of the kept one. The product over inputs is
    averaged over shares s with fixed weights.
    """
    shares = SHARES[:, None]
    gains = np.where(same, shares / np.maximum(np.exp(log_q), 1e-300), 0.0)
    return log_mixture_of(np.log(1.0 - shares + gains).sum(-1), _LOG_SHARES)
