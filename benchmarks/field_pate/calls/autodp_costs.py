"""autodp, rdp_bank.py: costs of PATE with Gaussian noise, and of the screening before it."""

import math

import numpy as np
import scipy.stats
from imported import imported, numpy_once_had, only_accountant, stand_in

BASE = "yuxiangw/autodp"
numpy_once_had(asscalar=np.ndarray.item)
stand_in("autodp", utils=imported(BASE, "autodp/utils.py", "autodp.utils"))
bank = imported(BASE, "autodp/rdp_bank.py")

THRESHOLD, SCREENING, NOISE = 180, 75, 25  # as Private_kNN has them for MNIST


def union_bound(votes, sigma):
    """The log-probability of another label than the first: it is handed over, as q is."""
    behind = np.delete(votes.max() - votes, votes.argmax())
    logs = scipy.stats.norm.logsf(behind, scale=math.sqrt(2) * sigma)
    return min(float(np.logaddexp.reduce(logs)), math.log(1 - 1 / len(votes)))


def data_dependent(histogram, orders):
    given = {"logq": union_bound(histogram, 40), "sigma": 40}
    return [one_order(given, order) for order in orders]


def one_order(given, order):
    """Where no bound but the data-independent one applies, it asks what numpy no longer answers."""
    try:
        return bank.RDP_depend_pate_gaussian(given, order)
    except ValueError:
        return bank.RDP_inde_pate_gaussian(given, order)


def screened(histogram, orders):
    """A screening against either neighbour, and an answer, whatever the outcome."""

    def passing(most):
        return float(scipy.stats.norm.logsf(THRESHOLD - most, scale=SCREENING))

    most = int(histogram.max())
    pairs = [{"logp": passing(most), "logq": passing(most + step)} for step in (1, -1)]
    answer = {"sigma": NOISE}
    return [
        max(bank.RDP_noisy_screen(pair, order) for pair in pairs)
        + bank.RDP_inde_pate_gaussian(answer, order)
        for order in orders
    ]


def screened_whatever_the_votes(histogram, orders):
    screen = {"thresh": THRESHOLD, "k": int(histogram.sum()), "sigma": SCREENING}
    return [
        bank.RDP_independent_noisy_screen(screen, order)
        + bank.RDP_inde_pate_gaussian({"sigma": NOISE}, order)
        for order in orders
    ]


gnmax = only_accountant(data_dependent)
confident = only_accountant(screened)
confident_independent = only_accountant(screened_whatever_the_votes)
