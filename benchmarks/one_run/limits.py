"""How often the best attacker of the last weights refutes a claim with half the noise."""

from functools import cache

from dpassay.attacks.auditing.one_run import one_run_bound
from dpassay.attacks.auditing.one_run_curve import Least, curve_refuted

from .exact import DELTA, exact_curve, exact_epsilon, ideal_scores
from .settings import HALF

RUNS = 100
SIZES = (1_000, 3_000, 10_000)
CASES = (("poisson", 2.0), ("poisson", 4.0), ("poisson", 8.0), ("shuffled", 4.0), ("whole", 4.0))


@cache
def _claim(sampling: str, multiplier: float) -> tuple[Least, float]:
    return exact_curve(sampling, multiplier), exact_epsilon(sampling, multiplier)


def refuted(sampling: str, multiplier: float, canaries: int) -> list[int]:
    """Of `RUNS`: right ones whose curve is refuted, halved ones whose curve, or epsilon, is."""
    curve, epsilon = _claim(sampling, multiplier)
    right, halved, by_epsilon = 0, 0, 0
    for seed in range(RUNS):
        right += curve_refuted(curve, *ideal_scores(sampling, multiplier, canaries, seed))
        scores, coins = ideal_scores(sampling, multiplier * HALF, canaries, seed)
        halved += curve_refuted(curve, scores, coins)
        by_epsilon += one_run_bound(scores, coins, DELTA).epsilon > epsilon
    return [right, halved, by_epsilon]
