"""Numbers: noise for one count that changes, where a person who moves changes two."""

import numpy as np


class Deployment:
    epsilon, sensitivity = 1.0, 1.0  # !

    def __init__(self):
        self.rng = np.random.default_rng()

    def sample(self, counts, size):
        scale = self.sensitivity / self.epsilon
        return counts + self.rng.laplace(0.0, scale, (size, len(counts)))
