"""Private images from InstaHide's encodings, up to one sign for all of them (Carlini et al. 2020).

The absolute values of an encoding are those of the mixture: the random signs hide nothing else.
First the encodings are clustered by what they share; then, in turns, each encoding gets the two
images that explain it best (`assigned`), and the images are solved for (`spectral`, `refined`),
pixel by pixel up to a sign; at last neighbouring pixels are given the signs with which they go
together (`aligned`). The attack knows what is released: encodings, and mixed labels, which tell the
weights and the classes of the private images. Where Carlini et al. train a network that compares
encodings, a singular value decomposition of the absolute values does here.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from ...reference.clock import check_clock
from ...reference.parallel.kept import shown
from .instahide import Encodings, Images, Whole

_LEAST = 0.02  # added to the square of the public weight: that of rounding and wrong pairs


@dataclass(frozen=True)
class Mixtures:
    """Absolute values (n, d) of mixtures, and what the labels say of them.

    weights, classes: (n, 2) of the private images; public: (d,) the mean square of what public
    images add at each pixel, over the square of their weight.
    """

    absolute: Images
    weights: Images
    classes: Whole
    public: Images

    @classmethod
    def of(cls, encodings: Encodings) -> Self:
        """The mixtures behind some encodings; public images are taken for of variance 1/2."""
        absolute = np.abs(encodings.images)
        public = np.full(absolute.shape[1], 0.5, dtype=np.float32)
        return cls(absolute, encodings.weights, encodings.classes, public)

    @property
    def public_weight(self) -> Images:
        """The square of the weight (n,) of all public images together."""
        return np.asarray((1.0 - self.weights.sum(1)) ** 2)

    def clearest(self, share: float) -> NDArray[np.intp]:
        """The rows of that share of mixtures in which least is public; all, where nothing is."""
        return np.flatnonzero(self.public_weight <= np.quantile(self.public_weight, share) + 1e-6)

    @property
    def trust(self) -> Images:
        """How much each mixture counts (n,): the less, the more is public in it."""
        found = 1.0 / (_LEAST + self.public_weight)
        return np.asarray(found / found.mean(), dtype=np.float32)

    @property
    def squares(self) -> Images:
        """Squares (n, d) of the private part, but for a cross term that is 0 on average."""
        return np.asarray(self.absolute**2 - self.public_weight[:, None] * self.public)

    def some(self, rows: NDArray[np.intp]) -> Self:
        """The mixtures of some rows."""
        return replace(
            self,
            absolute=self.absolute[rows],
            weights=self.weights[rows],
            classes=self.classes[rows],
        )


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


def assigned(mixtures: Mixtures, images: Images, classes: Whole) -> tuple[Whole, float]:
    """The pairs (n, 2) of images (m, d) that explain squares best, and the mean error left.

    Among those with the classes that the label shows. The squares of a mixture a p + b q are
    a^2 p^2 + b^2 q^2 + 2 a b p q: three products for every pair, shared by all encodings, so that
    all pairs of two classes are compared at once.
    """
    squares = mixtures.squares
    pairs, error = np.empty((len(squares), 2), dtype=np.int64), float((squares**2).sum())
    for first, second in np.unique(mixtures.classes, axis=0):
        rows = np.flatnonzero((mixtures.classes == (first, second)).all(1))
        here, there = np.meshgrid(
            np.flatnonzero(classes == first), np.flatnonzero(classes == second), indexing="ij"
        )
        different = here != there
        here, there = here[different], there[different]
        errors = _errors(squares[rows], mixtures.weights[rows], images[here], images[there])
        best = errors.argmin(1)
        pairs[rows, 0], pairs[rows, 1] = here[best], there[best]
        error += float(errors.min(1).sum())
    return pairs, error / squares.size


def _errors(squares: Images, weights: Images, p: Images, q: Images) -> Images:
    """Squared distances (n, pairs) of squares (n, d) from those of mixtures of p and q (pairs, d).

    But for the norms of the squares themselves, which all pairs have in common.
    """
    parts = (p**2, q**2, p * q)
    a, b = weights[:, :1], weights[:, 1:]
    shares = (a**2, b**2, 2.0 * a * b)
    found = np.zeros((len(squares), len(p)), dtype=np.float32)
    for share, part in zip(shares, parts, strict=True):
        found -= 2.0 * share * (squares @ part.T)
        for other, beside in zip(shares, parts, strict=True):
            found += share * other * (part * beside).sum(1)
    return found


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


_ROUNDS = 12
_ATTEMPTS = 3
_ANEW = 6  # rounds in which the images are solved for from nothing
_COMPONENTS = 120
_CLEAR = 0.4  # of the encodings with public images: those with least of them come first


@dataclass(frozen=True)
class Recovered:
    """Images (m, d) as recovered, and which two (n, 2) each encoding was found to mix."""

    images: Images
    pairs: Whole


def recover(
    encodings: Encodings, classes: Whole, shape: tuple[int, ...], seed: int = 0
) -> Recovered:
    """The m private images, in an order of their own within each class, up to one common sign.

    classes: (m,) of the private images; shape: (height, width) or (height, width, colours). What
    `encodings.pairs` says is not looked at. Of three attempts, which begin with other clusters, the
    one that explains the encodings best.
    """
    mixtures = Mixtures.of(encodings)
    attempts = (_attempt(mixtures, classes, [seed, number]) for number in range(_ATTEMPTS))
    found = shown(attempts, _ATTEMPTS, "attempts")
    images, pairs, _ = min(found, key=lambda one: one[2])
    return Recovered(aligned(images, shape), pairs)


def _attempt(mixtures: Mixtures, classes: Whole, seed: list[int]) -> tuple[Images, Whole, float]:
    """Images up to the signs of pixels, pairs, and the error that is left."""
    random = np.random.default_rng(seed)
    clear = mixtures.some(mixtures.clearest(_CLEAR))
    images = _clustered(clear, classes, random)
    for round_ in range(_ROUNDS):
        check_clock()
        pairs, _ = assigned(clear, images, classes)
        if round_ < _ANEW:
            images, public = spectral(clear, pairs, len(classes))
            mixtures = replace(mixtures, public=public)
        images = refined(clear, pairs, images)
        share = _CLEAR + (1.0 - _CLEAR) * max(round_ + 1 - _ANEW, 0) / (_ROUNDS - _ANEW)
        clear = mixtures.some(mixtures.clearest(share))
    return images, *assigned(clear, images, classes)


def _clustered(clear: Mixtures, classes: Whole, random: np.random.Generator) -> Images:
    """First guesses (m, d) of absolute values: means of clusters, with signs at random."""
    from sklearn.cluster import KMeans
    from sklearn.utils.extmath import randomized_svd

    seen, seed = clear.absolute, int(random.integers(2**31))
    centred = seen - seen.mean(0)
    left, _, _ = randomized_svd(centred, min(_COMPONENTS, *centred.shape), random_state=seed)
    features = left / np.linalg.norm(left, axis=1, keepdims=True)
    images = np.empty((len(classes), seen.shape[1]), dtype=np.float32)
    for one in np.unique(classes):
        members = np.flatnonzero(classes == one)
        has = np.flatnonzero((clear.classes == one).any(1))
        means = KMeans(len(members), n_init=2, random_state=seed).fit(features[has])
        for cluster, image in enumerate(members):
            images[image] = seen[has[means.labels_ == cluster]].mean(0)
    signs = random.choice([-1.0, 1.0], images.shape)
    return np.asarray(images * signs / clear.weights.mean() / 2.0, dtype=np.float32)
