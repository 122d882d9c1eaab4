"""Lower bounds of epsilon from e-values: where they stop, and their coverage."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee, epsilon_lower


def test_the_bound_stops_at_the_first_epsilon_that_is_not_refuted() -> None:
    """Evidence that rises again further on counts for nothing; catches a bisection."""
    threshold = math.log(40.0)

    def gap(epsilon: float) -> float:
        return threshold - 0.1 if 0.3 <= epsilon <= 0.6 else threshold + 0.1

    def bound(log_e_value: Callable[[float], float]) -> float:
        return epsilon_lower(lambda tried: [log_e_value(epsilon) for epsilon in tried], 0.05)

    assert 0.25 <= bound(gap) < 0.3
    assert bound(lambda _: 0.0) == 0.0
    assert bound(lambda e: threshold + 1 if e < 0.03 else 0.0) == pytest.approx(0.025)
    with pytest.raises(ValueError, match="error 1"):
        epsilon_lower(lambda _: [], 1.0)


def bound_of(epsilon: float, seed: int, draws: int) -> float:
    """Of randomised response that keeps epsilon exactly."""
    rng = np.random.default_rng([seed, 8])
    coins = rng.random(draws) < 0.5
    shown = coins ^ (rng.random(draws) > 1.0 / (1.0 + math.exp(-epsilon)))

    def log_e_values(tried: Sequence[float]) -> Sequence[float]:
        audit = CoinAudit([Guarantee(epsilon) for epsilon in tried])
        audit.observe(shown.astype(float), coins)
        return [float(log) for log in audit.log_e_values]

    return epsilon_lower(log_e_values, 0.05)


@pytest.mark.slow("over half a second")
def test_a_bound_is_seldom_above_the_true_epsilon_and_near_it() -> None:
    """Null: 1 in 20 is above at most, so that 9 of 20 have probability 1e-6; seeds are fixed."""
    bounds = [bound_of(1.0, seed, 600) for seed in range(20)]
    assert sum(bound > 1.0 for bound in bounds) < 9
    assert np.median(bounds) > 0.4
