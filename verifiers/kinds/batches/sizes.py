"""Evidence on the sizes of batches that are drawn record by record."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ....reference.arrays import Vector
from ....reference.batches import Batches, log_binomial
from ...findings.note import Fields
from .wagers import Wagers, sharpened

RATES = np.array([0.25, 0.5, 0.8, 0.9, 0.95, 0.98, 1.02, 1.05, 1.1, 1.25, 2.0, 4.0])
SHARE_RATE = 0.35  # of the evidence, that is wagered on other rates
_POWERS = np.array([0.3, 0.6, 1.6, 4.0])
_FOLLOWS = ((1.0, 0.5), (1.0, -0.5), (0.1, 0.7), (0.02, 0.9))
"""How fast the mean of earlier sizes forgets, and how far the next size follows it."""

_ATOMS = (1.0, 20.0)  # weights of the claimed law beside sizes that came before
_RARE = (0.0005, 0.05)
"""How much of the law lies beyond the least size, or the largest, that may be the last to come."""

_MOST_CUTS = 16  # least sizes, and largest ones, that are tried
_STEPS = (2, 4, 8, 10)  # of which all sizes, but one in ten, may be multiples
_OF_A_STEP = 0.9
_SPAN = 14.0  # deviations around the mean in which a law is made sharper

RATE, DRIFT = "the rate is another", "the rate changes, or sizes follow each other"
MISSING = "some sizes do not come"
EVEN, AGAIN = "sizes spread less or more than they should", "a few sizes come again and again"


class SizeEvidence:
    """Wagers on sizes, which are binomial and independent under Poisson sampling."""

    def __init__(self, batches: Batches) -> None:
        self.n, self.rate = batches.records, batches.rate
        mean = self.n * self.rate
        span = _SPAN * max(1.0, np.sqrt(mean * (1.0 - self.rate)))
        low, high = max(0.0, np.floor(mean - span)), min(self.n, np.ceil(mean + span))
        self._window = np.arange(low, high + 1.0)
        self._law = log_binomial(self._window, self.n, self.rate)
        law = np.exp(self._law) / np.exp(self._law).sum()
        self._laws_with_gaps = np.array([*_cut_off(law), *_of_steps(self._window, law)])
        self.wagers = Wagers(
            [
                (RATE, SHARE_RATE, RATES.size),
                (DRIFT, 0.25, len(_FOLLOWS)),
                (EVEN, 0.07, _POWERS.size),
                (AGAIN, 0.25, len(_ATOMS)),
                (MISSING, 0.08, len(self._laws_with_gaps)),
            ]
        )
        self._means = np.full(len(_FOLLOWS), self.rate)
        self._rates = other_rates(self.rate)
        self.seen: Counter[int] = Counter()
        self.sizes: list[int] = []

    def observe(self, size: int) -> None:
        """Adds the size of the next batch."""
        steps = len(self.sizes)
        self.wagers.gain(RATE, self._against(size, self._rates))
        follow = np.array([share for _, share in _FOLLOWS])
        rates = self.rate + follow * (self._means - self.rate)
        self.wagers.gain(DRIFT, self._against(size, np.clip(rates, 1e-12, 1.0 - 1e-12)))
        within = self._window[0] <= size <= self._window[-1]
        even = np.full(_POWERS.size, -np.inf)
        gaps = np.full(len(self._laws_with_gaps), -np.inf)
        if within:
            even = sharpened(self._window, self._law, float(size), _POWERS)
            gaps = self._laws_with_gaps[:, size - int(self._window[0])]
        self.wagers.gain(EVEN, even)
        self.wagers.gain(MISSING, gaps)
        log_p = float(log_binomial(np.array(float(size)), self.n, self.rate))
        atoms = np.array(_ATOMS)
        with np.errstate(divide="ignore"):
            again = np.logaddexp(np.log(atoms), np.log(float(self.seen[size])) - log_p)
        self.wagers.gain(AGAIN, again - np.log(atoms + steps))
        forgets = np.array([speed for speed, _ in _FOLLOWS])
        self._means += forgets * (size / self.n - self._means)
        self.seen[size] += 1
        self.sizes.append(size)

    def missing(self) -> tuple[str, Fields]:
        """Which sizes do not come, by the wager on that which shows most."""
        best = self.wagers.best(MISSING)
        steps = best - len(self._laws_with_gaps) + len(_STEPS)
        if steps >= 0:
            step = _STEPS[steps]
            times = sum(size % step == 0 for size in self.sizes)
            words = f"{times:,} of {len(self.sizes):,} sizes are multiples of {step}"
            return words, {"multiples_of": step, "times": times}
        kept = self._window[np.isfinite(self._laws_with_gaps[best])]
        least = kept[0] > self._window[0]
        end = int(kept[0] if least else kept[-1])
        out = np.isneginf(self._laws_with_gaps[best])
        expected = len(self.sizes) * float(np.exp(self._law[out]).sum())
        side = "below" if least else "above"
        words = f"no batch has a size {side} {end:,}, where {expected:.1f} are expected"
        return words, {side: end, "expected": expected}

    def _against(self, size: int, rates: Vector) -> Vector:
        come, missed = rate_gains(self.rate, rates)
        return np.asarray(size * come + (self.n - size) * missed)


def _cut_off(law: Vector) -> Iterator[Vector]:
    """Log-ratios (n,) of a law from a size on, and up to one, to the law (n,); see `_RARE`."""
    for inwards, turn in ((law, 1), (law[::-1], -1)):
        beyond = np.append(0.0, np.cumsum(inwards)[:-1])  # of what lies before each size
        rare = np.flatnonzero((beyond >= _RARE[0]) & (beyond <= _RARE[1]))
        tried = np.linspace(0, rare.size - 1, min(rare.size, _MOST_CUTS)).round()
        for first in rare[tried.astype(np.int64)]:
            kept = np.arange(law.size) >= first
            with np.errstate(divide="ignore"):
                yield np.log(kept / inwards[kept].sum())[::turn]


def _of_steps(sizes: Vector, law: Vector) -> Iterator[Vector]:
    """Log-ratios (n,) to a law (n,) of one whose sizes are mostly multiples; see `_STEPS`."""
    for step in _STEPS:
        fits = sizes % step == 0
        share = float(law[fits].sum())
        yield np.log1p(_OF_A_STEP * (fits / share - 1.0)) if share else np.zeros(law.size)


def other_rates(rate: float) -> Vector:
    """The rates that are wagered on in place of a claimed one."""
    return np.asarray(np.clip(RATES * rate, 0.0, 1.0 - 0.5 * (1.0 - rate)))


def rate_gains(rate: float, rates: Vector) -> tuple[Vector, Vector]:
    """Log-ratios of other rates (n,) to a rate: of a record that comes, and of one that misses."""
    return np.log(rates / rate), np.log1p(-rates) - np.log1p(-rate)
