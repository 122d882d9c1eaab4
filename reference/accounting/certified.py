"""Lower bounds in ball arithmetic: what an accusation may rest on, rounding included.

Every figure starts from enclosures of Q(H) and stays in balls, so that the lower end is below the
true value for certain.
"""

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import accumulate
from math import comb

from flint import arb, arb_poly, ctx

from ..enclosures import enclose_probabilities
from ..mechanisms import (
    REFUSAL,
    ClaimedMechanism,
    InteractiveGNMax,
    KnownMechanism,
    NoisyArgmax,
    SampledArgmax,
    ScreenedGNMax,
    UnknownMechanismError,
)
from ..noise import Gaussian
from ..sampling import Sampling, Way

_REACH = 30.0  # scales of the noise beyond all counts, where nodes end: e^-450 is left out


def enclose_sampled(
    histogram: Sequence[int], noise: Gaussian, sampling: Sampling, digits: int = 25
) -> list[arb]:
    """Balls around the probabilities of the labels of a histogram (c,), with about `digits` digits.

    By the trapezoidal rule with its proven bound (`quadrature`), which is relative for the law of
    each sampled histogram, and so for their mean. Counts of a class are polynomials in z; those of
    a fixed number of teachers in all are multiplied out.

    Raises ValueError for fewer than two classes, and for too few votes.
    """
    votes = [int(v) for v in histogram]
    if len(votes) < 2:
        raise ValueError(f"histogram {votes}: expected at least two classes")
    total = sum(votes)
    sampling.check_total(total)
    with ctx.workdps(2 * digits + 20):
        shares = [_shares(count, sampling, total) for count in votes]
        most = max(len(one) for one in shares)
        bound = arb(10) ** -digits
        step = math.sqrt(2 * math.pi**2 / (len(votes) * (digits * math.log(10.0) + 1.0)))
        reach = math.ceil(_REACH / step)
        last = math.ceil((most / noise.scale + _REACH) / step)
        width = arb(step)
        sums = [arb(0)] * len(votes)
        for node in range(-reach, last + 1):
            wins = _wins(width * node, shares, noise, sampling)
            sums = [one + more for one, more in zip(sums, wins, strict=True)]
        given = _chance_of_total(sampling, total)
        # beyond the nodes, each term is below the density of a count that is 30 scales away
        beyond = 2 * (-(arb(_REACH) ** 2) / 2).exp()
        scale = width / (2 * arb.pi()).sqrt()
        relative = 1 + arb(0, 1) * bound
        return [one * scale * relative / given + beyond * arb(0.5, 0.5) for one in sums]


def _shares(count: int, sampling: Sampling, total: int) -> list[arb]:
    """Weights of 0, 1, ... drawn votes of so many, whose products make the law of all classes.

    Of a fixed number they are the ways to draw them, of draws with replacement those to order them.
    """
    if sampling.way is Way.POISSON:
        q = arb(sampling.amount)
        return [q**m * (1 - q) ** (count - m) * comb(count, m) for m in range(count + 1)]
    drawn = int(sampling.amount)
    if sampling.way is Way.FIXED:
        return [arb(comb(count, m)) for m in range(min(count, drawn) + 1)]
    each = arb(count) / total
    return [each**m / arb(math.factorial(m)) for m in range(drawn + 1)]


def _chance_of_total(sampling: Sampling, total: int) -> arb:
    """The coefficient of z^k in the product of the weights of all classes."""
    if sampling.way is Way.POISSON:
        return arb(1)
    drawn = int(sampling.amount)
    if sampling.way is Way.FIXED:
        return arb(comb(total, drawn))
    return 1 / arb(math.factorial(drawn))


def _wins(x: arb, shares: list[list[arb]], noise: Gaussian, sampling: Sampling) -> list[arb]:
    """The integrand at x, in scales of the noise, of each class; the density without 1/sqrt(2 pi).

    Each is the coefficient of z^k in the product of the class's density and the others' cdfs.
    """
    most = max(len(one) for one in shares)
    behind = [x - arb(m) / arb(noise.scale) for m in range(most)]
    cdf = [(-u / arb(2).sqrt()).erfc() / 2 for u in behind]
    density = [(-(u**2) / 2).exp() for u in behind]
    cdfs = [_summed(one, cdf, sampling) for one in shares]
    densities = [_summed(one, density, sampling) for one in shares]
    one = arb_poly([1])
    before = list(accumulate(cdfs[:-1], lambda a, b: _cut(a * b, sampling), initial=one))
    after = list(accumulate(cdfs[:0:-1], lambda a, b: _cut(a * b, sampling), initial=one))[::-1]
    place = sampling.drawn or 0
    return [
        (_cut(left * right, sampling) * mine)[place]
        for left, right, mine in zip(before, after, densities, strict=True)
    ]


def _summed(shares: list[arb], values: list[arb], sampling: Sampling) -> arb_poly:
    """The polynomial with these weights times values; their sum where classes are drawn apart."""
    terms = [share * value for share, value in zip(shares, values, strict=False)]
    return arb_poly([sum(terms, arb(0))] if sampling.drawn is None else terms)


def _cut(product: arb_poly, sampling: Sampling) -> arb_poly:
    """Without the powers beyond the number drawn, which nothing is asked of."""
    most = (sampling.drawn or 0) + 1
    return product if len(product) <= most else arb_poly(product.coeffs()[:most])


DIGITS = 25
_FEW_DIGITS = 12


def enclosed_law(votes: Sequence[int], mechanism: KnownMechanism) -> list[arb]:
    """Balls around the probabilities of the labels of a histogram (c,), the refusal's last.

    Raises ValueError for a mechanism that is not known.
    """
    if not isinstance(mechanism, KnownMechanism):
        raise UnknownMechanismError(mechanism, "a certified law")
    answers = dict(enumerate(_answers(tuple(votes), mechanism.answering)))
    return list(_released(answers, votes, mechanism).values())


@lru_cache(maxsize=64)
def _answers(votes: tuple[int, ...], mechanism: NoisyArgmax | SampledArgmax) -> list[arb]:
    """Balls around Q(H), which several checks ask of one histogram: the last ones are kept."""
    if isinstance(mechanism, SampledArgmax):
        return enclose_sampled(votes, mechanism.noise, mechanism.sampling, DIGITS)
    return enclose_probabilities(votes, mechanism.noise, DIGITS)


def _released(
    law: dict[int, arb], votes: Sequence[int], mechanism: KnownMechanism
) -> dict[int, arb]:
    """Balls around the probabilities of what is released, by label, from those of answers."""
    if not isinstance(mechanism, ScreenedGNMax):
        return law
    with ctx.workdps(4 * DIGITS):
        reached, missed = enclosed_screening(votes, mechanism)
        law = {k: reached * ball for k, ball in law.items()} | {REFUSAL: arb(0)}
        law[mechanism.confirmed] += missed
        return law


def enclosed_event(votes: Sequence[int], mechanism: KnownMechanism, labels: Sequence[int]) -> arb:
    """A ball around the probability that the label of a histogram (c,) is among `labels`."""
    law = enclosed_law(votes, mechanism)
    with ctx.workdps(4 * DIGITS):
        return sum((law[k] for k in labels), arb(0))


def enclosed_parts(
    votes: Sequence[int], mechanism: ClaimedMechanism, labels: Sequence[int]
) -> list[arb]:
    """Balls around the probabilities of some labels of a histogram (c,), and of all others (l + 1).

    labels: a refusal, `REFUSAL`, may be one of them. Costs as many integrals as there are classes
    among them, each to `_FEW_DIGITS`.
    """
    classes, answering = [k for k in labels if k != REFUSAL], mechanism.answering
    if isinstance(answering, SampledArgmax):
        answers = _answers(tuple(votes), answering)
        found = [answers[k] for k in classes]
    else:
        found = enclose_probabilities(votes, answering.noise, _FEW_DIGITS, classes)
    law = _released(dict(zip(classes, found, strict=True)), votes, mechanism)
    with ctx.workdps(4 * DIGITS):
        parts = [law[k] for k in labels]
        return [*parts, 1 - sum(parts, arb(0))]


def enclosed_screening(votes: Sequence[int], mechanism: ScreenedGNMax) -> list[arb]:
    """Balls around the probabilities that the screening of a histogram (c,) passes, and fails.

    Each from its own tail: 1 less the other has no digits left where the other is near 1.
    """
    with ctx.workdps(4 * DIGITS):
        scores = [arb(n) for n in votes]
        if isinstance(mechanism, InteractiveGNMax):
            weight, prediction = arb(mechanism.weight), mechanism.prediction
            scores = [n - weight * arb(p) for n, p in zip(scores, prediction, strict=True)]
        short = arb(mechanism.threshold) - reduce(lambda one, other: one.max(other), scores)
        noise = mechanism.threshold_noise
        return [_normal_tail(short, noise), _normal_tail(-short, noise)]


def _normal_tail(x: arb, noise: Gaussian) -> arb:
    """P(noise > x)."""
    return (x / (arb(noise.scale) * arb(2).sqrt())).erfc() / 2


def renyi_lower(p: Sequence[arb], q: Sequence[arb], order: float) -> float:
    """A number that D_order(P || Q) is certainly at least, nats; order above 1 and finite.

    p, q: balls around the probabilities of the same outcomes, (o,); one that P never gives costs
    nothing.
    """
    if not 1 < order < float("inf"):
        raise ValueError(f"order {order:g}: expected a finite number above 1")
    with ctx.workdps(4 * DIGITS):
        a = arb(order)
        pairs = [(x, y) for x, y in zip(p, q, strict=True) if not x.is_zero()]
        total = sum((x.log() * a + y.log() * (1 - a)).exp() for x, y in pairs)
        assert isinstance(total, arb)
        return below(total.log() / (a - 1))


def delta_lower(p: arb, q: arb, times: int, least: int, epsilon: float) -> float:
    """A number that delta at `epsilon` is certainly at least, after `times` queries of a pair.

    p, q: balls around the probabilities of one event (some of the labels) under the two histograms.
    The test that counts the event and accuses from `least` on: P(count >= least) is binomial, and
    delta >= P_p - e^epsilon P_q for every test (Balle et al. 2020, Theorem 1).
    """
    with ctx.workdps(4 * DIGITS):
        gap = _upper_tail(p, times, least) - arb(epsilon).exp() * _upper_tail(q, times, least)
        return max(below(gap), 0.0)


def epsilon_lower(p: arb, q: arb, times: int, least: int, delta: float) -> float:
    """A number that epsilon at `delta` is certainly at least, after `times` queries of a pair.

    As `delta_lower`, solved for epsilon: log((P_p - delta) / P_q), and 0 where that is negative.
    """
    with ctx.workdps(4 * DIGITS):
        above = _upper_tail(p, times, least) - arb(delta)
        if not above > 0:
            return 0.0
        return max(below((above / _upper_tail(q, times, least)).log()), 0.0)


def _upper_tail(p: arb, times: int, least: int) -> arb:
    """P(Binomial(times, p) >= least), by the tail away from the mean: some sqrt(times) terms."""
    if least <= 0:
        return arb(1)
    if not p.is_finite():
        return p
    if least > times * float(p.mid()):
        return _far_tail(p, times, least)
    return 1 - _far_tail(1 - p, times, times - least + 1)


def _far_tail(p: arb, times: int, least: int) -> arb:
    """Terms from the first, and a ball around what is left out, for `least` beyond the mean."""
    odds = p / (1 - p)
    log_first = _log_binomial(times, least) + p.log() * least + (1 - p).log() * (times - least)
    term, total = log_first.exp(), arb(0)
    for count in range(least, times + 1):
        total += term
        ratio = odds * (times - count) / (count + 1)
        if not ratio.is_finite():
            return ratio
        if ratio < 1:
            rest = term * ratio / (1 - ratio)  # later ratios are smaller: a geometric bound
            if rest < total * arb(10) ** (-DIGITS):
                return total + rest * arb(0.5, 0.5)
        term = term * ratio
    return total


def _log_binomial(n: int, k: int) -> arb:
    return arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()


def below(ball: arb) -> float:
    """A float below the whole ball; one that encloses nothing finite is above minus infinity."""
    if not ball.is_finite():
        return -math.inf
    low = float(ball.mid() - ball.rad())
    return low - abs(low) * 1e-15
