"""DP-Auditorium's testers on labels, and on releases, of a mechanism with half its noise.

`python -m benchmarks.peers.dp_auditorium` from the repository's root, in an environment that has
DP-Auditorium (google/differential-privacy, python/dp_auditorium) by its own instructions; this
project need not be installed there. Prints a table; takes about half an hour. The laws are those
of `benchmarks.refutation`: the same pair, the same claim, the same half of the noise.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CLAIMED, DRAWN = 4.0, 2.0  # sigma
PAIR = np.array([[125, 124, 1, *[0] * 7], [124, 125, 1, *[0] * 7]], dtype=float)
ORDER, RENYI = 2.0, 2.0 / CLAIMED**2
EPSILON, DELTA = 0.1, 0.101  # the Gaussian curve of sensitivity sqrt(2) at sigma 4 has 0.10091
ERRORS = (1e-6, 0.05)
SIZES = (10**4, 10**5, 10**6)
FEWER = (2000, 3000, 4000, 5000)
"""Samples of each world for the tester that refutes at the least of `SIZES`."""
REPETITIONS = 3
CLIPPED, CLIPPED_LOOSELY = 0.6, 1.0
"""Bounds of a Rényi tester's log-ratios; those of the laws at half the noise are 0.567 and less,
which an auditor would have to know: the least value that loses nothing, and one with some room."""

Samples = NDArray[np.float64]
Tester = Callable[[Samples, Samples, float], tuple[float, bool]]


def labels(world: int, sigma: float, size: int, rng: np.random.Generator) -> Samples:
    """Labels (size,) of GNMax."""
    step = 100_000
    parts = [min(step, size - start) for start in range(0, size, step)]
    drawn = [(PAIR[world] + rng.normal(0.0, sigma, (n, 10))).argmax(1) for n in parts]
    return np.concatenate(drawn).astype(float)


def releases(world: int, sigma: float, size: int, rng: np.random.Generator) -> Samples:
    """Gaussian releases (size,) of a sum that a person moves by sqrt(2): the same Rényi claim."""
    return rng.normal(world * np.sqrt(2.0), sigma, size)


class Case(NamedTuple):
    """A tester on samples of one kind."""

    name: str
    tester: Tester
    drawn: Callable[[int, float, int, np.random.Generator], Samples]


def renyi(bound: float) -> Tester:
    """Its Rényi tester at order 2, trained as in its own tests."""
    properties, configs, testers = modules("privacy_property", "property_tester_config", "renyi")

    def test(here: Samples, there: Samples, error: float) -> tuple[float, bool]:
        claim = properties.RenyiDp(alpha=ORDER, epsilon=RENYI)
        tester = testers.RenyiPropertyTester(
            configs.RenyiPropertyTesterConfig(
                alpha=ORDER,
                training_config=configs.TrainingConfig(
                    training_epochs=5,
                    batch_size=128,
                    optimizer_learning_rate=0.001,
                    model_output_coordinate_bound=bound,
                ),
                privacy_property=properties.PrivacyProperty(renyi_dp=claim),
            ),
            base_model=testers.make_default_renyi_base_model(),
        )
        return outcome(tester, here[:, None], there[:, None], error)

    return test


def hockey_stick() -> Tester:
    """Its hockey-stick tester, with its default model and training."""
    properties, configs, testers = modules(
        "privacy_property", "property_tester_config", "hockey_stick"
    )

    def test(here: Samples, there: Samples, error: float) -> tuple[float, bool]:
        tester = testers.HockeyStickPropertyTester(
            configs.HockeyStickPropertyTesterConfig(
                training_config=testers.make_default_hs_training_config(),
                approximate_dp=properties.ApproximateDp(epsilon=EPSILON, delta=DELTA),
            ),
            base_model=testers.make_default_hs_base_model(),
        )
        return outcome(tester, here, there, error)

    return test


def histogram() -> Tester:
    """Its histogram tester, on the ten labels."""
    properties, configs, testers = modules(
        "privacy_property", "property_tester_config", "histogram"
    )

    def test(here: Samples, there: Samples, error: float) -> tuple[float, bool]:
        tester = testers.HistogramTester(
            configs.HistogramPropertyTesterConfig(
                test_discrete_mechanism=True,
                histogram_size=PAIR.shape[1],
                min_value=0.0,
                max_value=9.0,
                approximate_dp=properties.ApproximateDp(epsilon=EPSILON, delta=DELTA),
            )
        )
        return outcome(tester, here.astype(int), there.astype(int), error)

    return test


def modules(*configs_and_tester: str) -> Iterator[Any]:
    """Modules of the library: two of its configurations, and a tester."""
    *configs, tester = configs_and_tester
    for name in configs:
        yield import_module(f"dp_auditorium.configs.{name}")
    yield import_module(f"dp_auditorium.testers.{tester}_tester")


def outcome(tester: Any, here: Any, there: Any, error: float) -> tuple[float, bool]:
    """The lower bound, and whether it refutes the claim."""
    bound = float(tester.estimate_lower_bound(here, there, error))
    return bound, bool(tester.reject_property(bound))


def row(case: Case, sigma: float, size: int, error: float) -> str:
    """A line of the table: some repetitions of one case."""
    bounds, refuted, seconds = [], 0, []
    for seed in range(REPETITIONS):
        rng = np.random.default_rng([size, seed, int(sigma)])
        import_module("tensorflow").keras.utils.set_random_seed(seed)
        here, there = (case.drawn(world, sigma, size, rng) for world in (0, 1))
        began = time.perf_counter()
        bound, rejected = case.tester(here, there, error)
        seconds.append(time.perf_counter() - began)
        bounds.append(bound)
        refuted += rejected
    shown = " ".join(f"{bound:.3f}" for bound in bounds)
    taken = f"{statistics.median(seconds):.1f}"
    return f"| {case.name} | {sigma:g} | {error:g} | {size:,} | {shown} | {refuted} | {taken} |"


def main() -> None:
    try:
        cases = [
            Case(f"Rényi to {CLIPPED:g}, labels", renyi(CLIPPED), labels),
            Case(f"Rényi to {CLIPPED_LOOSELY:g}, labels", renyi(CLIPPED_LOOSELY), labels),
            Case(f"Rényi to {CLIPPED_LOOSELY:g}, releases", renyi(CLIPPED_LOOSELY), releases),
            Case("hockey-stick, labels", hockey_stick(), labels),
            Case("histogram, labels", histogram(), labels),
        ]
    except ImportError as missing:
        sys.exit(f"{missing}: install DP-Auditorium (google/differential-privacy) to measure it")
    print(f"claims: {RENYI:g} at order 2; delta {DELTA:g} at epsilon {EPSILON:g}")
    print("| tester | sigma drawn | error | samples a world | lower bounds | refuted | seconds |")
    print("|---|---|---|---|---|---|---|")
    runs = [(DRAWN, SIZES[0], ERRORS[1]), (CLAIMED, SIZES[1], ERRORS[1])]
    runs += [(DRAWN, size, ERRORS[0]) for size in SIZES]
    for run in runs:
        for case in cases:
            print(row(case, *run), flush=True)
    for size in FEWER:
        print(row(cases[3], DRAWN, size, ERRORS[0]), flush=True)


if __name__ == "__main__":
    main()
