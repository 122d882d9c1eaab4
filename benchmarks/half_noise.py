"""GNMax with half the noise it claims: what its labels refute, at which number, by which bound."""

from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import norm

from dpassay.attacks.auditing import (
    Counts,
    TradeOff,
    in_region,
    region,
    trade_off,
    two_cut,
    variational,
)
from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.accounting.worst_pair import worst_pair

Matrix = NDArray[np.float64]

CLAIMED, DRAWN = 4.0, 2.0  # sigma, votes
CLASSES, TEACHERS = 10, 250
ERROR, LOOSE = 1e-6, 0.05
ORDERS = np.array([1.25, 2.0, 4.0])
LEADS = range(-1, 7)
LEAD = 1
"""Votes by which the first class leads in one world; it leads by two fewer in the other."""
WITHIN = 10_000
"""Labels in both worlds together: the share refuted by then is told."""
LOOKS = np.unique(
    np.rint(np.r_[np.geomspace(500, WITHIN // 2, 48), np.geomspace(WITHIN // 2, WITHIN, 16)])
).astype(np.int64)
"""Labels of each world at which an auditor looks: whenever there are 5 % more."""
REPETITIONS, RIGHT, TOGETHER = 200, 10_000, 10

RENYI = ("order/sigma^2", "costliest pair", "this pair")
CURVES = ("Gaussian curve", "this pair's curve")
SEQUENTIAL = ("region, anytime", "2-cut, anytime")
FIXED = ("2-cut, Clopper-Pearson", "variational", "trade-off")
POINTED = Counts(np.array([1, 0]), np.array([0, 1]))
"""In place of a pilot: of the two labels left, the histograms say which is likelier here."""


def histograms(lead: int) -> tuple[list[int], list[int]]:
    """Neighbours in which the first class leads the second by so many votes, and by two fewer."""
    stray = (TEACHERS - lead) % 2  # an odd lead leaves a vote over
    second = (TEACHERS - stray - lead) // 2
    others = [stray] + [0] * (CLASSES - 3)
    return [second + lead, second, *others], [second + lead - 1, second + 1, *others]


@cache
def shares(lead: int, sigma: float) -> tuple[Matrix, Matrix]:
    """Exact laws (2,) of "the first class" and "another" in either world."""
    mechanism = NoisyArgmax(Gaussian(sigma))
    first = [
        float(np.exp(mechanism.log_probabilities(np.array(h, float)))[0]) for h in histograms(lead)
    ]
    return np.array([first[0], 1.0 - first[0]]), np.array([first[1], 1.0 - first[1]])


def divergences(here: Matrix, there: Matrix, orders: Matrix = ORDERS) -> Matrix:
    """Divergences of two laws (o,) without zeros, in both directions (2, orders)."""
    one, other = np.log(here), np.log(there)
    return np.stack([renyi_divergence(one, other, orders), renyi_divergence(other, one, orders)])


@cache
def claimed(claim: str) -> Matrix:
    """What a Rényi claim allows in either direction, (2, orders)."""
    if claim == "order/sigma^2":
        return np.tile(ORDERS / CLAIMED**2, (2, 1))
    if claim == "costliest pair":
        found = worst_pair(NoisyArgmax(Gaussian(CLAIMED)), CLASSES, TEACHERS, ORDERS)
        return np.tile(found.divergence, (2, 1))
    return divergences(*shares(LEAD, CLAIMED))


def beyond(claim: str, curve: TradeOff) -> bool:
    """Whether a proved trade-off curve lies below the claimed one somewhere."""
    first, second = curve.vertices.T
    if claim == "Gaussian curve":  # Dong, Roth and Su 2022: sensitivity sqrt(2), as a vote moves
        allowed = norm.cdf(norm.isf(first) - np.sqrt(2.0) / CLAIMED)
    else:
        here, there = shares(LEAD, CLAIMED)
        allowed = np.interp(first, [0.0, here[1], 1.0], [1.0, there[0], 0.0])
    return bool((second < allowed - 1e-12).any())


def refuted(method: str, counts: Counts, error: float, among: Collection[str]) -> set[str]:
    """Which of some claims so many labels refute by a method."""
    if method == "trade-off":
        curve = trade_off(POINTED, counts, error)
        return {claim for claim in among if beyond(claim, curve)}
    if method == "region, anytime":
        among = [claim for claim in among if not plainly_allowed(claim, counts, error)]
    if not among:
        return set()
    bounds = {
        "region, anytime": lambda: region(counts, ORDERS, error, anytime=True),
        "2-cut, anytime": lambda: two_cut(POINTED, counts, ORDERS, error, anytime=True),
        "2-cut, Clopper-Pearson": lambda: two_cut(POINTED, counts, ORDERS, error),
        "variational": lambda: variational(POINTED, counts, ORDERS, error),
    }[method]()
    return {claim for claim in among if (bounds > claimed(claim)).any()}


def plainly_allowed(claim: str, counts: Counts, error: float) -> bool:
    """Whether the region has laws that the claim allows, on the way from the likeliest to equal.

    Then none of its bounds refutes the claim. This takes a fiftieth of the time of the bounds.
    """
    likeliest = [n / n.sum() for n in (counts.here, counts.there)]
    both = (counts.here + counts.there) / (counts.here.sum() + counts.there.sum())

    def laws(t: float) -> tuple[Matrix, Matrix]:
        here, there = ((1.0 - t) * law + t * both for law in likeliest)
        return here, there

    def excess(t: float) -> float:
        return float((divergences(*laws(t)) - claimed(claim)).max())

    if excess(0.0) <= 0.0:
        return True
    edge = brentq(excess, 0.0, 1.0)
    return in_region(counts, *laws(min(1.0, edge + 1e-9)), error, anytime=True)


def claims_of(method: str) -> tuple[str, ...]:
    """What a method can refute."""
    return CURVES if method == "trade-off" else RENYI


def wrong(block: int) -> dict[str, dict[str, list[int]]]:
    """By method and claim, how many of a block's repetitions refute at each look.

    The labels are those of the sampler with half the noise. For a method that may look at any time
    a claim once refuted stays so; another has one look alone, at a size fixed beforehand.
    """
    mechanism, rng = NoisyArgmax(Gaussian(DRAWN)), np.random.default_rng([1, block])
    found = {m: {c: [0] * LOOKS.size for c in claims_of(m)} for m in SEQUENTIAL + FIXED}
    for _ in range(TOGETHER):
        seen = looks([mechanism.sample(h, int(LOOKS[-1]), rng) == 0 for h in histograms(LEAD)])
        for method, of_claims in found.items():
            done: set[str] = set()
            for place, counts in enumerate(seen):
                known = done if method in SEQUENTIAL else set()
                done = known | refuted(method, counts, ERROR, of_claims.keys() - known)
                for claim in done:
                    of_claims[claim][place] += 1
    return found


def looks(firsts: list[NDArray[np.bool_]]) -> list[Counts]:
    """Counts of the labels so far at each look; firsts: which of either world's are the first."""
    up_to = [np.cumsum(first)[LOOKS - 1] for first in firsts]
    return [
        Counts(np.array([a, n - a]), np.array([b, n - b]))
        for n, a, b in zip(LOOKS, *up_to, strict=True)
    ]


def right(block: int) -> dict[str, list[int]]:
    """By method, how many repetitions refute this pair's own divergence where the noise is right.

    Both at `ERROR` and at `LOOSE`. The other claims allow more, so that no more refute them.
    """
    laws, rng = shares(LEAD, CLAIMED), np.random.default_rng([2, block])
    found = {method: [0, 0] for method in SEQUENTIAL + FIXED}
    steps = np.diff(LOOKS, prepend=0)
    for _ in range(TOGETHER * 10):
        drawn = [np.cumsum(rng.multinomial(steps, law), axis=0) for law in laws]
        nats = sum(below(counts, law) for counts, law in zip(drawn, laws, strict=True))
        for i, error in enumerate((ERROR, LOOSE)):
            # a mixture is no likelier than the likeliest laws, so that elsewhere none is refuted
            apart = np.flatnonzero(nats >= -np.log(error))
            for method, of_errors in found.items():
                places = apart if method in SEQUENTIAL else [-1]
                seen = (Counts(drawn[0][place], drawn[1][place]) for place in places)
                of_errors[i] += any(wrongly(method, counts, laws, error) for counts in seen)
    return found


def below(counts: NDArray[np.int64], law: Matrix) -> Matrix:
    """Nats (looks,) by which a law (o,) is less likely, given counts (looks, o), than the best."""
    total = counts.sum(-1, keepdims=True)
    return np.asarray((total * rel_entr(counts / total, law)).sum(-1))


def wrongly(method: str, counts: Counts, laws: tuple[Matrix, Matrix], error: float) -> bool:
    """Whether the truth is refuted: this pair's divergence, or its curve."""
    if method == "region, anytime" and in_region(counts, *laws, error, anytime=True):
        return False  # a region with the true laws has no bound above theirs
    return bool(refuted(method, counts, error, claims_of(method)[-1:]))


def lead(votes: int) -> dict[str, float]:
    """A candidate pair: how far above order/sigma^2 it is, and the labels that would show it."""
    laws = shares(votes, DRAWN)
    orders = np.geomspace(1.1, 64.0, 200)
    ratio = divergences(*laws, orders).max(0) / (orders / CLAIMED**2)

    def refutes(n: int) -> bool:
        expected = Counts(*(np.rint(n * law).astype(np.int64) for law in laws))
        bound = region(expected, ORDERS, ERROR, anytime=True)
        return bool((bound > claimed(RENYI[0])).any())

    low, high = 100, 1_000_000
    while high > 1.01 * low:
        middle = round(np.sqrt(low * high))
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return {
        "at 2": float(ratio[np.abs(orders - 2.0).argmin()]),
        "most": float(ratio.max()),
        "order": float(orders[ratio.argmax()]),
        "labels": 2.0 * high,
    }


def part(kind: str, number: int) -> Any:
    """One part of the measurement."""
    return {"wrong": wrong, "right": right, "lead": lead}[kind](number)
