"""What a training costs exactly, and what the best attacker of its last weights sees."""

from functools import cache

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld

from dpassay.attacks.auditing.one_run_curve import Least, of_guarantees
from dpassay.reference.accounting.batches import batches_epsilon
from dpassay.reference.arrays import Vector
from dpassay.reference.batches import Batches
from dpassay.reference.numbers import families
from dpassay.reference.numbers.moves import move_epsilon

from .settings import CANARIES, DIGITS, SAMPLINGS, coins_of

DELTA = 1e-5
_EPSILONS = np.concatenate([[0.0], np.geomspace(0.01, 40.0, 160)])
_INTERVAL = 1e-3  # of the grid of losses


@cache
def exact_law(sampling: str, multiplier: float) -> pld.PrivacyLossDistribution:
    """The privacy loss of a training for one record more or less, rounded up.

    Of fixed batches: of the epochs, each of which has a record once, so that what shuffling may
    take off is not counted.
    """
    batches, steps, _ = SAMPLINGS[sampling]
    rate, times = (1.0 / batches, steps) if sampling == "poisson" else (1.0, steps // batches)
    step = pld.from_gaussian_mechanism(
        multiplier, sampling_prob=rate, value_discretization_interval=_INTERVAL
    )
    return step.self_compose(times)


def exact_curve(sampling: str, multiplier: float) -> Least:
    """The trade-off curve of a training, from below: by its exact deltas at many epsilons."""
    deltas = exact_law(sampling, multiplier).get_delta_for_epsilon(_EPSILONS)
    return of_guarantees(_EPSILONS, deltas)


def exact_epsilon(sampling: str, multiplier: float) -> float:
    """Epsilon of a training at `DELTA`."""
    return float(exact_law(sampling, multiplier).get_epsilon_for_delta(DELTA))


def ideal_scores(
    sampling: str, multiplier: float, canaries: int, seed: int
) -> tuple[Vector, np.ndarray]:
    """Scores and coins of an attacker who reads each canary's sum of clipped gradients bare.

    What the weights of the last step say where no two canaries have a weight in common.
    """
    batches, steps, _ = SAMPLINGS[sampling]
    rng, coins = np.random.default_rng([seed, 22]), coins_of(canaries, seed)
    seen = rng.binomial(steps, 1.0 / batches, canaries)
    times = seen if sampling == "poisson" else np.full(canaries, steps // batches)
    noise = multiplier * np.sqrt(steps) * rng.normal(size=canaries)
    return times * coins + noise, coins


def accounted(sampling: str, multiplier: float) -> tuple[float, float]:
    """Epsilon of a training at `DELTA` by dpassay's own accounting: from below and from above."""
    batches, steps, _ = SAMPLINGS[sampling]
    records = DIGITS + CANARIES
    if sampling == "poisson":
        drawn = Batches.parse(f"poisson:{1.0 / batches}", records)
        found = batches_epsilon(drawn, multiplier, steps, DELTA)
        return found.low, found.high
    exact = epsilon_if_gaussian(np.sqrt(steps / batches) / multiplier)
    return exact, exact


def epsilon_if_gaussian(mu: float) -> float:
    """Epsilon at `DELTA` of the Gaussian curve of mu."""
    return move_epsilon(families.Gaussian(1.0), mu, DELTA)
