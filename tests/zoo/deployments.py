"""Deployments with an accountant or a budget; without imports of the zoo, as one runs by path."""

import numpy as np

from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon


class Accounted:
    """A mechanism's labels, with `charge(histogram, orders)` as its accountant."""

    def __init__(self, mechanism, charge, seed):
        self.mechanism, self.charge, self.rng = mechanism, charge, np.random.default_rng(seed)

    def sample(self, histogram, size):
        return self.mechanism.sample(histogram, size, self.rng)

    def rdp(self, histogram, orders):
        return self.charge(np.asarray(histogram), np.asarray(orders))


class Metered:
    """GNMax of sigma 10 with a budget of epsilon 1 that runs from the first look at the account.

    Before it, any number of queries is answered, since checks of the labels need more than a
    budget allows. charged: queries charged for each one answered.
    """

    def __init__(self, seed, charged=1.0, budget=1.0):
        self.mechanism, self.rng = NoisyArgmax(Gaussian(10.0)), np.random.default_rng(seed)
        self.charged, self.budget = charged, budget
        self.asked, self.metered = 0.0, False

    def sample(self, histogram, size):
        if self.metered:
            cost = self.cost(size)
            if self.epsilon(self.asked + cost) > self.budget:
                raise BudgetExhausted("epsilon is spent")
            self.asked += cost
        return self.mechanism.sample(histogram, size, self.rng)

    def cost(self, size):
        return size * self.charged

    def epsilon(self, queries, delta=1e-5):
        return to_epsilon(ORDERS, queries * ORDERS / 100, delta).epsilon if queries else 0.0

    def spent(self, delta):
        self.metered = True
        return self.epsilon(self.asked, delta)


in_memory = Metered(0)
