"""Signs of pixels: each pixel is known up to a sign that it has in all images alike.

Neighbouring pixels of photographs go together. So a tree through the pixels, along the strongest
correlations over all images, gives each the sign of its neighbour; one sign of all is left.
"""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from .instahide import Images, Whole


def aligned(images: Images, shape: tuple[int, ...]) -> Images:
    """Images (m, d) with the sign of every pixel chosen; shape: (height, width[, colours])."""
    pixels = images.shape[1]
    unit = images / np.maximum(np.linalg.norm(images, axis=0), 1e-12)
    here, there = _neighbours(shape)
    agree = (unit[:, here] * unit[:, there]).sum(0)
    costs = coo_matrix((1.001 - np.abs(agree), (here, there)), (pixels, pixels))
    order, before = breadth_first_order(minimum_spanning_tree(costs), 0, directed=False)
    edges = zip(here.tolist(), there.tolist(), strict=True)
    sign_of = dict(zip(edges, np.sign(agree), strict=True))
    signs = np.ones(pixels, dtype=np.float32)
    for pixel in order[1:].tolist():
        other = int(before[pixel])
        edge = (min(pixel, other), max(pixel, other))
        signs[pixel] = signs[other] * (sign_of[edge] or 1.0)
    return images * signs


def _neighbours(shape: tuple[int, ...]) -> tuple[Whole, Whole]:
    """Numbers (e,) of pixels, and of those right of, below, and of the next colour of them."""
    number = np.arange(int(np.prod(shape))).reshape(shape)
    here, there = [], []
    for axis in range(len(shape)):
        ahead = np.moveaxis(number, axis, 0)
        here.append(ahead[:-1].ravel())
        there.append(ahead[1:].ravel())
    return np.concatenate(here), np.concatenate(there)
