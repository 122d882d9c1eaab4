"""How evidence adds up over runs: expectation at most 1 under the null, and what it sees.

Expectations are enumerated over a fair coin. Wrong implementations in mind: the highest look of a
run stored in place of the last one, runs with little evidence left out, the mixtures of runs
multiplied in place of their parts.
"""

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from dpassay.verifiers.evidence.scale import ScaleEvidence, scale_factors
from dpassay.verifiers.ledger.strands import Strand, WholeEvidence
from dpassay.verifiers.run.error_budget import log_threshold

HEADS = np.array([0.8, 0.3])
"""What each of two parts holds for the probability of heads, of a fair coin."""
WEIGHTS = np.log([0.6, 0.4])
RUNS, FLIPS = 4, 2


def log_ratios(heads: bool) -> np.ndarray:
    return np.log((HEADS if heads else 1.0 - HEADS) / 0.5)


def looks_of(flips: tuple[bool, ...], stops: Callable[[np.ndarray], bool]) -> list[np.ndarray]:
    """Log e-values (parts,) after every flip of a run, which ends where `stops` says so."""
    looks = [np.zeros(2)]
    for heads in flips:
        looks.append(looks[-1] + log_ratios(heads))
        if stops(looks[-1]):
            break
    return looks[1:]


def lives() -> Iterator[list[tuple[bool, ...]]]:
    """All equally likely flips of a life of runs."""
    for flips in product((False, True), repeat=RUNS * FLIPS):
        yield [flips[FLIPS * run : FLIPS * (run + 1)] for run in range(RUNS)]


def mean_of(value: Callable[[list[tuple[bool, ...]]], float]) -> float:
    found = [value(life) for life in lives()]
    return math.fsum(found) / len(found)


def ends_early(strand: Strand) -> Callable[[np.ndarray], bool]:
    """A run ends once the evidence of all runs has grown, as the gate ends by it."""
    return lambda logs: strand.log_value_with(logs) > strand.log_value


def of_ledger(life: list[tuple[bool, ...]]) -> float:
    strand = Strand(WEIGHTS)
    for flips in life:
        strand.add(looks_of(flips, ends_early(strand))[-1])
    return math.exp(strand.log_value)


def of_highest_looks(life: list[tuple[bool, ...]]) -> float:
    strand = Strand(WEIGHTS)
    for flips in life:
        strand.add(np.max(looks_of(flips, ends_early(strand)), axis=0))
    return math.exp(strand.log_value)


def of_runs_with_evidence(life: list[tuple[bool, ...]]) -> float:
    strand = Strand(WEIGHTS)
    for flips in life:
        last = looks_of(flips, ends_early(strand))[-1]
        if strand.log_value_with(last) >= strand.log_value:
            strand.add(last)
    return math.exp(strand.log_value)


def test_the_sum_over_runs_has_expectation_1() -> None:
    """Also where a run ends by what all runs together have shown."""
    assert mean_of(of_ledger) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("wrong", [of_highest_looks, of_runs_with_evidence])
def test_the_enumeration_sees_what_is_no_e_value(wrong: Callable[..., float]) -> None:
    assert mean_of(wrong) > 1.1


def by_builds(life: list[tuple[bool, ...]], *, again: bool) -> float:
    """A new build, or the first one again, after every run of two heads."""
    whole, build = WholeEvidence(1, WEIGHTS), 0
    for flips in life:
        logs = looks_of(flips, lambda logs: logs[0] > 0.4)[-1]
        value = whole.log_value_with(str(build), logs)
        whole.add(str(build), logs)
        if all(flips):
            build = 0 if again and build else build + 1
    return math.exp(value)


@pytest.mark.parametrize("again", [False, True])
def test_the_half_on_builds_has_expectation_1(*, again: bool) -> None:
    """Whatever decides that a build is new; catches a build whose weight is taken twice."""
    assert mean_of(lambda life: by_builds(life, again=again)) == pytest.approx(1.0, abs=1e-12)


def test_parts_are_multiplied_and_mixtures_are_not() -> None:
    """M is the mixture over parts and over the run with which a fault sets in, written out.

    Catches the product of the runs' mixtures, which is an e-value too, and sees far less.
    """
    runs = np.random.default_rng(3).normal(0.2, 1.0, (7, 2))
    strand = Strand(WEIGHTS)
    for logs in runs:
        strand.add(logs)
    n = len(runs)
    expected = 1.0 / (n + 1)
    for begins in range(n):
        each = np.exp(WEIGHTS + runs[begins:].sum(0))
        expected += each.sum() / ((begins + 1) * (begins + 2))
    assert math.exp(strand.log_value) == pytest.approx(expected, rel=1e-12)


def test_runs_that_rule_a_part_out_are_not_forgotten() -> None:
    """An e-value of 0 ends what was wagered, and infinite evidence is none that falls."""
    strand = Strand(WEIGHTS)
    strand.add(np.array([3.0, -np.inf]))
    assert strand.log_sums[1] == -np.inf
    strand.add(np.array([-np.inf, 0.0]))
    assert math.exp(strand.log_value) == pytest.approx(1.0 / 3.0 + 0.4 / 6.0)
    strand.add(np.array([np.inf, 0.0]))
    assert strand.log_value == np.inf


def normal_run(rng: np.random.Generator, scale: float, draws: int, looks: int) -> np.ndarray:
    """Sums (looks,) of squares of so many draws, up to each look."""
    return np.asarray(scale**2 * rng.chisquare(draws / looks, looks).cumsum())


def scale_logs(factors: np.ndarray, squares: float, draws: float) -> np.ndarray:
    return np.asarray(-draws * np.log(factors) + 0.5 * squares * (1.0 - factors**-2.0))


@pytest.mark.slow("a thousand lives of sixty runs")
def test_correct_lives_are_accused_no_more_often_than_allowed() -> None:
    """At .05, of 1,000 lives: 50 and three deviations. Highest looks accuse 999 of them."""
    rng, needed, accused = np.random.default_rng(11), math.log(20.0), 0
    factors = np.exp(np.linspace(-0.35, 0.35, 17))
    for _ in range(1_000):
        whole = WholeEvidence(1, np.full(17, -math.log(17.0)))
        for run in range(60):
            squares, last = normal_run(rng, 1.0, 500, 2), np.zeros(17)
            for look, seen in enumerate(squares, 1):
                last = scale_logs(factors, seen, 250.0 * look)
                value = whole.log_value_with(str(run // 10), last)
                if value >= needed:
                    break
            if value >= needed:
                accused += 1
                break
            whole.add(str(run // 10), last)
    assert accused <= 71


def runs_until_seen(rng: np.random.Generator, scale: float, first: int, most: int) -> int:
    """Runs of 20,000 normal draws after the fault began, with the budget of `noise-scale`."""
    evidence = ScaleEvidence(scale_factors(0.05))
    whole = WholeEvidence(1, evidence.log_weights)
    needed = log_threshold(1 / 8, 1e-6) + whole.log_price
    for run in range(1, first + most):
        wide = scale if run >= first else 1.0
        squares = float(normal_run(rng, wide, 20_000, 1)[0])
        logs = scale_logs(evidence.factors, squares, 20_000)
        build = "sound" if run < first else "faulty"
        if whole.log_value_with(build, logs) >= needed:
            return run - first + 1
        whole.add(build, logs)
    return most


@pytest.mark.slow("some thousand runs")
@pytest.mark.parametrize(
    ("scale", "first", "most"), [(0.99, 1, 12), (0.99, 31, 16), (0.97, 1, 2), (0.97, 31, 2)]
)
def test_a_scale_is_seen_within_so_many_runs(scale: float, first: int, most: int) -> None:
    """Medians of 101 lives at 1e-6; a run alone never sees .99. Catches nightly mixtures."""
    rng = np.random.default_rng(7)
    found = [runs_until_seen(rng, scale, first, 60) for _ in range(101)]
    assert np.median(found) <= most
