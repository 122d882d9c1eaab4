"""A real ensemble to try things on: 250 teachers that read handwritten digits.

The table holds the votes on 360 test images of scikit-learn's bundled digits (UCI ML hand-written
digits, 1,797 images, public domain): each teacher is a nearest-neighbour classifier on its own
five or six of the other 1,437 images. It is shipped (8 kB) because training would add
scikit-learn to the requirements and a second to every run; nearest neighbours on whole-number
pixels come out the same on every machine. `python -m dpassay.reference.train_ensemble` trains
anew and prints the table.
"""

from importlib import resources

import numpy as np
from numpy.typing import NDArray

TEACHERS = 250
CLASSES = 10


def digit_histograms() -> NDArray[np.int64]:
    """Vote histograms of the embedded ensemble, shape (360, 10), rows summing to 250."""
    with resources.files("dpassay.reference").joinpath("digit_votes.csv").open() as table:
        return np.loadtxt(table, delimiter=",", dtype=np.int64, skiprows=1)
