"""Of each different pair, how many units the best test takes."""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import scipy.stats as law
from same_as_zoo import DIFFERENT, TWO, VALUES, claim_of

from dpassay.reference.arrays import Matrix, Vector

from .different import BITS, EIGHT, SCORES, VOTES
from .rates import (
    EDGES,
    LEAST,
    WANTED,
    Part,
    best_units,
    by_weight,
    cells,
    in_steps,
    largest,
    now_and_then,
    rate,
    units_by_odds,
)

_CHANCES = (np.arange(4_000) + 0.5) / 4_000.0
_DRAWS = 200_000


def added(target: Any, reference: Any) -> Part:
    """Noise of either law."""
    return cells(target.cdf), cells(reference.cdf)


def clamped(noise: Any, low: float, high: float) -> Part:
    """Noise beyond these becomes one of them."""
    inside = cells(noise.cdf, np.clip(EDGES, low, high))
    atoms = [noise.cdf(low), noise.sf(high)]
    return np.append(inside, atoms), np.append(cells(noise.cdf), [0.0, 0.0])


def drawn_again(noise: Any, bound: float) -> Part:
    """Noise farther out is drawn again."""
    inside = cells(noise.cdf, np.clip(EDGES, -bound, bound))
    return inside / inside.sum(), cells(noise.cdf)


def labels(scale: float, votes: Any) -> Part:
    """The plurality with Gaussian noise, and with noise of 20."""

    def chances(of: float) -> Vector:
        return largest([vote / of for vote in votes], law.norm.ppf(_CHANCES), law.norm.cdf)

    return chances(scale), chances(20.0)


def of_planned_votes() -> float:
    """The plurality of planned histograms, asked in turn, with Gaussian noise of 2, and of 4."""

    def chances(scale: float, votes: Vector) -> Vector:
        scores = [float(count) / scale for count in votes]
        return largest(scores, law.norm.ppf(_CHANCES), law.norm.cdf)

    asked = claim_of(DIFFERENT["half-of-gnmax"]).asked(0)
    gained = [rate((chances(2.0, votes), chances(4.0, votes))) for votes in asked]
    return max(float(LEAST), WANTED / float(np.mean(gained)))


def chosen(target: float, reference: float, scores: Any) -> Part:
    """Scores with either factor in the exponent."""
    return by_weight(target * np.asarray(scores)), by_weight(reference * np.asarray(scores))


def flipped(scores: list[float]) -> Part:
    """The largest with exponential noise, as permute-and-flip is, and the exponential mechanism."""
    noise = law.expon.ppf(_CHANCES)
    return largest([0.5 * score for score in scores], noise, law.expon.cdf), chosen(
        1.0, 0.5, scores
    )[1]


def two_of(rate: float, scores: list[float]) -> Vector:
    """One after the other, by the exponential mechanism."""
    found = []
    for first, chance in enumerate(by_weight(rate * np.asarray(scores))):
        rest = [score for place, score in enumerate(scores) if place != first]
        found.append(chance * by_weight(rate * np.asarray(rest)))
    return np.concatenate(found)


def first_above(answers: float, *, anew: bool) -> Vector:
    """The place of the first of eight, or none; of the threshold all points together, or each."""
    threshold = 3.0 + 2.0 * law.laplace.ppf(_CHANCES)
    below = law.laplace.cdf(threshold / answers)
    below = np.full(1, below.mean()) if anew else below
    places = [(below**k * (1.0 - below)).mean() for k in range(8)]
    return np.array([*places, (below**8).mean()])


def counts_above(*, anew: bool) -> Vector:
    """How many of twelve are above a threshold, whose noise of scale 4 is drawn once or anew."""
    chance = law.laplace.sf(4.0 * law.laplace.ppf(_CHANCES) / 2.0)[:, None]
    found = law.binom.pmf(np.arange(13), 12, chance.mean() if anew else chance)
    return np.asarray(np.atleast_2d(found).mean(0))


def sample(chances: Vector) -> Vector:
    """A sample's size with Laplace noise of 2, as cells; chances: of 0, 1, ... rows."""
    sizes = np.flatnonzero(chances > 1e-12)

    def cdf(edges: Vector) -> Vector:
        apart = (10.0 * edges[:, None] + 100.0 - sizes) / 2.0
        return np.asarray(law.laplace.cdf(apart) @ chances[sizes])

    found = cells(cdf)
    return np.asarray(found / found.sum())


def binomial(share: float) -> Vector:
    """Of 1,000 rows."""
    return sample(law.binom.pmf(np.arange(1_001), 1_000, share))


def ratio(epsilon: float) -> Vector:
    """Of two sums of 20, each with Laplace noise of 2 / epsilon."""
    below = 20.0 + law.laplace.ppf(_CHANCES) * 2.0 / epsilon

    def cdf(edges: Vector) -> Vector:
        above = law.laplace.cdf((edges[:, None] * below - 20.0) * epsilon / 2.0)
        return np.asarray(np.where(below > 0, above, 1.0 - above).mean(1))

    with np.errstate(invalid="ignore"):
        found = cdf(EDGES[1:-1] / 10.0)
    return np.diff(np.concatenate([[0.0], found, [1.0]]))


def ties(*, at_random: bool) -> Vector:
    """Whose vote is the largest with whole noise of scale 2, by orders in which ties are broken."""
    votes, noise, points = VOTES[0]["votes"], law.dlaplace(0.5), np.arange(-60, 100)
    found = np.zeros(len(votes))
    orders = list(permutations(range(len(votes)))) if at_random else [tuple(range(len(votes)))]
    for order in orders:
        for turn, one in enumerate(order):
            chance = noise.pmf(points - votes[one])
            for other in order[:turn]:
                chance = chance * noise.cdf(points - 1 - votes[other])
            for other in order[turn + 1 :]:
                chance = chance * noise.cdf(points - votes[other])
            found[one] += chance.sum() / len(orders)
    return found


def reports(bit: bool) -> Part:
    """How many of three have a bit, that was randomised for each, or for good."""
    ones = np.arange(4)
    kept = 0.75 if bit else 0.25
    either = [law.binom.pmf(ones, 3, chance) for chance in (0.1, 0.9)]
    return law.binom.pmf(ones, 3, kept * 0.9 + (1 - kept) * 0.1), (
        kept * either[1] + (1 - kept) * either[0]
    )


def correlated() -> float:
    """Ten numbers, any two correlated at .3."""
    rng, covariance = np.random.default_rng(0), 0.7 * np.eye(10) + 0.3
    target, reference = law.multivariate_normal(np.zeros(10), covariance), law.norm

    def odds(replies: Matrix) -> Vector:
        return np.asarray(target.logpdf(replies) - reference.logpdf(replies).sum(1))

    return units_by_odds(
        odds(target.rvs(_DRAWS, random_state=rng)), odds(rng.normal(size=(_DRAWS, 10)))
    )


def nodes_anew() -> float:
    """Eight running sums, each of one new node, or of as many as it has."""
    rng, size = np.random.default_rng(0), len(EIGHT[0]["numbers"])
    nodes = [(k + 1).bit_count() for k in range(size)]

    def odds(noise: Matrix) -> Vector:
        own = noise.copy()
        for k in range(size):
            rest = (k + 1) & k  # a sum is that of the nodes before its last one, and that node
            own[:, k] -= noise[:, rest - 1] if rest else 0.0
        far = np.abs(noise)
        logs = (
            -far - np.log(2.0),
            np.log1p(far) - far - np.log(4.0),
            np.log(far**2 + 3.0 * far + 3.0) - far - np.log(16.0),
        )
        together = sum(logs[of - 1][:, k] for k, of in enumerate(nodes))
        return np.asarray(together - law.laplace.logpdf(own).sum(1))

    apart = np.stack([rng.laplace(size=(_DRAWS, of)).sum(1) for of in nodes], 1)
    noise = rng.laplace(size=(_DRAWS, size))
    for k in range(size):
        rest = (k + 1) & k
        noise[:, k] += noise[:, rest - 1] if rest else 0.0
    return units_by_odds(odds(apart), odds(noise))


_NORMAL, _LAPLACE = law.norm(), law.laplace()
_HALF, _NINE = added(law.norm(scale=0.5), _NORMAL), added(law.norm(scale=0.9), _NORMAL)
_LAPLACE_HALF = added(law.laplace(scale=0.5), _LAPLACE)
_SCORES, _MEDIAN = SCORES[0]["scores"], [-abs(k - 9.5) for k in range(20)]
_WHOLE = np.arange(-400, 401)

PARTS: dict[str, Callable[[], tuple[Part, ...]]] = {
    "laplace-half": lambda: (_LAPLACE_HALF,),
    "gaussian-half": lambda: (_HALF,),
    "gaussian-.9": lambda: (_NINE,),
    "laplace-for-gaussian": lambda: (added(law.laplace(scale=2**-0.5), _NORMAL),),
    "offset-of-a-fifth": lambda: (added(law.norm(0.2), _NORMAL),),
    "one-cell-halved": lambda: (_HALF,),
    "all-cells-halved": lambda: (_HALF,) * 10,
    "one-in-ten-before": lambda: (now_and_then(0.1),),
    "labels-half": lambda: (labels(10.0, VALUES[0]["votes"]),),
    "close-labels-half": lambda: (labels(10.0, TWO[1]["votes"]),),
    "labels-.9": lambda: (labels(18.0, VALUES[0]["votes"]),),
    "laplace-half-of-two": lambda: (_LAPLACE_HALF,),
    "refusing": lambda: (now_and_then(0.2),),
    "kept-half": lambda: (_LAPLACE_HALF,),
    "threshold-anew": lambda: ((counts_above(anew=True), counts_above(anew=False)),),
    "temperature": lambda: (chosen(0.1, 0.05, VALUES[0]["votes"]),),
    "laplace-.9": lambda: (added(law.laplace(scale=0.9), _LAPLACE),),
    "one-party-of-ten-absent": lambda: (added(law.norm(scale=0.9**0.5), _NORMAL),),
    "rounded-to-halves": lambda: (
        (in_steps(law.norm(scale=3.0).cdf, 0.1, 5), in_steps(law.norm(scale=3.0).cdf, 0.1)),
    ),
    "tails-clamped": lambda: (clamped(_NORMAL, -2.0, 2.0),),
    "tails-drawn-again": lambda: (drawn_again(_LAPLACE, 3.0),),
    "negative-to-zero": lambda: (clamped(_LAPLACE, -1.5, np.inf),),
    "whole-for-rounded": lambda: (
        (law.dlaplace.pmf(_WHOLE, 0.5), in_steps(law.laplace(scale=2.0).cdf, 1.0)),
    ),
    "bare-one-in-ten": lambda: (now_and_then(0.1),),
    "bare-one-in-a-hundred": lambda: (now_and_then(0.01),),
    "one-cell-in-fifty-bare": lambda: (now_and_then(0.02),) * 10,
    "cells-clamped": lambda: (clamped(_LAPLACE, -3.0, 3.0),) * 10,
    "every-second-before": lambda: (now_and_then(0.5),),
    "clipping-bound": lambda: (added(law.laplace(-0.4, 0.8), _LAPLACE),),
    "sampling-rate": lambda: ((binomial(0.12), binomial(0.1)),),
    "sample-of-fixed-size": lambda: ((sample(np.eye(1_001)[100]), binomial(0.1)),),
    "ties-to-the-first": lambda: ((ties(at_random=False), ties(at_random=True)),),
    "threshold-for-each-answer": lambda: (
        (first_above(4.0, anew=True), first_above(4.0, anew=False)),
    ),
    "threshold-answers-half": lambda: (
        (first_above(2.0, anew=False), first_above(4.0, anew=False)),
    ),
    "flip-for-exponential": lambda: (flipped(_SCORES),),
    "exponential-without-2": lambda: (chosen(1.0, 0.5, _SCORES),),
    "top-two-at-whole-epsilon": lambda: ((two_of(0.5, _SCORES), two_of(0.25, _SCORES)),),
    "a-category-too-many": lambda: (
        (by_weight([1.0, *np.log([4 / 3] * 3)]), by_weight([1.0, 0.0, 0.0, 0.0])),
    ),
    "rappor-anew": lambda: tuple(reports(bit) for bit in BITS[0]["bits"]),
    "sums-a-level-less": lambda: (added(law.laplace(scale=0.75), _LAPLACE),) * 8,
    "ratio-at-whole-epsilon": lambda: ((ratio(2.0), ratio(1.0)),),
    "quantile-moves-by-1": lambda: (chosen(0.5, 1.0, _MEDIAN),),
}
"""Parts of a reply, or of what a life comes to."""

OTHERWISE: dict[str, Callable[[], float]] = {
    "cells-correlated": correlated,
    "sums-nodes-anew": nodes_anew,
    "half-of-gnmax": of_planned_votes,
    "one-noise": lambda: LEAST,
    "kept-for-drawn": lambda: 1 + LEAST,
    "budget-ends": lambda: 100 + LEAST,
    "budget-half": lambda: 50 + LEAST,
    "rounded": lambda: LEAST,
    "reseeded": lambda: 20 + LEAST,
    "seeded-at-its-start": lambda: 1 + LEAST,
    "seeded-by-input": lambda: 2 + LEAST,
    "one-noise-of-a-life": lambda: LEAST,
}
"""Where each unit from some one on has, with probability 1, what it never has of the reference."""

LIMITS: dict[str, Callable[[], float]] = OTHERWISE | {
    name: partial(lambda parts: best_units(*parts()), parts) for name, parts in PARTS.items()
}
