"""diffpriv24: `NoisyMaxAggregator` and `ConfidentGNMax`, their costs, and a budget of one run."""

import sys
from contextlib import redirect_stdout
from types import SimpleNamespace

import numpy as np
from imported import StandIn, WithAccountant, imported, only_accountant, stand_in, votes_of

from dpassay.reference import BudgetExhausted

BASE = "Doran-Penner/diffpriv24"
stand_in("torchvision", "torchvision.transforms", "globals", device=None)


class Torch(StandIn):
    """What of torch a vote needs, as numpy has it."""

    zeros = staticmethod(lambda shape, **_: np.zeros(shape))
    max = staticmethod(np.max)
    Tensor = staticmethod(np.array)

    @staticmethod
    def normal(mean, deviation):
        return SimpleNamespace(to=lambda _: np.random.normal(mean, deviation))


sys.modules["torch"] = Torch("torch")
costs = imported(BASE, "privacy_accounting.py")
helper = imported(BASE, "helper.py")
aggregate = imported(BASE, "aggregate.py")
of_ten = SimpleNamespace(num_labels=10)


def place(label):
    """A label, of one or of none at each place."""
    return -1 if label[0] is None else int(np.argmax(label))


def released(aggregator):
    def labels(histogram, size):
        votes = votes_of(histogram)
        return [place(aggregator.aggregate(votes)) for _ in range(size)]

    return labels


def answer(histogram, orders, scale):
    q = helper.data_dependent_cost(votes_of(histogram), len(histogram), scale)
    with np.errstate(all="ignore"):  # of powers of thousands
        return np.array([costs.epsilon_ma_vec([q], order, scale) for order in orders])


def one_by_one(histogram, orders):
    """Of the function for a single query, which raises at orders in the thousands."""
    q = helper.data_dependent_cost(votes_of(histogram), len(histogram), 40)
    return [costs.single_epsilon_ma(float(q), float(order), 40) for order in orders]


def gnmax_cost(histogram, orders):
    return answer(histogram, orders, 40)


def confident_cost(histogram, orders):
    """A screening, as its constructor has it for one order, and an answer."""
    return orders / 100**2 + answer(histogram, orders, 35)


class Limited:
    """`threshold_aggregate`, which answers until a budget is spent."""

    def __init__(self, budget):
        self.budget = budget
        self.aggregator = aggregate.NoisyMaxAggregator(40, of_ten, np.random.normal)

    def sample(self, histogram, size):
        return [self.one(votes_of(histogram)) for _ in range(size)]

    def one(self, votes):
        with redirect_stdout(None):  # it prints at every call
            label = place(self.aggregator.threshold_aggregate(votes, self.budget))
        if label < 0:
            raise BudgetExhausted
        return label

    def spent(self, _):
        return self.aggregator.eps


noisy_max = aggregate.NoisyMaxAggregator(40, of_ten, np.random.normal)
confident_max = aggregate.ConfidentGNMax(100, 35, 195, of_ten)
gnmax = WithAccountant(released(noisy_max), gnmax_cost)
confident = WithAccountant(released(confident_max), confident_cost)
limited = Limited(2.0)
single = only_accountant(one_by_one)
