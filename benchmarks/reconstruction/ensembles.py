"""The histograms that are attacked: the published ones where present, else an embedded ensemble."""

import csv
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.reference import ConfidentGNMax, Gaussian, consensus, digit_histograms
from dpassay.verifiers.commands.charged_rows import account_of
from dpassay.verifiers.inputs.log_file import AskedRows

from ..long_runs import DATA

SIGMAS = (40.0, 60.0, 80.0, 100.0)
CANONICAL = 40.0
GROUPS = ("high", "medium", "low")
EACH = 5


@dataclass(frozen=True)
class Ensemble:
    """Histograms (15, 10) in groups of five by consensus, and the deployment that serves them.

    budget_queries: how often each may be asked at sigma 40 within the canonical budget; epsilon:
    (sigma, sample) -> the cost of 10^4 queries, where it is known.
    """

    name: str
    histograms: NDArray[np.int64]
    threshold: float
    threshold_noise: Gaussian
    epsilon_budget: float
    delta: float
    budget_queries: NDArray[np.int64]
    epsilon: dict[tuple[float, int], float] = field(default_factory=dict)

    @property
    def teachers(self) -> int:
        """Votes in each histogram."""
        return int(self.histograms[0].sum())

    def screened(self, sigma: float) -> ConfidentGNMax:
        """The deployment at a noise scale."""
        return ConfidentGNMax(Gaussian(sigma), self.threshold, self.threshold_noise)


def ensembles() -> list[Ensemble]:
    if (DATA / "wang2022_histograms.csv").is_file():
        return [
            _published("mnist", threshold=200.0, noise=150.0, budget=1.97, delta=1e-5),
            _published("svhn", threshold=300.0, noise=200.0, budget=4.96, delta=1e-6),
        ]
    return [_embedded()]


def _published(
    name: str, *, threshold: float, noise: float, budget: float, delta: float
) -> Ensemble:
    """Thresholds, budgets and deltas as in Papernot et al. 2018, which Wang et al. follow."""

    def rows(file: str) -> list[dict[str, str]]:
        with (DATA / file).open() as table:
            return [row for row in csv.DictReader(table) if row["dataset"] == name]

    votes = [[int(row[f"votes_{k}"]) for k in range(10)] for row in rows("wang2022_histograms.csv")]
    queries = [int(row["n_queries"]) for row in rows("wang2022_reference_budget.csv")]
    costs = {
        (float(row["sigma"]), int(row["sample"]) - 1): float(row["epsilon"])
        for row in rows("wang2022_reference_accounting.csv")
    }
    return Ensemble(
        name, np.array(votes), threshold, Gaussian(noise), budget, delta, np.array(queries), costs
    )


def _embedded() -> Ensemble:
    """Five digits from each third by consensus, under MNIST's deployment; expected charging."""
    votes = digit_histograms()
    order = np.argsort([-consensus(row) for row in votes], kind="stable")
    thirds = np.array_split(order, len(GROUPS))
    chosen = votes[np.concatenate([third[:: len(third) // EACH][:EACH] for third in thirds])]
    budget, delta, noise = 1.97, 1e-5, Gaussian(150.0)
    rows = [AskedRows(row[None], None) for row in chosen]
    costs, queries = {}, []
    for sample, row in enumerate(rows):
        for sigma in SIGMAS:
            mechanism = ConfidentGNMax(Gaussian(sigma), 200.0, noise)
            costs[sigma, sample] = account_of(row, mechanism, delta, repeat=10_000).epsilon
        canonical = ConfidentGNMax(Gaussian(CANONICAL), 200.0, noise)
        queries.append(account_of(row, canonical, delta, budget=budget).queries)
    return Ensemble("digits", chosen, 200.0, noise, budget, delta, np.array(queries), costs)
