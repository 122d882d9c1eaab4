"""What a canary costs exactly, and counts of its releases by their exact law.

Steps at which the canary lies differently far apart are one of separation sqrt(sum mu_t^2), by the
sum of their log-likelihood ratios (Dong, Roth and Su 2022, arXiv 1905.02383v3, Corollary 3.3).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.auditing import Counts, counts_of_laws
from dpassay.attacks.auditing.two_cut import separated
from dpassay.attacks.gradients.canaries import Attribute, Canary, ClippedModel, farthest
from dpassay.attacks.gradients.canary_audit import ABOVE, epsilon_of, laws_above, mu_by
from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.arrays import Matrix, Vector
from dpassay.reference.numbers import NoisyGradient, parse_number_noise, sensitivity


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


def direction(canary: Canary) -> Vector:
    """The direction (p,) from there to here, of length 1, of ends that differ."""
    return np.asarray((canary.gradients[0] - canary.gradients[1]) / canary.distance)


def drawn(mu: float, threshold: float, releases: int, rng: np.random.Generator) -> Counts:
    """Counts of so many releases in each world, by their exact law."""
    return counts_of_laws(laws_above(mu, threshold), releases, rng)


def proved_mu(counts: Counts, alpha: float, *, anytime: bool = False) -> float:
    """`mu_by` from counts of releases above a threshold, and of the others, in either world."""
    return mu_by(separated(counts, ABOVE, alpha, anytime=anytime))


def found_canary(
    model: ClippedModel, records: Matrix, attribute: Attribute, classes: int
) -> Canary:
    """The record (of n, q) and the label whose gradient moves farthest as the attribute flips."""
    return farthest(model, records, attribute, classes, 1)[0]
