"""InstaHide's encodings, and each step of the attack on them."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("skimage")

from dpassay.attacks.encoding import encode, normalised, recover
from dpassay.attacks.encoding.attack import Mixtures, aligned, assigned, refined, spectral
from dpassay.attacks.encoding.pictures import Likeness, Pictures, faces

SHAPE = (7, 8)
CLASSES = np.arange(12) % 3


def smooth(number, seed):
    """Images of low frequencies (number, 56), whose neighbouring pixels go together."""
    random = np.random.default_rng(seed)
    rows, columns = np.meshgrid(*(np.linspace(0.0, np.pi, n) for n in SHAPE), indexing="ij")
    waves = [np.cos(i * rows) * np.cos(j * columns) for i in range(3) for j in range(3)]
    return normalised(random.normal(size=(number, 9)) @ np.reshape(waves, (9, -1)))


PRIVATE, PUBLIC = smooth(12, 1), smooth(30, 2)


def encoded(number, public=None, seed=3):
    return encode(PRIVATE, CLASSES, public, number, np.random.default_rng(seed))


def matched(found, true=PRIVATE):
    """Correlations (m,) pixel for pixel up to each pixel's sign."""
    signs = np.sign((found * true).sum(0))
    return [np.corrcoef(one * signs, other)[0, 1] for one, other in zip(found, true, strict=True)]


def test_an_encoding_is_a_mixture_with_random_signs() -> None:
    """Catches a sign for each image, weights that do not add up, and an image mixed with itself."""
    released = encoded(400)
    a, b = released.weights.T
    assert a + b == pytest.approx(np.ones(400), abs=1e-6)
    assert released.weights.max() <= 0.65
    assert (released.pairs[:, 0] != released.pairs[:, 1]).all()
    p, q = (PRIVATE[released.pairs[:, side]] for side in (0, 1))
    assert np.abs(released.images) == pytest.approx(
        np.abs(a[:, None] * p + b[:, None] * q), abs=1e-6
    )
    signs = np.sign(released.images)
    assert abs(signs.mean()) < 5.3 / np.sqrt(signs.size)  # 1e-7
    assert released.classes.tolist() == CLASSES[released.pairs].tolist()


def test_public_images_take_the_rest_of_the_weight() -> None:
    released = encoded(400, PUBLIC)
    assert 0.3 < released.weights.sum(1).mean() < 0.7
    assert Mixtures.of(released).public_weight.max() <= 1.0


def test_the_pair_is_the_one_that_a_search_finds() -> None:
    """Catches a product that is forgotten: least squares over all pairs, one by one."""
    released = encoded(60, PUBLIC)
    mixtures = Mixtures.of(released)
    found, error = assigned(mixtures, PRIVATE, CLASSES)
    squares, total = mixtures.squares, 0.0
    for row, (square, (a, b)) in enumerate(zip(squares, mixtures.weights, strict=True)):
        of, by = (np.flatnonzero(one == CLASSES) for one in released.classes[row])
        errors = {
            (i, j): float(((square - (a * PRIVATE[i] + b * PRIVATE[j]) ** 2) ** 2).sum())
            for i in of
            for j in by
            if i != j
        }
        assert tuple(found[row]) == min(errors, key=errors.get)
        total += min(errors.values())
    assert error == pytest.approx(total / squares.size, rel=1e-3)


def test_with_the_right_pairs_pixels_are_solved_up_to_a_sign() -> None:
    """Catches an eigenvector of the squares themselves, without the squares of single images."""
    released = encoded(400)
    mixtures = Mixtures.of(released)
    rough, public = spectral(mixtures, released.pairs, len(PRIVATE))
    assert min(matched(rough)) > 0.8
    assert not public.any()
    assert min(matched(refined(mixtures, released.pairs, rough))) > 0.999


def test_signs_of_pixels_are_found_up_to_one() -> None:
    """Catches signs that are taken from pixels that are no neighbours."""
    flips = np.random.default_rng(4).choice([-1.0, 1.0], PRIVATE.shape[1]).astype(np.float32)
    found = aligned(PRIVATE * flips, SHAPE)
    assert np.abs(found) == pytest.approx(np.abs(PRIVATE))
    assert abs((found * PRIVATE).sum()) == pytest.approx((PRIVATE**2).sum(), rel=1e-5)


@pytest.mark.slow("ten seconds of matching; its steps are quick")
def test_private_images_are_recovered_from_what_is_released_alone() -> None:
    """Catches an attack that looks at the pairs, or at the signs."""
    everything = faces()
    some = Pictures(
        everything.private[:20], everything.classes[:20], everything.public, everything.shape
    )
    released = encode(some.private, some.classes, None, 300, np.random.default_rng(5))
    blind = replace(released, images=np.abs(released.images), pairs=np.zeros_like(released.pairs))
    likeness = Likeness.of(recover(blind, some.classes, some.shape).images, some)
    assert (likeness.correlation > 0.9).sum() >= 18
    assert np.median(likeness.psnr) > 25.0
    assert np.median(likeness.ssim) > 0.9


def test_what_was_not_found_is_like_nothing() -> None:
    pictures = Pictures(PRIVATE, CLASSES, PUBLIC, SHAPE)
    likeness = Likeness.of(np.zeros_like(PRIVATE), pictures)
    assert np.abs(likeness.correlation).max() < 1e-6


def test_a_flat_image_is_one_line() -> None:
    with pytest.raises(ValueError, match=r"image 1: .* alike"):
        normalised(np.array([[0.0, 1.0], [2.0, 2.0]]))


def test_one_image_cannot_be_mixed() -> None:
    with pytest.raises(ValueError, match=r"1 private.*2 or more"):
        encode(PRIVATE[:1], CLASSES[:1], None, 10, np.random.default_rng(0))
