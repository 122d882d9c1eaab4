"""Private images from InstaHide's encodings, up to one sign for all of them (Carlini et al. 2020).

The absolute values of an encoding are those of the mixture: the random signs hide nothing else.
First the encodings are clustered by what they share; then, in turns, each encoding gets the two
images that explain it best (`assignment.py`), and the images are solved for (`solving.py`), pixel
by pixel up to a sign; at last neighbouring pixels are given the signs with which they go together
(`pixel_signs.py`). The attack knows what is released: encodings, and mixed labels, which tell the
weights and the classes of the private images. Where Carlini et al. train a network that compares
encodings, a singular value decomposition of the absolute values does here.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...reference.clock import check_clock
from ...reference.parallel.progress import shown
from .assignment import assigned
from .instahide import Encodings, Images, Whole
from .mixtures import Mixtures
from .pixel_signs import aligned
from .solving import refined, spectral

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
