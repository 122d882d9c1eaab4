"""DP-Auditorium's testers on six means, four of which are not private.

`python -m benchmarks.peers.dp_auditorium_means` from the repository's root, in an environment that
has DP-Auditorium by its own instructions (see dp_auditorium.py). Prints a table: the least of
`SIZES`, in releases of both inputs together, from which on all repetitions refute the claim.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mean_mechanisms import MECHANISMS, PAIR, delta_of

ERRORS = (0.05, 1e-6)
EPSILONS = (0.01, 0.1)
SIZES = (200, 500, 1000, 2000, 5000, 10_000, 30_000)
"""Releases of each input."""

REPETITIONS = 3
BINS = 20
REACH = 5.0
"""Releases are cut at so many scales: a tester must be told where to look."""

Samples = NDArray[np.float64]
Tester = Callable[[Samples, Samples, float, float, float], bool]
"""Releases of both inputs, epsilon, delta, error; whether it refutes."""


def module(name: str) -> Any:
    """A module of the library."""
    return import_module(f"dp_auditorium.{name}")


def claim(epsilon: float, delta: float) -> Any:
    """In its words."""
    return module("configs.privacy_property").ApproximateDp(epsilon=epsilon, delta=delta)


def hockey_stick(here: Samples, there: Samples, epsilon: float, delta: float, error: float) -> bool:
    """A neural network, by its own defaults."""
    configs, testers = (
        module("configs.property_tester_config"),
        module("testers.hockey_stick_tester"),
    )
    tester = testers.HockeyStickPropertyTester(
        configs.HockeyStickPropertyTesterConfig(
            training_config=testers.make_default_hs_training_config(),
            approximate_dp=claim(epsilon, delta),
        ),
        base_model=testers.make_default_hs_base_model(),
    )
    bound = tester.estimate_lower_bound(here[:, None], there[:, None], error)
    return bool(tester.reject_property(bound))


def histogram(here: Samples, there: Samples, epsilon: float, delta: float, error: float) -> bool:
    """Equal cells within the reach."""
    configs, testers = module("configs.property_tester_config"), module("testers.histogram_tester")
    tester = testers.HistogramTester(
        configs.HistogramPropertyTesterConfig(
            test_discrete_mechanism=False,
            histogram_size=BINS,
            min_value=-REACH,
            max_value=REACH,
            approximate_dp=claim(epsilon, delta),
        )
    )
    bound = tester.estimate_lower_bound(here, there, error)
    return bool(tester.reject_property(bound))


def mmd(here: Samples, there: Samples, epsilon: float, delta: float, error: float) -> bool:
    """Maximum mean discrepancy, with a Gaussian kernel of the width of the noise."""
    configs, testers = module("configs.property_tester_config"), module("testers.mmd_tester")
    tester = testers.MMDPropertyTester(
        configs.MMDPropertyTesterConfig(
            kernel=configs.Kernel.KERNEL_RBF, bandwidth=1.0, approximate_dp=claim(epsilon, delta)
        )
    )
    bound = tester.estimate_lower_bound(here[:, None], there[:, None], error)
    return bool(tester.reject_property(bound))


TESTERS: dict[str, Tester] = {"hockey-stick": hockey_stick, "histogram": histogram, "MMD": mmd}


def told(name: str, epsilon: float, size: int, seed: int) -> tuple[Samples, Samples]:
    """Releases of both inputs, in scales of the noise where it is known, cut."""
    rng = np.random.default_rng([size, seed])
    unit = epsilon if name.endswith("1") else 1.0
    here, there = (
        np.clip(unit * MECHANISMS[name](records, epsilon, size, rng), -REACH, REACH)
        for records in PAIR
    )
    return here, there


def least(tester: Tester, name: str, epsilon: float, error: float) -> str:
    """The least size, or how many repetitions of the largest refute."""
    refuted = 0
    for size in SIZES:
        refuted = 0
        for seed in range(REPETITIONS):
            import_module("tensorflow").keras.utils.set_random_seed(seed)
            here, there = told(name, epsilon, size, seed)
            refuted += tester(here, there, epsilon, delta_of(name), error)
        if refuted == REPETITIONS:
            return f"{2 * size:,}"
    return f"above {2 * SIZES[-1]:,} ({refuted} of {REPETITIONS})"


def main() -> None:
    try:
        module("testers.histogram_tester")
    except ImportError as missing:
        sys.exit(f"{missing}: install DP-Auditorium (google/differential-privacy) to measure it")
    chosen = sys.argv[1:] or list(TESTERS)
    columns = [f"{name}, error {error:g}" for name in chosen for error in ERRORS]
    print("| mechanism | claimed epsilon | " + " | ".join(columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    for name in MECHANISMS:
        for epsilon in EPSILONS:
            cells = [least(TESTERS[t], name, epsilon, error) for t in chosen for error in ERRORS]
            print(f"| {name} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
