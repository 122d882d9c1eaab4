"""How the evidence of runs adds up: a nonnegative supermartingale over runs, part by part.

Run n of a process brings e-values E (p,), one for each part of a mixture with weights v (p,), each
of expectation at most 1 given all runs before. A fault may set in with any run, with prior weight
w_n = 1/(n(n+1)): S <- E (S + w_n), and M = sum v (S + R), where R = 1/(n+1) waits for later runs.
So E[M_n | before] <= M_(n-1), and M_0 <= 1: by Ville's inequality M ever reaches 1/alpha with
probability at most alpha. The weights of the parts are paid once, not in every run, as they would
be by a product of the runs' own mixtures.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ...reference.arrays import Vector
from ..evidence.mixture import log_mixture_of


class Strand:
    """One process over runs; log_weights (p,): of its parts; runs: that it has had.

    log_sums (p,): log of S.
    """

    def __init__(self, log_weights: Vector) -> None:
        self.log_weights, self.runs = log_weights, 0
        self.log_sums = np.full(log_weights.size, -np.inf)

    @property
    def log_value(self) -> float:
        """Log of M."""
        return self._log_value_of(self.log_sums, self.runs)

    def log_value_with(self, logs: Vector) -> float:
        """Log of M if the next run ended with log e-values (p,) of the parts."""
        return self._log_value_of(self._sums_with(logs), self.runs + 1)

    def add(self, logs: Vector) -> None:
        """Adds a run that has ended with log e-values (p,) of the parts."""
        self.log_sums = self._sums_with(logs)
        self.runs += 1

    def _sums_with(self, logs: Vector) -> Vector:
        run = self.runs + 1
        begins = -math.log(run * (run + 1))
        before = np.logaddexp(self.log_sums, begins)  # finite or infinite, never no number
        found = before + np.where(np.isneginf(logs), 0.0, logs)
        return np.where(np.isneginf(logs), -np.inf, found)

    def _log_value_of(self, log_sums: Vector, runs: int) -> float:
        waits = -math.log(runs + 1)
        return log_mixture_of(np.logaddexp(log_sums, waits), self.log_weights)


@dataclass
class WholeEvidence:
    """The evidence of one check from a fresh start on: over all runs, and build by build.

    Half of it is one strand of all runs, half is spread over strands of the builds of the target,
    in the order in which they came, with weights 1/(v(v+1)): a fault of build 3 is not paid for by
    the sound builds before it. rank: its place among the wholes of the check, counted from 1, of
    which each has 1/(r(r+1)) of the check's error; log_weights (p,): of the parts.
    """

    rank: int
    log_weights: Vector
    all_runs: Strand = field(init=False)
    builds: dict[str, Strand] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.all_runs = Strand(self.log_weights)

    @property
    def log_price(self) -> float:
        """What its evidence must reach beyond that of a check alone, natural log."""
        return math.log(self.rank * (self.rank + 1))

    def log_value_with(self, build: str, logs: Vector) -> float:
        """Log of the evidence if a run of a build ended with log e-values (p,) of the parts."""
        each = {name: strand.log_value for name, strand in self.builds.items()}
        strand = self.builds.get(build) or Strand(self.log_weights)
        each[build] = strand.log_value_with(logs)
        places = np.arange(1, len(each) + 1)
        waits = -math.log(len(each) + 1)  # for builds that are still to come
        of_builds = log_mixture_of(
            np.array([*each.values(), 0.0]), np.append(-np.log(places * (places + 1.0)), waits)
        )
        halves = np.array([self.all_runs.log_value_with(logs), of_builds])
        return log_mixture_of(halves, np.full(2, -math.log(2.0)))

    def add(self, build: str, logs: Vector) -> None:
        """Adds a run of a build that has ended with log e-values (p,) of the parts."""
        self.all_runs.add(logs)
        self.builds.setdefault(build, Strand(self.log_weights)).add(logs)
