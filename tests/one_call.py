"""One call for five labels, as the tests of targets ask them."""

import numpy as np

from dpassay.verifiers.targets import Target, checked_labels

HISTOGRAM = np.array([30, 15, 5])
CALL = r"aggregate\(\[30, 15, 5\], size=5\)"


def ask(target: Target, size: int = 5) -> np.ndarray:
    return checked_labels(target.ask(HISTOGRAM, size), HISTOGRAM, size, may_refuse=False)
