"""A wager that one of two trials is likelier: fair under its null, and seen as stated."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.verifiers.evidence import log_e_value_larger
from dpassay.verifiers.evidence.power import rises_to_see


@pytest.mark.parametrize("chance", [0.2, 0.9])
def test_the_one_sided_wager_never_gains_under_its_null(chance) -> None:
    """Enumerated: pairs of independent trials, the first no likelier than the second."""
    for pairs in (1, 5, 30):
        apart = 2.0 * chance * (1.0 - chance)
        total = 0.0
        for n in range(pairs + 1):
            for first in range(n + 1):
                weight = binom.pmf(n, pairs, apart) * binom.pmf(first, n, 0.5)
                total += weight * math.exp(log_e_value_larger(first, n - first))
        assert total <= 1.0 + 1e-9
        assert total > 0.9


def test_rises_to_see() -> None:
    """Null: a fall of 0.02 shows with probability 0.99."""
    chance, effect, wanted = 0.98, 0.02, 19.0
    pairs = rises_to_see(chance, effect, wanted)
    rng = np.random.default_rng(4)
    runs, shown = 2000, 0
    for _ in range(runs):
        first = rng.binomial(pairs, chance * (1 - chance + effect))
        second = rng.binomial(pairs, (chance - effect) * (1 - chance))
        shown += log_e_value_larger(first, second) >= wanted
    assert shown >= binom.ppf(1e-9, runs, 0.99)
