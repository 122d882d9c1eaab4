"""What the best test takes to tell a pair apart, and that equal pairs are equal."""

import math
import shutil
from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from same_as_zoo import DIFFERENT as OF_TESTS
from scipy.stats import chisquare, ks_2samp

# from the repository's root, which is not on the path of what types are checked by
different = import_module("benchmarks.same_as.different").DIFFERENT
equal = import_module("benchmarks.same_as.equal").MORE
limits = import_module("benchmarks.same_as.limits")
rates = import_module("benchmarks.same_as.rates")
command = import_module("benchmarks.same_as.__main__")
real = import_module("benchmarks.same_as.real")


def test_laws_that_share_nothing_gain_ln_2_and_equal_ones_nothing() -> None:
    apart = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert rates.rate(apart) == pytest.approx(math.log(2.0))
    assert rates.rate((apart[0], apart[0])) == pytest.approx(0.0, abs=1e-12)
    assert rates.best_units(apart) == rates.LEAST


def test_near_laws_gain_what_the_series_says() -> None:
    """Of Gaussian laws d apart d^2 / 4, less 3 d^4 / 16 - d^4 / 8 and higher ones."""
    d = 0.1
    part = limits.added(limits.law.norm(d), limits.law.norm())
    exact = d**2 / 4.0 + d**4 / 8.0 - 12.0 * d**4 / 64.0
    assert rates.rate(part) == pytest.approx(exact, rel=2e-3)


def test_of_two_parts_the_mean_of_draws_is_the_sum_over_all() -> None:
    """Catches odds that are not added up, and draws of the other law."""
    one = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    both = np.outer(one[0], one[0]).ravel(), np.outer(one[1], one[1]).ravel()
    assert rates.rate(one, one) == pytest.approx(rates.rate(both), rel=0.02)


@pytest.mark.slow("sums over all pairs of cells")
def test_the_limits_of_the_tests_are_these() -> None:
    """To a whole unit; catches a bar that a test of the learner takes too high or too low."""
    assert set(limits.LIMITS) == set(different)
    told = {name: pair.limit for name, pair in OF_TESTS.items()}
    assert told == {name: round(limits.LIMITS[name]()) for name in OF_TESTS}


def test_a_row_counts_the_runs_that_found_nothing() -> None:
    """As later than all that did: catches a median of those alone that found the difference."""
    told = {"code": None, "seconds": 0.1}
    found = told | {"verdict": "fail", "units": 40, "queries": 41}
    missed = told | {"verdict": "pass", "units": None, "queries": 61}
    row = command.different_row("one-noise", [found, missed, missed])
    assert row == "| one noise | 1 of 3 | 20 | over 61 | - |"
    assert command.different_row("one-noise", [found, missed, found]).endswith("| 40 | 2.0 |")
    assert command.equal_row("equal gumbel", [[found, missed], []]) == "| gumbel | 1 of 2 | - |"


def test_a_run_of_the_evidence_alone_finds_a_difference_and_accuses_no_equal_pair() -> None:
    assert command.judged("one-noise", 1, 0, 1e-6, 0)["units"] < 100
    assert command.judged("equal inverse", 1, 60, 1e-6, 0)["verdict"] != "fail"


def test_real_pairs_name_environments_and_scripts_that_there_are() -> None:
    for pair in real.REAL.values():
        for side in (pair.target, pair.reference):
            folder = real.HERE if side.environment is None else real.CALLS
            assert (folder / side.script.split(" ")[0].split(":")[0]).is_file()
            assert side.environment is None or side.environment in real.ENVIRONMENTS


@pytest.mark.slow("compiles a program, and asks it hundreds of times")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler of C")
def test_a_port_in_c_with_half_the_noise_is_found() -> None:
    """Of the README's aggregator, through the command; catches requests that C reads otherwise."""
    (row,) = real.real_rows(1, "in C, half")
    assert "fail, as expected" in row


CHOICES = (
    "labels-half",
    "close-labels-half",
    "temperature",
    "ties-to-the-first",
    "threshold-for-each-answer",
    "threshold-answers-half",
    "flip-for-exponential",
    "exponential-without-2",
    "quantile-moves-by-1",
)


def replies(maker: Any, values: Any, seed: int, count: int) -> list[Any]:
    """As many replies of a side."""
    side = maker(np.random.default_rng(seed))
    return [side(values, 1)[0] for _ in range(count)]


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.quick_cases(1)
def test_choices_come_as_often_as_their_limit_takes_for_granted(name) -> None:
    """Of either side, whose place None is the last; catches a law with another scale."""
    pair = different[name]
    ((*laws,),) = limits.PARTS[name]()
    for maker, law in zip((pair.target, pair.reference), laws, strict=True):
        drawn = replies(maker, pair.values[0], 5, 4_000)
        counts = Counter(len(law) - 1 if one is None else int(one) for one in drawn)
        found = np.array([counts[place] for place in range(len(law))])
        often = law * len(drawn) >= 5.0
        seen, expected = found[often].sum(), law[often] / law[often].sum()
        assert chisquare(found[often], seen * expected).pvalue > 1e-6


@pytest.mark.slow("thousands of replies of each")
@pytest.mark.parametrize("name", [name for name, pair in equal.items() if pair.lives is None])
def test_equal_pairs_follow_one_law(name) -> None:
    """Each number of a reply, and how far they spread; catches a side that has another scale."""
    pair = equal[name]
    drawn = [replies(maker, pair.values[0], 5, 4_000) for maker in (pair.target, pair.reference)]
    assert {type(one) for one in drawn[0]} - {np.float64} <= {type(one) for one in drawn[1]}
    numbers = [np.array([as_numbers(one) for one in side], float) for side in drawn]
    columns = [np.column_stack([of, of.std(1)]) for of in numbers]
    for one, other in zip(columns[0].T, columns[1].T, strict=True):
        assert ks_2samp(one, other, method="asymp").pvalue > 1e-6


def as_numbers(reply: Any) -> Any:
    """The numbers of a reply; None is a number that no other reply is."""
    return np.ravel(reply["cells"] if isinstance(reply, dict) else -1.0 if reply is None else reply)
