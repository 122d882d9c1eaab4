"""What many queries cost: of a pair exactly, which takes seconds, and at most of any votes."""

import math
from functools import lru_cache

from ....reference.accounting.analyses import CountedCost
from ....reference.accounting.composition import epsilon_bracket
from ....reference.accounting.gnmax import is_of_noisy_counts
from ....reference.mechanisms import NoisyArgmax, UnknownMechanismError
from ....reference.noise import Gaussian
from ....reference.numbers.families import Gaussian as OnNumbers
from ....reference.numbers.moves import move_epsilon
from ...claims.tables import PrivacyClaim
from ...findings.figures import PrivacyCost
from ...findings.report import CheckResult
from .mechanism import LabelsMechanism

MOST_COMPOSED = 2000
"""Most queries whose exact cost is computed, which takes three seconds."""


def with_exact_cost(result: CheckResult, claim: LabelsMechanism) -> CheckResult:
    """The result of `privacy-claim` with epsilon of its pair, bracketed, where that is computed."""
    figures = result.figures
    if figures is None or figures.cost is None or figures.cost.times > MOST_COMPOSED:
        return result
    cost = figures.cost.model_copy(update={"exact_epsilon": exact_epsilon(figures.cost, claim)})
    return result.model_copy(update={"figures": figures.model_copy(update={"cost": cost})})


@lru_cache(maxsize=8)  # a page and a JSON object are made of one run
def exact_epsilon(cost: PrivacyCost, claim: LabelsMechanism) -> tuple[float, float]:
    """Epsilon of a pair at the claimed delta, between two bounds."""
    mechanism = claim.mechanism()
    here, there = (
        mechanism.log_probabilities([float(v) for v in votes]) for votes in (cost.here, cost.there)
    )
    exact = epsilon_bracket(here, there, cost.times, cost.delta)
    return exact.low, exact.high


def proven_epsilon(claim: LabelsMechanism, privacy: PrivacyClaim) -> float | None:
    """Epsilon that the claimed queries cost at most at the claimed delta, whatever the votes.

    The least of Renyi costs, that of releasing the noisy counts (Balle, Wang 2018, Theorem 8), and
    epsilon of one answer times queries. None for a mechanism that nothing is known of.
    """
    mechanism, neighbours = claim.mechanism(), claim.neighbourhood
    try:
        counted = CountedCost(mechanism, neighbours, teachers=claim.teachers)
    except UnknownMechanismError:
        return None
    found = counted.least_epsilon(privacy.queries, 0, privacy.delta)
    noise = mechanism.noise
    of_counts = isinstance(mechanism, NoisyArgmax) and is_of_noisy_counts(noise)
    if of_counts and isinstance(noise.unrounded, Gaussian):
        moved = math.sqrt(neighbours.squared * privacy.queries)
        found = min(found, move_epsilon(OnNumbers(noise.scale), moved, privacy.delta))
    return found
