"""What releases of a canary prove of epsilon, beside what it costs exactly.

In the worst case of DP-SGD the adversary knows every other record of the batch. A release along the
canary's direction is then Gaussian, with one of two means: their distance over the noise's standard
deviation is the separation mu, and nothing else of a release tells the worlds apart. So everything
about a canary is exact: its epsilon (Balle and Wang 2018), and the law of what an audit counts.

Steps at which the canary lies differently far apart are one of separation sqrt(sum mu_t^2), by the
sum of their log-likelihood ratios (Dong, Roth and Su 2022, arXiv 1905.02383v3, Corollary 3.3).

`Counts` here are of releases above a threshold, and of the others, in either world. The threshold
is in units of the noise, from halfway between the worlds; it is fixed before anything is counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from ...reference.accounting.adjacency import Adjacency
from ...reference.accounting.counting import costliest_count
from ...reference.numbers import NoisyGradient, parse_number_noise, sensitivity
from ...reference.numbers.families import Gaussian
from ...reference.numbers.moves import move_epsilon
from ..auditing import Counts, counts_of_laws
from ..auditing.two_cut import Separated, separated
from .canaries import Canary

HALFWAY = 0.0
"""The threshold between the worlds, the best one for many releases."""

_ABOVE = np.array([True, False])
_UNIT = Gaussian(1.0)
_THRESHOLDS = np.linspace(-2.0, 5.0, 141)  # tried, from halfway, in units of the noise


@dataclass(frozen=True)
class CanaryCosts:
    """Exact epsilons at `delta` of so many releases (`steps`), each of Gaussian noise.

    canary: of its two records, whose difference is a substitution; substitution: of any two records
    in each other's place, whose clipped gradients lie up to 2 C apart; add_remove: of one record
    more or less, up to C. A canary may cost more than `add_remove`, and never more than
    `substitution`: they are claims about different neighbours.
    """

    canary: float
    substitution: float
    add_remove: float
    delta: float
    steps: int


def separation(canaries: Sequence[Canary], multiplier: float) -> float:
    """The mu of releases that show these canaries one after the other, once each.

    multiplier: the noise's standard deviation over the clip norm. Raises ValueError for one that is
    not above 0.
    """
    if not multiplier > 0.0:
        raise ValueError(f"noise multiplier {multiplier:g}: expected a number above 0")
    return math.hypot(*(canary.distance / (canary.clip_norm * multiplier) for canary in canaries))


def exact_costs(canary: Canary, multiplier: float, delta: float, steps: int = 1) -> CanaryCosts:
    """What `steps` releases of the canary cost, beside what DP-SGD guarantees, all exactly.

    multiplier: as of `separation`; each step shows the same canary. Without subsampling: every
    batch holds it.
    """
    if steps < 1:
        raise ValueError(f"steps {steps}: expected at least 1")
    of_canary = separation([canary] * steps, multiplier)
    bounds = {
        adjacency: math.sqrt(steps) * _farthest(canary, adjacency) / multiplier
        for adjacency in (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE)
    }
    return CanaryCosts(
        epsilon_of(of_canary, delta),
        epsilon_of(bounds[Adjacency.REPLACE_ONE], delta),
        epsilon_of(bounds[Adjacency.ADD_REMOVE], delta),
        delta,
        steps,
    )


def _farthest(canary: Canary, adjacency: Adjacency) -> float:
    """How far any neighbours lie apart, in clip norms."""
    shape, noise = (canary.gradients.shape[1],), parse_number_noise("gaussian:1")
    aggregation = NoisyGradient(noise, (shape,), canary.clip_norm, adjacency)
    return sensitivity(aggregation, 2) / canary.clip_norm


def epsilon_of(mu: float, delta: float) -> float:
    """Epsilon at delta of two Gaussians of one width, mu widths apart."""
    return move_epsilon(_UNIT, mu, delta)


@lru_cache(maxsize=64)  # of many audits of one claim
def fixed_threshold(
    mu: float, releases: int, delta: float, alpha: float, *, times: int = 1, anytime: bool = False
) -> float:
    """Where to count, for `proved_epsilon` to be largest if all comes as expected.

    mu: of the worlds by the claim; releases: of each world. Nothing is looked at, so that the
    bounds hold as for any threshold fixed beforehand. Arguments else as of `proved_epsilon`.
    """
    proved = [
        proved_epsilon(_expected(mu, threshold, releases), delta, alpha, times, anytime=anytime)
        for threshold in _THRESHOLDS
    ]
    best = int(np.argmax(proved))
    return float(_THRESHOLDS[best]) if proved[best] > 0.0 else HALFWAY


def drawn(mu: float, threshold: float, releases: int, rng: np.random.Generator) -> Counts:
    """Counts of so many releases in each world, by their exact law."""
    return counts_of_laws(_laws(mu, threshold), releases, rng)


def proved_epsilon(
    counts: Counts, delta: float, alpha: float, times: int = 1, *, anytime: bool = False
) -> float:
    """A lower bound of the epsilon at delta of `times` releases, whatever the mechanism.

    alpha: probability that it exceeds the true one. By Clopper and Pearson where the number of
    releases was fixed beforehand, or at whatever number they stopped (`anytime`). Of several
    releases, the best test that counts those above the threshold.
    """
    return proved_by(separated(counts, _ABOVE, alpha, anytime=anytime), delta, times)


def proved_by(found: Separated, delta: float, times: int = 1) -> float:
    """`proved_epsilon` from probabilities of the event, the closest that are not refuted."""
    sides = (found.here, found.there), (1.0 - found.there, 1.0 - found.here)
    return max(costliest_count(p, q, times, delta)[1] for p, q in sides)


def proved_mu(counts: Counts, alpha: float, *, anytime: bool = False) -> float:
    """A lower bound of the separation of *Gaussian* noise, or of what is made of it afterwards.

    Any event has Phi^-1(P) - Phi^-1(Q) <= mu (Dong, Roth and Su 2022, Theorem 2.7). With
    `epsilon_of` it bounds an epsilon from below only where the noise is Gaussian indeed: such a
    bound refutes a claim of DP-SGD, and says nothing of a mechanism of which no more is known.
    """
    return mu_by(separated(counts, _ABOVE, alpha, anytime=anytime))


def mu_by(found: Separated) -> float:
    """`proved_mu` from probabilities of the event, the closest that are not refuted."""
    if not found.here > found.there:
        return 0.0
    return float(ndtri(min(found.here, 1.0 - 2.0**-53)) - ndtri(max(found.there, 1e-300)))


def _laws(mu: float, threshold: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    above = ndtr(np.array([0.5 * mu - threshold, -0.5 * mu - threshold]))
    return np.stack([above, 1.0 - above], axis=1)


def _expected(mu: float, threshold: float, releases: int) -> Counts:
    above = np.rint(releases * _laws(mu, threshold)[:, 0]).astype(np.int64)
    return Counts(*(np.array([count, releases - count]) for count in above))
