"""Labels: noise is drawn once for all answers of a call."""

import numpy as np


class Deployment:
    def __init__(self):
        self.rng = np.random.default_rng()

    def sample(self, histogram, size):
        noise = self.rng.normal(0.0, 20.0, len(histogram))  # !
        noisy = histogram + np.broadcast_to(noise, (size, len(histogram)))
        return noisy.argmax(axis=1)
