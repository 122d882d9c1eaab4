"""Wagers on how often keys are released: exact ratios of Bernoulli laws.

Under the claim each key of each release is there with a probability that its count alone decides.
An alternative names another probability for every key beforehand, so that its ratio has expectation
exactly 1 for every input, whichever inputs are chosen for whatever came before.

Wagers that whether one key is released tells of another, whatever the rates of release.

Some pairs of draws, A beside B, make a two-by-two table: how often each was released, and how often
both. Where the draws of A have one law, those of B another, and all are independent, the number of
times that both were released is hypergeometric, given how often each was, whatever the rates
(Fisher's exact test). With odds ratio theta it has Fisher's noncentral law, and the ratio of the
two laws has expectation 1. So a wrong rate of release is never taken for noise that is used twice.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb, logsumexp, ndtri

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import ThresholdedHistogram
from ....evidence.mixture import EvenMixture, log_mean_of
from ....evidence.power import MISSES
from ....findings.note import Note
from ...numbers.evidence.faults import LEAK, with_leak
from .key_faults import BOTH_ODDS, BOTH_RATES, KeyFault, claimed_law, key_faults

_KEPT = 64  # inputs whose tables are kept


class KeyEvidence:
    """Average over groups of draws of wagers on known faults; half of it is on all draws.

    groups: how many groups there may be at most beside all draws, which share half of the wager.
    """

    def __init__(self, claimed: ThresholdedHistogram, groups: int) -> None:
        self._law, self.faults, self._most = claimed_law(claimed), key_faults(claimed), groups
        self._kept: dict[bytes, Matrix] = {}
        self.all = np.zeros(len(self.faults))
        self.groups: dict[str, Vector] = {}
        self._tallies: dict[tuple[str | None, float], Vector] = {}
        self.forbidden: Note | None = None
        """The first release that the claim forbids, in words; None until one is seen."""

    def observe(
        self,
        counts: Vector,
        seen: Sequence[Vector],
        names: Sequence[str] = (),
        places: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Adds releases of one input.

        counts: exact (k,); seen: how often each key was released (k,), and how often not; names:
        of the groups to which all these draws belong; places: groups of one key each. Raises
        ValueError for more groups than were announced.
        """
        if self.forbidden is None:
            self.forbidden = _forbidden(counts, seen, *self._law(counts))
        different, where = np.unique(counts, return_inverse=True)  # the count alone decides
        tables, total = self._tables(different), np.zeros(len(self.faults))
        tallies = [np.bincount(where.ravel(), times, different.size) for times in seen]
        for table, tally in zip(tables, tallies, strict=True):
            total += table @ tally
        self._tally(names, different, np.stack(tallies, axis=1))
        self.all += total
        for name in names:
            self._add(name, total)
        for name, key in places.items():
            one, other = (table[:, where.ravel()[key]] for table in tables)
            self._add(name, one * seen[0][key] + other * seen[1][key])
            self._tally([name], counts[key : key + 1], np.array([[seen[0][key], seen[1][key]]]))

    def _tally(self, groups: Sequence[str], counts: Vector, seen: Matrix) -> None:
        """Adds how often keys of these counts (k,) were released, and not (k, 2)."""
        for count, times in zip(counts.tolist(), seen, strict=True):
            for group in (None, *groups):
                self._tallies[group, count] = self._tallies.get((group, count), 0.0) + times

    def oddest(self, group: str | None) -> tuple[float, int, int, float]:
        """The count whose keys' rate of release tells most against the claim, in a group.

        group: None for all draws. Returns the count, how many keys of it were released, how many
        there were, and how many releases the claim expects.
        """
        counts, seen = self.rates(group)
        total = seen.sum(1)
        claimed = np.stack(self._law(counts), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = np.where(seen > 0, seen * (np.log(seen / total[:, None]) - claimed), 0.0)
        worst = int(np.argmax(gains.sum(1)))
        came, expected = seen[worst, 0], total[worst] * math.exp(claimed[worst, 0])
        return float(counts[worst]), int(came), int(total[worst]), float(expected)

    def rates(self, group: str | None) -> tuple[Vector, Matrix]:
        """The counts (k,) in a group, and how often their keys were released, and not (k, 2)."""
        tallies = [(count, seen) for (name, count), seen in self._tallies.items() if name == group]
        return np.array([c for c, _ in tallies]), np.array([s for _, s in tallies])

    def _add(self, group: str, gains: Vector) -> None:
        if group not in self.groups and len(self.groups) == self._most:
            raise ValueError(f"group {group!r}: more than {self._most} groups")
        self.groups[group] = self.groups.get(group, np.zeros(len(self.faults))) + gains

    def _tables(self, counts: Vector) -> Matrix:
        """Gains (2, faults, k) of each fault by a key of this count that is released, or is not.

        Nothing by what the claim rules out, which is a proof by itself. Kept: inputs come again in
        every call.
        """
        asked = counts.tobytes()
        if asked not in self._kept:
            if len(self._kept) == _KEPT:
                self._kept.clear()
            tables = self._kept[asked] = np.zeros((2, len(self.faults), counts.size))
            null = self._law(counts)
            for place, fault in enumerate(self.faults):
                for table, claimed, other in zip(tables, null, fault.law(counts), strict=True):
                    some = claimed > -np.inf
                    table[place, some] = with_leak(other[some] - claimed[some])
        return self._kept[asked]

    @property
    def log_e_value(self) -> float:
        """Infinite once something came that the claim forbids."""
        if self.forbidden is not None:
            return math.inf
        logs = [log_mean_of(self.all) - math.log(2.0)]
        share = math.log(2.0 * self._most)
        logs += [log_mean_of(gains) - share for gains in self.groups.values()]
        waiting = 0.5 * (1.0 - len(self.groups) / self._most)
        if waiting > 0:
            logs.append(math.log(waiting))
        return float(np.logaddexp.reduce(logs))

    def gained_if_bare(self, count: float, counts: Vector, keys: Vector) -> float:
        """Nats of the wager that keys from `count` on have no noise, where they have none.

        counts (k,): of keys, of which there were so many (k,).
        """
        above = counts >= count
        withheld = np.exp(self._law(counts[above])[1])
        return float(keys[above] @ with_leak(-np.log1p(-withheld)))

    @property
    def handicap(self) -> float:
        """Nats that a single fault pays for being one of many, looked for in a single group."""
        return math.log(2.0 * self._most * len(self.faults))

    def worst(self) -> tuple[str | None, KeyFault, float]:
        """Where it shows most (None for all draws), the likeliest fault, and its log-ratio."""
        name, gains = None, self.all
        for group, found in self.groups.items():
            if found.max() - math.log(self._most) > gains.max():
                name, gains = group, found
        best = int(np.argmax(gains))
        return name, self.faults[best], float(gains[best])


def _forbidden(
    counts: Vector, seen: Sequence[Vector], released: Vector, withheld: Vector
) -> Note | None:
    """A key that is there or not although the claim rules it out."""
    came = (seen[0] > 0) & (released == -np.inf)
    missed = (seen[1] > 0) & (withheld == -np.inf)
    if came.any():
        key = int(np.argmax(came))
        empty = "which is empty" if counts[key] == 0 else f"of count {counts[key]:g}"
        code = "empty-partition-released" if counts[key] == 0 else "release-impossible"
        message = f"key {key}, {empty}, was released: the claim never gives it"
        return Note(code, message, {"key": key, "count": float(counts[key])})
    if missed.any():
        key = int(np.argmax(missed))
        fields = {"key": key, "count": float(counts[key])}
        of = f"key {key}, of count {counts[key]:g},"
        message = f"{of} was not released: the claim always gives it"
        return Note("keys-left-out", message, fields)
    return None


def draws_to_see(rate: float, other: float, nats: float, *, alone: bool = False) -> float:
    """Draws after which a key released at rate `other` shows with probability 0.99.

    alone: whether it is one of a single record. That is, one of the wagers that are made on such
    keys has reached `nats`, by the mean and variance of what it gains; infinite where none grows.
    """
    wagered = np.array([rate * odds / (rate * odds + 1.0 - rate) for odds in BOTH_ODDS])
    if alone:
        wagered = np.append(wagered, np.minimum(rate * np.array(BOTH_RATES), 1.0 - 1e-6))
    gain = np.log(LEAK + (1.0 - LEAK) * wagered / rate)
    loss = np.log(LEAK + (1.0 - LEAK) * (1.0 - wagered) / (1.0 - rate))
    mean = other * gain + (1.0 - other) * loss
    deviation = np.abs(gain - loss) * math.sqrt(other * (1.0 - other))
    grows = mean > 0.0
    if not grows.any():
        return math.inf
    mean, deviation = mean[grows], 2.33 * deviation[grows]
    roots = (deviation + np.sqrt(np.square(deviation) + 4.0 * mean * nats)) / (2.0 * mean)
    return float(np.square(roots).min())


def seen_rate(rate: float, draws: float, nats: float) -> float | None:
    """The smallest rate above `rate` of keys of one record that so many draws show.

    None where not even 1/2 does.
    """
    for factor in np.geomspace(1.01, 0.5 / rate, 2_000) if rate < 0.49 else ():
        if draws_to_see(rate, float(factor * rate), nats, alone=True) <= draws:
            return float(factor * rate)
    return None


CORRELATIONS = np.array([-0.95, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 0.95])
"""Correlations that are wagered on, of two keys that are each released half of the time."""

_LOG_ODDS = 2.0 * np.log((1.0 + CORRELATIONS) / (1.0 - CORRELATIONS))
_PAIRS = 16  # of a table
_COMPARED, _BLOCKS = 150, 1_000  # keys of which any two are compared, and blocks of `_PAIRS`


def tells(rate: Vector) -> NDArray[np.bool_]:
    """Whether rates (k,) are such that pairs show a correlation: what is rare does not."""
    return np.asarray((rate > 0.02) & (rate < 0.98))


class TogetherEvidence(EvenMixture):
    """Average over correlations, of tables that have no draw in common.

    telling: what the tables can tell, in pairs of pairs of which one alone has each key released;
    pair: the two keys that tell of each other most, in words, empty where all pairs count together.
    """

    pair = ""

    def __init__(self) -> None:
        self.gains = np.zeros(CORRELATIONS.size)
        self._variance = 0.0

    def observe(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> None:
        """Adds pairs (n, k): whether each key was released.

        Either all draws are fresh, or those of `one` are older: then too those of `other` can be
        exchanged with each other, given all that was seen before.
        """
        for start in range(0, len(one), _PAIRS):
            here, there = one[start : start + _PAIRS], other[start : start + _PAIRS]
            pairs, both = len(here), (here & there).sum(0)
            first, second = here.sum(0), there.sum(0)
            if pairs < 2:
                continue
            scale = _log_means(pairs)[:, first, second]
            self.gains += (_LOG_ODDS[:, None] * both - scale).sum(1)
            spread = first * (pairs - first) * second * (pairs - second)
            self._variance += float(spread.sum()) / (pairs * pairs * (pairs - 1.0))

    @property
    def telling(self) -> int:
        """How much the tables can tell, in fours: two pairs that differ have a variance of 1/4."""
        return int(4.0 * self._variance)

    @property
    def best(self) -> float:
        """The correlation that explains the pairs best."""
        return float(CORRELATIONS[int(np.argmax(self.gains))])


class EveryTwo(EvenMixture):
    """Average over any two of some keys, and over correlations; each two have tables of their own.

    width: how many keys a release may have; of many some are compared, the first and others evenly
    spread.
    """

    def __init__(self, width: int) -> None:
        self.keys = np.arange(min(width, _COMPARED))
        if width > _COMPARED:
            half = _COMPARED // 2
            self.keys[half:] = np.linspace(half, width - 1, _COMPARED - half)
        self.gains = np.zeros((CORRELATIONS.size, self.keys.size, self.keys.size))
        self._blocks = 0

    @property
    def pairs(self) -> int:
        """How many pairs of keys are compared."""
        return self.keys.size * (self.keys.size - 1) // 2

    def observe(self, there: NDArray[np.bool_], rates: Vector) -> None:
        """Adds releases (n, k) of one input: whether each key was there; rates (k,) as claimed."""
        places = np.flatnonzero(tells(rates[self.keys]))
        one, other = np.triu_indices(places.size, 1)
        for start in range(0, len(there), _PAIRS) if one.size else ():
            here = there[start : start + _PAIRS, self.keys[places]].astype(np.int64)
            if len(here) < 2 or self._blocks == _BLOCKS:
                continue
            self._blocks += 1
            came, both = here.sum(0), here.T @ here
            gains = _LOG_ODDS[:, None] * both[one, other]
            gains -= _log_means(len(here))[:, came[one], came[other]]
            self.gains[:, places[one], places[other]] += gains

    @property
    def log_e_value(self) -> float:
        one, other = np.triu_indices(self.keys.size, 1)
        return log_mean_of(self.gains[:, one, other].ravel())

    @property
    def _heaviest(self) -> tuple[int, ...]:
        return tuple(int(i) for i in np.unravel_index(self.gains.argmax(), self.gains.shape))

    @property
    def best(self) -> float:
        """The correlation that explains the likeliest pair best."""
        return float(CORRELATIONS[self._heaviest[0]])

    @property
    def pair(self) -> str:
        """The likeliest two keys, in words."""
        _, one, other = self._heaviest
        return f"keys {self.keys[one]} and {self.keys[other]} of a release"


def foreseen(one: Vector, other: Vector, pairs: int) -> float:
    """What so many pairs add to `TogetherEvidence.telling`, in expectation; rates (k,) of keys."""
    whole, rest = divmod(pairs, _PAIRS)
    freedom = whole * (_PAIRS - 1) + max(0, rest - 1)
    return float(4.0 * freedom * (one * (1.0 - one) * other * (1.0 - other)).sum())


def seen_correlation(fours: int, nats: float) -> float | None:
    """The least correlation, in hundredths, that tables show which can tell so many fours.

    Of keys that are each released half of the time, as all pairs count by what they can tell. With
    probability `1 - MISSES` a wager gains `nats`, by mean and variance, taken to be normal.
    """
    wagered, true = CORRELATIONS[CORRELATIONS > 0.0], np.arange(1, 96)[:, None] / 100.0
    alike, apart = np.log1p(wagered), np.log1p(-wagered)  # what a pair gains
    mean = 0.5 * ((1.0 + true) * alike + (1.0 - true) * apart)
    deviation = 0.5 * np.sqrt(1.0 - true * true) * (alike - apart)
    gained = 4 * fours * mean + ndtri(MISSES) * np.sqrt(4 * fours) * deviation
    seen = np.flatnonzero((gained >= nats + np.log(CORRELATIONS.size)).any(1))
    return float(true[seen[0], 0]) if seen.size else None


@cache
def _log_means(pairs: int) -> NDArray[np.float64]:
    """Log-means (8, pairs + 1, pairs + 1) of theta^both, by how often each was released."""
    found = np.empty((_LOG_ODDS.size, pairs + 1, pairs + 1))
    for first in range(pairs + 1):
        for second in range(pairs + 1):
            both = np.arange(max(0, first + second - pairs), min(first, second) + 1)
            ways = comb(first, both) * comb(pairs - first, second - both) / comb(pairs, second)
            found[:, first, second] = logsumexp(_LOG_ODDS[:, None] * both, axis=1, b=ways[None, :])
    return found
