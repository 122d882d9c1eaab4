"""What many answers, each to a histogram of its own, certainly cost together: a lower bound.

Each answer is merged into a few outcomes, which have whole scores; the test accuses where the sum
of the scores reaches a threshold. Every test bounds epsilon from below (Balle et al. 2020,
arXiv 1905.09982v2, Theorem 1). The scores are rounded log-likelihood ratios, so that the test is
nearly the best one. Fourier transforms in floating point find the threshold, polynomials in ball
arithmetic prove what it shows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_poly, ctx

from ..arrays import Integers, Matrix, Vector
from .certified import below

_DIGITS = 60
_FINE = 100.0  # steps of the grid of scores in a standard deviation of the sum, at least
_STEPS = 3.0  # and in the largest log-ratio
_SCORES = 1e4  # the highest score, at most: rare outcomes may tell far more than all others do
_REACH = 24.0  # standard deviations that a transform holds
_ROUNDING = 1e-15  # of a transform, which holds a law whose most likely sums are some 1e-3 each
_SEEN = math.log(1e-4)  # the least mass of a tail of such a law, as far as it is looked at
_STEEPEST = 40.0  # the largest tilt of a score of 1
_HALVINGS = 50
_ZERO = 1e-300  # a kind may have no part of some frequency
_GONE = -60.0  # log of a frequency's part that is left out
_DROPPED = 1e-45  # mass at either end of a law that is not followed


@dataclass(frozen=True)
class SumTest:
    """Accuse where the scores sum to `least` or more.

    scores: whole numbers (k, o) of the outcomes of each of k kinds of answers; step: the log-ratio
    that a score of 1 stands for; epsilon: what it shows in floating point, no proof.
    """

    scores: Integers
    step: float
    least: int
    epsilon: float


def sum_test(log_p: Matrix, log_q: Matrix, times: Vector, delta: float) -> SumTest | None:
    """The best threshold for k kinds of answers: log-laws (k, o) of either side, times (k,).

    None where the two sides are alike, or nothing is shown.
    """
    p = np.exp(log_p)
    # every event of all answers differs by at most this much between the two sides
    if float((times * np.abs(p - np.exp(log_q)).sum(-1)).sum()) / 2.0 <= delta:
        return None
    with np.errstate(invalid="ignore"):
        ratios = np.where(p > 0.0, log_p - log_q, 0.0)
    ratios = np.clip(ratios, -50.0, 50.0)
    mean = (p * ratios).sum(-1)
    deviation = math.sqrt(float((times * (p * ratios**2).sum(-1) - times * mean**2).sum()))
    largest = float(np.abs(ratios).max(initial=0.0))
    if not deviation > 0.0:
        return None
    step = max(min(deviation / _FINE, largest / _STEPS), largest / _SCORES)
    scores = np.rint(ratios / step).astype(np.int64)
    tests = [
        _best_threshold(log_p, log_q, times, delta, scores=scores, step=step, tilt=tilt)
        for tilt in _tilts(log_p, scores, times, -math.log(delta))
    ]
    best = max(tests, key=lambda test: test.epsilon)
    return best if best.epsilon > 0.0 else None


def _best_threshold(
    log_p: Matrix,
    log_q: Matrix,
    times: Vector,
    delta: float,
    *,
    scores: Integers,
    step: float,
    tilt: float,
) -> SumTest:
    """The best of the thresholds about which a transform is accurate: laws times e^(tilt * score).

    Other sums are not looked at: those that never occur are among them, where rounding would pass
    for a law of one side that the other has nothing of.
    """
    p_law, p_mass = _normal(log_p + tilt * scores, times)
    q_law, q_mass = _normal(log_q + (tilt + step) * scores, times)
    mean = (p_law * scores).sum(-1)
    centre = round(float((times * mean).sum()))
    deviation = math.sqrt(float((times[:, None] * p_law * (scores - mean[:, None]) ** 2).sum()))
    reach = 2.0 * _REACH * (deviation + 1.0) + 4.0 * np.abs(scores).max()
    size = 1 << math.ceil(math.log2(reach))
    sums = centre + np.arange(size) - size // 2
    with np.errstate(divide="ignore"):
        log_p_sum = np.log(_law(p_law, scores, times, centre, size)) - tilt * sums + p_mass
        log_q_sum = np.log(_law(q_law, scores, times, centre, size))
    log_q_sum += q_mass - (tilt + step) * sums
    above, other = (np.logaddexp.accumulate(law[::-1])[::-1] for law in (log_p_sum, log_q_sum))
    sure = (above + tilt * sums - p_mass > _SEEN) & (other + (tilt + step) * sums - q_mass > _SEEN)
    sure &= above > math.log(1.5 * delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        shown = above + np.log1p(-np.exp(np.minimum(math.log(delta) - above, 0.0))) - other
    shown = np.where(sure, shown, -np.inf)
    best = int(np.argmax(shown))
    return SumTest(scores, step, int(sums[best]), float(shown[best]))


def _tilts(log_p: Matrix, scores: Integers, times: Vector, nats: float) -> Iterator[float]:
    """None, and those whose law of the sum is half and all of so many nats from the law itself.

    About the mean of such a law lie the thresholds that are reached with probability e^-nats
    (Chernoff). Where none is so far, the largest tilt.
    """
    yield 0.0
    for aim in (0.5 * nats, nats):
        low, high = 0.0, _STEEPEST
        for _ in range(_HALVINGS):
            tilt = 0.5 * (low + high)
            law, mass = _normal(log_p + tilt * scores, times)
            away = tilt * float((times[:, None] * law * scores).sum()) - mass
            low, high = (tilt, high) if away < aim else (low, tilt)
        yield low


def sum_test_epsilon(
    p: Sequence[Sequence[arb]],
    q: Sequence[Sequence[arb]],
    times: Sequence[int],
    delta: float,
    test: SumTest,
) -> float:
    """A number that epsilon at `delta` is certainly at least, by a test.

    p, q: balls around the probabilities of the outcomes of each kind of answer, of either side.
    """
    with ctx.workdps(_DIGITS):
        step = arb(test.step)
        tilted = [
            [ball * (step * int(score)).exp() for ball, score in zip(balls, row, strict=True)]
            for balls, row in zip(q, test.scores, strict=True)
        ]
        accused = _Sum.of(p, test.scores, times).law_from(test.least)
        other = _Sum.of(tilted, test.scores, times)
        falsely = arb(0)
        weight = (-step * test.least).exp()
        for ball in other.law_from(test.least):
            falsely += ball * weight
            weight *= (-step).exp()
        total = arb(1)
        for balls, number in zip(tilted, times, strict=True):
            total *= sum(balls, arb(0)) ** int(number)
        # what was dropped stands somewhere at or above the threshold, at worst at it
        falsely += (total - sum(other.law, arb(0))) * (-step * test.least).exp()
        above = sum(accused, arb(0)) - arb(delta)
        if not (above > 0 and falsely > 0):
            return 0.0
        return max(below((above / falsely).log()), 0.0)


@dataclass(frozen=True)
class _Sum:
    """The law of a sum of scores: balls of the sums from `first` on; tiny ends are left out."""

    first: int
    law: list[arb]

    @classmethod
    def of(cls, laws: Sequence[Sequence[arb]], scores: Integers, times: Sequence[int]) -> "_Sum":
        """The law of a sum of scores, `times` of each kind; shortest laws are combined first."""
        parts = [
            cls._one(law, row).times(int(number))
            for law, row, number in zip(laws, scores, times, strict=True)
        ]
        while len(parts) > 1:
            parts.sort(key=lambda part: len(part.law))
            parts = [parts[0].plus(parts[1]), *parts[2:]]
        return parts[0]

    @classmethod
    def _one(cls, law: Sequence[arb], scores: Integers) -> "_Sum":
        first = int(scores.min())
        found = [arb(0)] * (int(scores.max()) - first + 1)
        for ball, score in zip(law, scores, strict=True):
            found[int(score) - first] += ball
        return cls(first, found)

    def times(self, number: int) -> "_Sum":
        """The sum of `number` independent copies, by repeated squaring."""
        found, square = _Sum(0, [arb(1)]), self
        while number:
            if number & 1:
                found = found.plus(square)
            number >>= 1
            if number:
                square = square.plus(square)
        return found

    def plus(self, other: "_Sum") -> "_Sum":
        """The sum with an independent one."""
        law = (arb_poly(self.law) * arb_poly(other.law)).coeffs()
        low, high = _negligible(law), len(law) - _negligible(law[::-1])
        return _Sum(self.first + other.first + low, law[low:high])

    def law_from(self, least: int) -> list[arb]:
        """Balls of the sums least, least + 1, ..."""
        missing = max(self.first - least, 0)
        return [arb(0)] * missing + self.law[max(least - self.first, 0) :]


def _negligible(law: Sequence[arb]) -> int:
    """How many at the beginning have next to no mass."""
    mass = 0.0
    for at, ball in enumerate(law):
        mass += float(ball.mid())
        if not mass < _DROPPED:
            return at
    return 0


def _law(p: Matrix, scores: Integers, times: Vector, centre: int, size: int) -> Matrix:
    """The law (size,) of the sum around `centre`, which stands in the middle."""
    at = np.arange(size // 2 + 1)  # frequencies; those that next to nothing is left of are dropped
    turn = -2j * np.pi / size * at
    log = -turn * (centre - size // 2)
    for law, row, number in zip(p, scores, times, strict=True):
        outcomes = [(share, int(score)) for share, score in zip(law, row, strict=True) if share]
        one = sum(share * np.exp(turn * score) for share, score in outcomes)
        log = log + number * np.log(np.where(np.abs(one) > _ZERO, one, _ZERO))
        left = log.real > _GONE
        at, turn, log = at[left], turn[left], log[left]
    transform = np.zeros(size // 2 + 1, dtype=np.complex128)
    transform[at] = np.exp(log)
    found = np.fft.irfft(transform, size)
    return np.where(found > _ROUNDING, found, 0.0)


def _normal(log_law: Matrix, times: Vector) -> tuple[Matrix, float]:
    """Laws (k, o) that sum to 1, and the log of what all of them had in all."""
    mass = np.logaddexp.reduce(log_law, -1, keepdims=True)
    return np.exp(log_law - mass), float((times * mass[:, 0]).sum())
