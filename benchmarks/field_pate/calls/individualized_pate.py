"""individualized-pate: `DefaultGNMax` and `ConfidentGNMax` of a `GNMax` collector."""

import numpy as np
from imported import ByOutcome, WithAccountant, imported, numpy_once_had, stand_in

BASE = "fraboeni/individualized-pate"
stand_in(
    "loguru",
    "tqdm",
    "per_point_pate",
    "per_point_pate.models",
    "per_point_pate.models.classifiers",
    "per_point_pate.privacy",
)
numpy_once_had(float=float)
core = imported(BASE, "per_point_pate/privacy/core.py", "per_point_pate.privacy.core")
pate = imported(BASE, "per_point_pate/privacy/pate.py")
# of an array of one number, which numpy no longer takes for a number
pate._log1mexp = lambda x: core._log1mexp(float(np.squeeze(x)))


def collector(classes, seed):
    made = pate.GNMax(n_classes=classes, n_teachers=250, sigma=40, seed=seed)
    made.prepare(budgets=np.array([1.0]), mapping=None)
    return made


def released(aggregator):
    """Labels of `aggregate_votes`; one order is charged for, as it charges with every label."""

    def labels(histogram, size):
        votes = np.array(histogram, dtype=float)
        every = (aggregator.aggregate_votes(votes, np.array([2.0])) for _ in range(size))
        return [int(label) for label, _ in every]

    return labels


def cost(histogram, orders):
    return collector(len(histogram), None).tight_bound(histogram.astype(float), orders)[0]


def default(seed):
    return released(pate.DefaultGNMax(collector(10, seed), seed))


def by_outcome(histogram, orders, answered):
    """What `aggregate_votes` charges, where the threshold is far below or far above all votes."""
    threshold = -1e9 if answered else 1e9
    always = pate.ConfidentGNMax(collector(len(histogram), None), None, sigma=150, t=threshold)
    return always.aggregate_votes(np.array(histogram, dtype=float), np.array(orders))[1][0]


gnmax = WithAccountant(default(None), cost)
seeded = default(1)
confident = released(pate.ConfidentGNMax(collector(10, None), None, sigma=150, t=200))
realised = ByOutcome(by_outcome)
