"""Budgets: a call is charged once, however many answers it gives."""

import numpy as np

from dpassay.reference import BudgetExhausted


class Deployment:
    sigma, budget, delta = 40.0, 2.0, 1e-5

    def __init__(self):
        self.rng, self.rho = np.random.default_rng(), 0.0

    def sample(self, histogram, size):
        self.rho += 1.0 / self.sigma**2  # !
        if self.spent(self.delta) > self.budget:
            raise BudgetExhausted(f"epsilon {self.budget} is spent")
        noise = self.rng.normal(0.0, self.sigma, (size, len(histogram)))
        return (histogram + noise).argmax(axis=1)

    def spent(self, delta):
        return self.rho + 2.0 * np.sqrt(self.rho * np.log(1.0 / delta))
