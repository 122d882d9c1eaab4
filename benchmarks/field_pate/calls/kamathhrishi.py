"""kamathhrishi/PATE: `Teacher.addnoise`, and the noise that its `analyze` counts on."""

from types import SimpleNamespace

import numpy as np
from imported import imported, stand_in


class Laplace:
    """As torch's distribution, of arrays of one number."""

    def __init__(self, loc, scale):
        self.loc, self.scale = loc, scale

    def sample(self):
        return np.random.laplace(self.loc, self.scale)


stand_in("torch.nn", "torch.nn.functional", "torch.optim", "torch.distributions", "util")
stand_in("syft", "syft.frameworks", "syft.frameworks.torch")
stand_in("syft.frameworks.torch.differential_privacy")
stand_in("torch", tensor=np.array)
stand_in("torch.distributions.laplace", Laplace=Laplace)
teacher = imported("kamathhrishi/PATE", "Teacher.py").Teacher(SimpleNamespace(), SimpleNamespace)


def labels(histogram, size):
    """As `predict` does: noise for each count, and the place of the largest."""
    noisy = [[teacher.addnoise(count)[0] for count in histogram] for _ in range(size)]
    return np.argmax(noisy, axis=1)
