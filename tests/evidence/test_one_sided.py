"""A wager that one of two trials is likelier: fair under its null, and seen as stated."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.verifiers.evidence.power import rises_to_see
from dpassay.verifiers.evidence.same_law import log_e_value_above, log_e_value_larger


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


@pytest.mark.parametrize("bound", [0.05, 0.5, 0.9])
def test_the_wager_on_a_mean_is_an_average(bound) -> None:
    """Enumerated: values of 0 and 1 whose mean is the bound, where nothing is left over."""
    total = 0.0
    for values in product((0.0, 1.0), repeat=4):
        chance = math.prod(bound if one else 1.0 - bound for one in values)
        total += chance * math.exp(log_e_value_above(np.array(values), bound))
    assert math.isclose(total, 1.0, rel_tol=1e-9)


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
