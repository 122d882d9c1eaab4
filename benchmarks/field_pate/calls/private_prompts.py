"""PrivatePrompts, PromptPATE/pate: `query`, and the charge of a query in its analysis."""

import numpy as np
from imported import WithAccountant, imported, numpy_once_had, only_accountant, votes_of

BASE = "cleverhans-lab/PrivatePrompts"
numpy_once_had(float=float)
costs = imported(BASE, "PromptPATE/pate/privacy_utils.py")
utils = imported(BASE, "PromptPATE/pate/pate_utils.py")

THRESHOLD, SCREENING, NOISE = 360, 50, 20
AT_ONCE = 1000  # samples


def some_labels(histogram, size):
    votes = np.tile(votes_of(histogram), (size, 1))
    labels, answered = utils.query(votes, THRESHOLD, SCREENING, NOISE, len(histogram))
    kept = np.full(size, -1)
    kept[answered] = labels[answered]
    return kept


def labels(histogram, size):
    sizes = [min(AT_ONCE, size - done) for done in range(0, size, AT_ONCE)]
    return np.concatenate([some_labels(histogram, n) for n in sizes])


def cost(votes, orders):
    """As `analyze_multiclass_confident_gnmax` adds a row of votes to its sum."""
    answered = costs.compute_logpr_answered(THRESHOLD, SCREENING, votes)
    screening = costs.compute_rdp_data_dependent_threshold(answered, SCREENING, orders)
    logq = costs.compute_logq_gnmax(votes, NOISE)
    answer = costs.compute_rdp_data_dependent_gnmax(logq, NOISE, orders)
    return screening + np.exp(answered) * answer


def as_called(histogram, orders):
    """As `pate_main` calls it: the row holds the class that each teacher votes for."""
    return cost(votes_of(histogram), orders)


confident = WithAccountant(labels, cost)
labels_only = labels
as_main_calls_it = only_accountant(as_called)
