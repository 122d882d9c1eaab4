"""CaPC: the privacy guardian's noise in csp.py, and the costs of learning/analysis."""

import numpy as np
from imported import imported, numpy_once_had, only_accountant

BASE = "cleverhans-lab/capc-iclr"
numpy_once_had(float=float)
csp = imported(BASE, "csp.py")
costs = imported(BASE, "learning/analysis/pate.py", "capc_pate")

THRESHOLD, SCREENING, NOISE = 50, 30, 7
system = np.random.default_rng()


class Files:
    """In place of files, and of the program that adds two shares and gives the largest place."""

    def __init__(self):
        self.read = csp.sum_files, csp.write_array, csp.call_parties, csp.read_array
        csp.sum_files = sum
        csp.write_array = self.keep
        csp.call_parties = self.add
        csp.read_array = lambda _: int(np.argmax(self.total))

    def keep(self, _, share):
        self.share = share

    def add(self, others, *_):
        self.total = others + self.share


Files()


def labels(histogram, size):
    """The parties' sum is split in two shares, one of which the guardian gets."""
    found = []
    for _ in range(size):
        share = system.integers(0, 1024, len(histogram))
        found.append(csp.get_histogram(np.array(histogram) - share, [share], None, None))
    return found


def both(histogram, orders):
    answered = costs.compute_logpr_answered(THRESHOLD, SCREENING, histogram)
    screening = costs.compute_rdp_data_dependent_threshold(answered, SCREENING, orders)
    logq = costs.compute_logq_gnmax(histogram, NOISE)
    return answered, screening, costs.compute_rdp_data_dependent_gnmax(logq, NOISE, orders)


def in_expectation(histogram, orders):
    """As `rdp_cumulative.analyze` adds a row of votes to its sum."""
    answered, screening, answer = both(histogram, orders)
    return screening + np.exp(answered) * answer


def whatever_the_outcome(histogram, orders):
    _, screening, answer = both(histogram, orders)
    return screening + answer


expected = only_accountant(in_expectation)
in_full = only_accountant(whatever_the_outcome)
