"""Balls around Q(H) where noisy counts are rounded and the first of equal counts wins.

The sum over the whole numbers at which a class wins, with bounds of what is left out: above, a
class has no more than the probability that its own count is there; below, no more than that all
counts are.
"""

from collections.abc import Callable, Sequence
from functools import cache

from flint import arb

from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise, Rounded


class RoundedBalls:
    """The law of a histogram, votes (c,) taken as exact numbers, at the precision at hand.

    digits: what is left out is about this small beside what is summed.
    """

    def __init__(self, votes: Sequence[float], noise: Rounded, digits: int) -> None:
        self._votes = [arb(v) for v in votes]
        self._noise, self._scale = noise, arb(noise.scale)
        tails = _TAILS[noise.law]
        self._from = cache(lambda least: tails(least / self._scale))  # by exact whole numbers
        lead, spread = max(votes), (max(votes) - min(votes)) / noise.scale
        nats = 2.31 * (digits + 4) + len(votes)
        reach = (2.0 * nats + spread**2) ** 0.5 if noise.law is Gaussian else nats + spread
        self._low = int(lead - reach * noise.scale) - 3
        self._high = int(lead + reach * noise.scale) + 3

    def of(self, wanted: Sequence[int]) -> list[arb]:
        """Balls of the classes in `wanted`, in that order."""
        found = dict.fromkeys(wanted, arb(0))
        below = [self._chances(v, self._low) for v in self._votes]
        rest = _product([chance for chance, _ in below])
        for m in range(self._low, self._high + 1):
            upto = [self._chances(v, m + 1) for v in self._votes]
            for k in found:
                # each from its own tail, as a difference of two near 1 has no digits left
                lower = upto[k][0] < upto[k][1]
                own = upto[k][0] - below[k][0] if lower else below[k][1] - upto[k][1]
                before = [chance for chance, _ in below[:k]]
                found[k] += own * _product(before + [chance for chance, _ in upto[k + 1 :]])
            below = upto
        unseen = arb(0.5, 0.5)
        return [found[k] + (rest + below[k][1]) * unseen for k in wanted]

    def _chances(self, votes: arb, m: int) -> tuple[arb, arb]:
        """Probabilities that the count is below m, and that it is not."""
        least, how = arb(m) - votes, self._noise.rounding  # the least noise that is rounded to m
        if how == "round":
            least -= arb(0.5)
        elif m <= 0 if how == "cut" else how == "cut-noise" and not least > 0:
            least -= 1
        return self._from(least)


def _product(parts: Sequence[arb]) -> arb:
    found = arb(1)
    for part in parts:
        found *= part
    return found


def _gaussian(u: arb) -> tuple[arb, arb]:
    half = u / arb(2).sqrt()
    return (-half).erfc() / 2, half.erfc() / 2


def _laplace(u: arb) -> tuple[arb, arb]:
    tail = (-abs(u)).exp() / 2
    return (1 - tail, tail) if u > 0 else (tail, 1 - tail)


def _gumbel(u: arb) -> tuple[arb, arb]:
    power = -(-u).exp()
    return power.exp(), -power.expm1()


def _exponential(u: arb) -> tuple[arb, arb]:
    return (-(-u).expm1(), (-u).exp()) if u > 0 else (arb(0), arb(1))


_TAILS: dict[type[Noise], Callable[[arb], tuple[arb, arb]]] = {
    Gaussian: _gaussian,
    Laplace: _laplace,
    Gumbel: _gumbel,
    Exponential: _exponential,
}
"""Probabilities of noise below u and from u on, in units of the scale."""
