"""Laws of privacy: what keeps them passes, and every known way to be wrong is found."""

import math

import numpy as np
import pytest
from hypothesis import given
from law_variants import RIGHT, WRONG
from mpmath import mp

from dpassay.verifiers.strategies import GROUP, LAWS, SUBSAMPLING, guarantees, pairs
from dpassay.verifiers.strategies.law import composed_delta, delta_of, worst_pair
from dpassay.verifiers.strategies.laws import gaussian_delta

CASES = {
    kind: [
        pytest.param(law, function, id=f"{law.name}: {name}")
        for law in LAWS
        for name, function in some[law.name].items()
    ]
    for kind, some in (("right", RIGHT), ("wrong", WRONG))
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("law", "function"), CASES["right"])
def test_what_is_right_keeps_the_law(law, function) -> None:
    law.check(function, examples=60)  # 200, over 20 seeds, in `benchmarks.laws`


@pytest.mark.parametrize(("law", "function"), CASES["wrong"])
def test_what_is_wrong_is_found_within_two_hundred_examples(law, function) -> None:
    assert law.first_broken(function, seed=1) is not None


@pytest.mark.slow("over half a second")
def test_what_breaks_a_law_is_told_shrunk_and_with_its_source() -> None:
    with pytest.raises(AssertionError) as error:
        GROUP.check(lambda epsilon, delta, size: (epsilon, delta))
    told = str(error.value).splitlines()[0]
    assert told.startswith("group privacy: 2 ")
    assert told.count("(0.01, 0)") == 2
    assert told.endswith("Lemma 2.2)")


def test_a_function_that_raises_is_not_taken_for_one_that_breaks_the_law() -> None:
    def fails(epsilon, rate):
        raise RuntimeError("no such rate")

    with pytest.raises(RuntimeError, match="no such rate"):
        SUBSAMPLING.check(fails)


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0, 5.0])
def test_the_delta_of_many_guarantees_is_that_of_all_their_outcomes(epsilon) -> None:
    """A product of the laws, outcome by outcome. Catches a delta that is added to each pair."""
    parts = [((0.5, 0.01), 3), ((1.2, 0.0), 2)]
    p = q = np.ones(1)
    for guarantee, times in parts:
        for _ in range(times):
            one, two = worst_pair(*guarantee)
            p, q = np.outer(p, one).ravel(), np.outer(q, two).ravel()
    assert composed_delta(parts, epsilon) == pytest.approx(delta_of(p, q, epsilon), abs=1e-12)


@given(guarantees())
def test_the_worst_pair_has_its_guarantee_and_no_better(guarantee) -> None:
    epsilon, delta = guarantee
    p, q = worst_pair(epsilon, delta)
    assert p.sum() == pytest.approx(1.0)
    assert delta_of(p, q, epsilon) == pytest.approx(delta, abs=1e-12)
    assert delta_of(p, q, 0.99 * epsilon) > delta


@given(pairs())
def test_pairs_are_laws_of_the_same_outcomes(pair) -> None:
    p, q = pair
    assert p.shape == q.shape
    assert [p.sum(), q.sum()] == pytest.approx([1.0, 1.0], abs=1e-9)
    assert min(p.min(), q.min()) >= -1e-15


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0.1, 0.2), (1.0, 3.0), (4.0, 20.0)])
def test_the_delta_of_gaussian_noise_in_fifty_digits(sensitivity, epsilon) -> None:
    """The integral of the densities' difference; catches a sign in either term."""
    with mp.workdps(50):
        start = mp.mpf(epsilon) / sensitivity + mp.mpf(sensitivity) / 2
        ahead = mp.e**epsilon
        exact = mp.quad(
            lambda x: mp.npdf(x, sensitivity) - ahead * mp.npdf(x), [start, start + 5, start + 40]
        )
        assert gaussian_delta(sensitivity, epsilon) == pytest.approx(float(exact), rel=1e-9)
    assert math.isfinite(gaussian_delta(sensitivity, 100.0))
