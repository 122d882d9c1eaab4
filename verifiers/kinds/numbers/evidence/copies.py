"""Wagers that noise is a copy of earlier noise, priced by the claim.

Correct noise repeats after about sqrt(pi scale / ulp) draws, so that a repeat alone proves nothing:
a wager gains the inverse of the probability that the claim gives to a match.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mixture_of
from ....evidence.power import MISSES

SHARES = np.array([0.999, 0.5, 0.1, 0.02])
"""Shares of draws that are copies, each a wager of its own."""

STARTS = (0, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16)
"""Draws after which copies may begin: a wager that began before them has lost as many times."""

_TELLING = math.log(4.0)  # what a copy gains at least, of those that a share is learned from
_ABREAST = 64  # first numbers of calls in flight, which are compared


class CopyEvidence:
    """A mixture of wagers over the shares (k,) of draws that are copies of given ones.

    starts: each share is wagered on from each of these draws on, by default from the first.
    """

    def __init__(self, shares: Vector = SHARES, starts: tuple[int, ...] = (0,)) -> None:
        self._shares, self._starts = shares, starts
        self._ratios = np.zeros((len(starts), shares.size))
        self.matches = self.draws = 0

    def observe(self, matched: NDArray[np.bool_], log_chance: Vector) -> None:
        """Adds draws: which (n,) are copies, and the log-chance of each of these (m,)."""
        missed = np.log1p(-self._shares)
        gains = np.logaddexp(missed[:, None], np.log(self._shares)[:, None] - log_chance)
        for number, start in enumerate(self._starts):
            skip = min(max(0, start - self.draws), matched.size)
            later = gains[:, int(matched[:skip].sum()) :]
            self._ratios[number] += later.sum(1) + (matched.size - skip - later.shape[1]) * missed
        self.matches += log_chance.size
        self.draws += matched.size

    @property
    def log_ratios(self) -> Vector:
        """Log-ratio of each wager (starts times shares,)."""
        return self._ratios.ravel()

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 where each draw is fresh."""
        return log_mixture_of(self.log_ratios, self.log_weights)

    @property
    def log_weights(self) -> Vector:
        """Log of the weight of each wager."""
        return np.full(self._ratios.size, -math.log(self._ratios.size))


def share_seen(chances: Vector, draws: int, nats: float) -> float | None:
    """The least share of draws whose copies `CopyEvidence` shows with probability 0.99.

    chances: log-chances (m,) of copies that are as likely as each other; nats: that one wager must
    reach. The sum of its log-ratios is taken to be normal. None where no share shows.
    """
    chance, missed = np.exp(chances), np.log1p(-SHARES)[:, None]
    gained = np.logaddexp(missed, np.log(SHARES)[:, None] - chances)
    for share in np.geomspace(0.01, 1.0, 60):
        often = share + (1.0 - share) * chance
        mean = (often * gained + (1.0 - often) * missed).mean(1)
        spread = (often * gained**2 + (1.0 - often) * missed**2).mean(1) - mean**2
        reached = draws * mean + float(ndtri(MISSES)) * np.sqrt(draws * np.maximum(spread, 0.0))
        if (reached >= nats).any():
            return float(share)
    return None


class LearnedCopies(CopyEvidence):
    """Copies that begin late; half of the wager is on the share of copies among earlier draws.

    honest: about the share of draws that match by chance. Draws may be put into groups before they
    are seen, and each group has a share of its own.
    """

    def __init__(self, honest: float = 0.0) -> None:
        super().__init__(starts=STARTS)
        self._honest, self.learned = honest, 0.0
        self._seen: dict[int, tuple[int, int]] = {}

    def observe(
        self,
        matched: NDArray[np.bool_],
        log_chance: Vector,
        groups: NDArray[np.int64] | None = None,
    ) -> None:
        """Groups (n,): one for all by default."""
        super().observe(matched, log_chance)
        groups = np.zeros(matched.size, dtype=np.int64) if groups is None else groups
        chance = np.zeros(matched.size)
        chance[matched] = log_chance
        for group in np.unique(groups).tolist():
            self._learn(group, matched[groups == group], chance[groups == group])

    def _learn(self, group: int, matched: NDArray[np.bool_], chance: Vector) -> None:
        """Each draw is wagered on with the share of the draws before it."""
        draws, copies = self._seen.get(group, (0, 0))
        telling = matched & (chance < (-_TELLING if not self._honest else 0.0))
        before = copies + np.cumsum(telling) - telling
        trials = draws + np.arange(matched.size)
        share = (before + 0.5 - self._honest * trials) / (trials + 1.0)
        share = np.clip(share, 0.5 / (trials + 1.0), 0.999)
        missed = np.log1p(-share)
        gains = np.where(matched, np.logaddexp(missed, np.log(share) - chance), missed)
        self.learned += float(gains.sum())
        self._seen[group] = (draws + matched.size, copies + int(telling.sum()))

    @property
    def log_ratios(self) -> Vector:
        """Log-ratio of each wager, that on the learned share last."""
        return np.append(super().log_ratios, self.learned)

    @property
    def log_weights(self) -> Vector:
        """Half of the weight is on the learned share."""
        return np.append(super().log_weights - math.log(2.0), -math.log(2.0))


class AbreastCopies(CopyEvidence):
    """Wagers that calls in flight together begin with the same noise, as workers of one seed do.

    Each call is compared with those asked before it in the same round, and with the first round of
    the run: a restarted target that begins with an earlier noise shows there. Each of these is as
    likely to be copied. A match is priced by the claim, and the whole beginning has to agree.
    """

    def __init__(self, noise: NumberNoise) -> None:
        super().__init__()
        self._noise, self._first = noise, list[Vector]()

    def take(self, calls: Sequence[tuple[Vector, Vector]], digits: int) -> None:
        """Adds a round of calls in the order asked, each as its released and exact numbers (m,)."""
        before = list(self._first)
        for released, exact in calls:
            y, x = released[:_ABREAST], exact[:_ABREAST]
            if before:
                self._compare(y, x, before, digits)
            before.append(y - x)
        self._first = self._first or before

    def _compare(self, y: Vector, x: Vector, before: Sequence[Vector], digits: int) -> None:
        size = min(y.size, *(copy.size for copy in before))
        copied = np.stack([copy[:size] for copy in before])
        shape = copied.shape
        found, chances = matches(
            self._noise,
            np.broadcast_to(y[:size], shape),
            np.broadcast_to(x[:size], shape),
            copied,
            digits,
        )
        prices = np.zeros(found.size)
        prices[found] = chances
        whole = np.all(found.reshape(shape), axis=1)
        gains = np.logaddexp.reduce(-prices.reshape(shape)[whole].sum(1)) - np.log(len(before))
        some = np.array([bool(whole.any())])
        self.observe(some, np.atleast_1d(-gains)[some])


def matches(
    noise: NumberNoise, released: Matrix, exact: Matrix, copied: Matrix, digits: int = 53
) -> tuple[NDArray[np.bool_], Vector]:
    """Which releases (n,) are an exact value plus noise seen before, and the log-chances of these.

    released, exact, copied: n numbers each (...), copied the earlier noise; digits: of the floats
    that carry the releases, 53 or 24. A match is fixed by the copy and the exact value, before the
    release is looked at: it is the value that the copy would make, rounded, clamped and carried as
    claimed, give or take what floats lose where nothing is rounded. At an end of the range the
    chance is that of all values that are clamped there.
    """
    sums = exact + copied
    if noise.cut:  # a sum with noise that was cut itself is whole, but for what floats lose
        nearest, lost = np.rint(sums), 4.0 * np.spacing(np.abs(exact) + np.abs(copied))
        sums = np.where(np.abs(sums - nearest) <= lost, nearest, sums)
    expected = noise.rounded(sums).ravel()
    if noise.grid or noise.family.whole:
        return _same(noise, released.ravel(), exact.ravel(), _carried(expected, digits), digits)
    off = np.abs(released.ravel() - expected)
    # widths take long, and grow with what they are of: most draws are far off for any
    found = off <= _near(noise, _largest(expected), _largest(copied), digits)
    place = np.flatnonzero(found)
    expected, exact, copied = expected[place], exact.ravel()[place], copied.ravel()[place]
    near = _near(noise, expected, copied, digits)
    room = 2.0 * near
    shift = expected - exact
    low, high = expected - near <= noise.low, expected + near >= noise.high
    chance = noise.family.log_mass(shift, room)
    chance = np.where(low, noise.family.log_cdf(shift + room), chance)
    chance = np.where(high, noise.family.log_survival(shift - room), chance)
    chance = np.where(low & high, 0.0, chance)
    certain = (off[place] <= near) & np.isfinite(chance)
    found[place] = certain
    return found, np.minimum(chance[certain], 0.0)


def _same(
    noise: NumberNoise, released: Vector, exact: Vector, expected: Vector, digits: int
) -> tuple[NDArray[np.bool_], Vector]:
    """Of rounded or whole noise (n,) a copy makes exactly the release itself."""
    found = np.abs(released - expected) <= 0.25 * (noise.grid or 1.0)
    place = np.flatnonzero(found)
    value, given = expected[place], released[place]
    half = noise.half_width(value, digits)
    # an end between two steps may lie near one of them: what is held there is no copy of that
    ends = zip(
        noise.held(given, noise.half_width(given, digits)), noise.held(value, half), strict=True
    )
    alike = np.all([one == other for one, other in ends], axis=0)
    place, value, half = place[alike], value[alike], half[alike]
    found[:] = False
    chance = noise.log_mass(value, exact[place], half)
    certain = np.isfinite(chance)
    found[place] = certain
    return found, np.minimum(chance[certain], 0.0)


def _carried(numbers: Vector, digits: int) -> Vector:
    """Numbers (n,) as floats of so many digits hold them."""
    if digits == 53:
        return numbers
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def _near(noise: NumberNoise, expected: Vector, copied: Vector, digits: int) -> Vector:
    """What floats lose around the value that a copy would make."""
    return 2.0 * (noise.half_width(expected, digits) + noise.half_width(copied, digits))


def _largest(numbers: Matrix) -> Vector:
    """The largest size, as an array of one number; 0 of none."""
    return np.array([np.abs(numbers).max(initial=0.0)])
