"""Images from mixtures with known pairs: a phase retrieval at each pixel.

At a pixel the mixtures are |A p|, with the same A (n, m) of weights at every pixel. p is determined
up to its sign: first by the leading eigenvector of its products p_i p_j (`spectral`), then by
alternating signs and least squares (`refined`), as Gerchberg and Saxton 1972 do with phases.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .instahide import Images, Whole
from .mixtures import Mixtures

_STEPS = 10
_RIDGE = 1e-2  # of the mean diagonal, where an image is in few mixtures
_PIXELS = 256  # at a time


def spectral(clear: Mixtures, pairs: Whole, images: int) -> tuple[Images, Images]:
    """Images (m, d), each pixel up to a sign, and the public part (d,) of `Mixtures`.

    Means of squares are regressed on the squares of weights; what a square has beyond is 2 a b p q.
    """
    n, d = clear.absolute.shape
    trust, a, b = clear.trust, clear.weights[:, 0], clear.weights[:, 1]
    weights = np.zeros((n, images + 1), dtype=np.float32)
    weights[np.arange(n)[:, None], pairs] = clear.weights**2
    weights[:, images] = clear.public_weight
    means = np.maximum(_least_squares(weights, trust, clear.absolute**2), 1e-3)
    public = means[images] if clear.public_weight.max() > 1e-6 else np.zeros(d, dtype=np.float32)
    products = (clear.absolute**2 - weights[:, :images] @ means[:images]) - np.outer(
        clear.public_weight, public
    )
    products *= (trust * a * b)[:, None]
    cell = pairs[:, 0] * images + pairs[:, 1]
    to_cells = csr_matrix((np.ones(n, dtype=np.float32), (cell, np.arange(n))), (images**2, n))
    found = np.empty((images, d), dtype=np.float32)
    for start in range(0, d, _PIXELS):
        some = slice(start, start + _PIXELS)
        matrices = (to_cells @ products[:, some]).T.reshape(-1, images, images)
        matrices = matrices + matrices.transpose(0, 2, 1)
        found[:, some] = np.linalg.eigh(matrices)[1][:, :, -1].T
    found *= np.sqrt(images * means[:images].mean(0))
    return found, np.asarray(public)


def refined(clear: Mixtures, pairs: Whole, images: Images) -> Images:
    """Images (m, d) that explain the absolute values better, from those given."""
    n, m = len(pairs), len(images)
    weights = np.zeros((n, m), dtype=np.float32)
    weights[np.arange(n)[:, None], pairs] = clear.weights
    for _ in range(_STEPS):
        signs = np.where(weights @ images < 0.0, -1.0, 1.0).astype(np.float32)
        images = _least_squares(weights, clear.trust, signs * clear.absolute)
    return images


def _least_squares(weights: Images, trust: Images, values: NDArray[np.float32]) -> Images:
    """X (m, d) of least squares of weights (n, m) X from values (n, d), rows weighed by `trust`."""
    weighed = (trust[:, None] * weights).T
    gram = weighed @ weights
    gram += _RIDGE * np.diag(gram).mean() * np.eye(len(gram), dtype=np.float32)
    return np.asarray(np.linalg.solve(gram, weighed @ values), dtype=np.float32)
