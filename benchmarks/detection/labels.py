"""Queries until a fault of labels is found: the gate, beside a fixed-sample chi-square test.

The test asks 24 vote histograms of the embedded ensemble equally often and adds up Pearson's
statistic, at the same false_alarm. Its sample size has to be chosen beforehand; the one shown is
the smallest of the doublings that finds the fault in half of the runs, as hindsight knows it.
"""

import statistics
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import chi2

from dpassay.reference import Gaussian, NoisyArgmax, digit_histograms
from dpassay.verifiers.kinds.reading import parse_claim

from ..judged import judged
from ..timing import Row

Draw = Callable[[np.ndarray, int], np.ndarray]
Make = Callable[[np.random.Generator], Draw]

RUNS = 20
SIGMA = 40.0
FALSE_ALARM = 1e-6
FEWEST, MOST = 240, 250_000
LEAST_EXPECTED = 5.0  # counts expected; rarer labels are merged, as the test's law needs


def rows() -> Iterator[Row]:
    claim = parse_claim(
        {
            "mechanism": {"name": "gnmax", "noise": f"gaussian:{SIGMA}", "classes": 10}
            | {"teachers": 250},
            "gate": {"false_alarm": FALSE_ALARM},
        }
    )
    for name, make in FAULTS.items():
        ours = [
            judged(claim, make(np.random.default_rng(seed)), seed, "stop").found_after
            for seed in range(RUNS)
        ]
        found = [queries for queries in ours if queries is not None]
        missed = f", {RUNS - len(found)} missed" if len(found) < RUNS else ""
        median = f"{statistics.median(found):,.0f}" if found else "never"
        theirs = queries_of_chi_square(make)
        fixed = f"chi-square: {theirs:,}" if theirs else f"chi-square: more than {MOST:,}"
        ratio = f"{theirs / statistics.median(found):.1f}" if theirs and found else ""
        yield f"queries until found: {name}", f"{median} (median of {RUNS}{missed})", fixed, ratio


def queries_of_chi_square(make: Make) -> int | None:
    total = FEWEST
    while total <= MOST:
        refuted = sum(
            chi_square_refutes(make(np.random.default_rng(s)), total) for s in range(RUNS)
        )
        if 2 * refuted >= RUNS:
            return total
        total *= 2
    return None


def chi_square_refutes(draw: Draw, total: int) -> bool:
    statistic, degrees = 0.0, 0
    histograms = digit_histograms()[:24]
    size = total // len(histograms)
    for votes, law in zip(histograms, laws(), strict=True):
        observed = np.bincount(draw(votes, size), minlength=law.size)
        order = np.argsort(law)
        merged = size * np.cumsum(law[order]) < LEAST_EXPECTED
        cells = np.where(merged, 0, np.arange(law.size))
        expected = np.bincount(cells, size * law[order], law.size)
        counts = np.bincount(cells, observed[order], law.size)
        if 0 < expected[0] < LEAST_EXPECTED and not merged.all():
            at = int(np.flatnonzero(~merged)[0])
            expected[at], counts[at] = expected[at] + expected[0], counts[at] + counts[0]
            expected[0] = counts[0] = 0
        used = expected > 0
        statistic += float((np.square(counts - expected)[used] / expected[used]).sum())
        degrees += int(used.sum()) - 1
    return degrees > 0 and statistic > chi2.isf(FALSE_ALARM, degrees)


def laws() -> np.ndarray:
    votes = digit_histograms()[:24].astype(float)
    found: np.ndarray = np.exp(NoisyArgmax(Gaussian(SIGMA)).log_probabilities(votes))
    return found


def scaled(factor: float) -> Make:
    def make(rng: np.random.Generator) -> Draw:
        return lambda votes, size: noisy(votes, factor * normal(rng, votes, size))

    return make


def laplace(rng: np.random.Generator) -> Draw:
    scale = SIGMA / np.sqrt(2.0)
    return lambda votes, size: noisy(votes, rng.laplace(0, scale, (size, votes.size)))


def clipped(rng: np.random.Generator) -> Draw:
    return lambda votes, size: noisy(
        votes, np.clip(normal(rng, votes, size), -2 * SIGMA, 2 * SIGMA)
    )


def bare_empty_classes(rng: np.random.Generator) -> Draw:
    return lambda votes, size: noisy(votes, normal(rng, votes, size) * (votes > 0))


def plurality_leaks(rng: np.random.Generator) -> Draw:
    return lambda votes, size: np.where(
        rng.random(size) < 0.05, votes.argmax(), noisy(votes, normal(rng, votes, size))
    )


def same_seed(rng: np.random.Generator) -> Draw:
    seed = int(rng.integers(1 << 32))
    return lambda votes, size: noisy(votes, normal(np.random.default_rng(seed), votes, size))


def half_repeats(rng: np.random.Generator) -> Draw:
    def draw(votes: np.ndarray, size: int) -> np.ndarray:
        labels = noisy(votes, normal(rng, votes, size))
        fresh = rng.random(size) < 0.5
        fresh[:1] = True
        return labels[np.maximum.accumulate(np.where(fresh, np.arange(size), 0))]

    return draw


def normal(rng: np.random.Generator, votes: np.ndarray, size: int) -> np.ndarray:
    return rng.normal(0, SIGMA, (size, votes.size))


def noisy(votes: np.ndarray, noise: np.ndarray) -> np.ndarray:
    labels: np.ndarray = (votes + noise).argmax(-1)
    return labels


FAULTS: dict[str, Make] = {
    "half the noise": scaled(0.5),
    "0.9 of the noise": scaled(0.9),
    "0.97 of the noise": scaled(0.97),
    "twice the noise": scaled(2.0),
    "Laplace noise of equal variance": laplace,
    "noise clipped at 2 sigma": clipped,
    "no noise on classes without votes": bare_empty_classes,
    "the plurality one time in twenty": plurality_leaks,
    "a seed set anew in every call": same_seed,
    "half of the answers repeat the one before": half_repeats,
}
