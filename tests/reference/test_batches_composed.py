"""The cost of many steps with Poisson sampling, against simulated privacy losses."""

import numpy as np
import pytest

from dpassay.reference.accounting.batches import batches_epsilon, poisson_deltas
from dpassay.reference.batches import Batches

DRAWN = 100_000
DEVIATIONS = 5.0  # of a mean, exceeded with probability 6e-7


def excess(epsilon: float, rate: float, multiplier: float, steps: int) -> tuple[float, float]:
    """Delta at `epsilon` of a record more and of one less: the larger, and its standard error.

    The mean over outputs of either world of max(0, 1 - e^(epsilon - loss)).
    """
    rng = np.random.default_rng([steps, 31])
    found = []
    for there in (True, False):
        loss = np.zeros(DRAWN)
        for _ in range(steps):
            moved = (rng.random(DRAWN) < rate) if there else 0.0
            seen = multiplier * rng.normal(size=DRAWN) + moved
            ratio = 1.0 - rate + rate * np.exp((seen - 0.5) / multiplier**2)
            loss += np.log(ratio) if there else -np.log(ratio)
        parts = np.maximum(0.0, -np.expm1(epsilon - loss))
        found.append((float(parts.mean()), float(parts.std() / np.sqrt(DRAWN))))
    return max(found)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("rate", "multiplier", "steps", "epsilon"), [(0.5, 4.0, 64, 2.0), (0.02, 0.8, 50, 0.5)]
)
def test_steps_compose_as_simulated_losses_do(rate, multiplier, steps, epsilon) -> None:
    """Null: the bracket holds; fails with 1e-6. A tenth more steps is seen."""
    delta, error = excess(epsilon, rate, multiplier, steps)
    batches = Batches.parse(f"poisson:{rate}", 1_000)
    above = batches_epsilon(batches, multiplier, steps, delta + DEVIATIONS * error)
    below = batches_epsilon(batches, multiplier, steps, delta - DEVIATIONS * error)
    assert above.low <= epsilon <= below.high
    more = batches_epsilon(batches, multiplier, round(1.1 * steps), delta - DEVIATIONS * error)
    assert more.low > epsilon


@pytest.mark.parametrize(("rate", "multiplier", "steps"), [(0.5, 2.0, 4), (1.0, 1.0, 1)])
def test_deltas_at_many_epsilons_are_those_of_the_losses(rate, multiplier, steps) -> None:
    """From above, and near: catches a rate that is left out, and one order of the neighbours."""
    epsilons = np.array([0.0, 0.2, 0.6])
    for epsilon, delta in zip(
        epsilons, poisson_deltas(rate, multiplier, steps, epsilons), strict=True
    ):
        simulated, deviation = excess(float(epsilon), rate, multiplier, steps)
        assert abs(delta - simulated) < DEVIATIONS * deviation + 1e-3
