"""Private pictures that packages carry, and how like them the recovered ones are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from skimage.data import astronaut, brick, camera, chelsea, coffee, coins, lfw_subset, moon, rocket
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from skimage.transform import downscale_local_mean

from ...reference.arrays import Vector
from .instahide import Images, Whole, normalised

CLASSES = 10
PICTURES = 100
_NOTHING = 1e-4  # difference of pixels of an image that was not found
_FLAT = 10.0  # standard deviation of grey, 0 to 255, of a piece of sky, which shows nothing


@dataclass(frozen=True)
class Pictures:
    """Private images (m, d) with classes (m,), public ones (p, d), and their height and width."""

    private: Images
    classes: Whole
    public: Images
    shape: tuple[int, int]


def faces() -> Pictures:
    """A hundred faces of 25 x 25 (scikit-image), in ten classes; a hundred other pictures."""
    images = lfw_subset().reshape(2 * PICTURES, -1)
    private, public = normalised(images[:PICTURES]), normalised(images[PICTURES:])
    return Pictures(private, np.arange(PICTURES) % CLASSES, public, (25, 25))


def small_faces() -> Pictures:
    """The same faces in 8 x 8: means of blocks of three by three pixels."""
    images = downscale_local_mean(lfw_subset()[:, :24, :24], (1, 3, 3)).reshape(2 * PICTURES, -1)
    private, others = normalised(images[:PICTURES]), images[PICTURES:]
    public = normalised(others[others.std(1) > 0.0])
    return Pictures(private, np.arange(PICTURES) % CLASSES, public, (8, 8))


def photographs() -> Pictures:
    """A hundred pieces of 32 x 32 of photographs (scikit-image), public ones of other photographs.

    Each is a square of 128 pixels' width, in grey, means of blocks of four by four.
    """
    private = _pieces([astronaut(), coffee(), chelsea(), rocket()])
    public = _pieces([camera(), moon(), coins(), brick()])
    return Pictures(private, np.arange(PICTURES) % CLASSES, public, (32, 32))


def _pieces(pictures: list[Any]) -> Images:
    """Pieces (100, 1024), 25 at random places of each picture that are not flat."""
    random = np.random.default_rng(0)
    found: list[Images] = []
    for picture in pictures:
        grey = picture.mean(-1) if picture.ndim == 3 else picture
        wanted = len(found) + PICTURES // len(pictures)
        while len(found) < wanted:
            row, column = (int(random.integers(0, size - 128)) for size in grey.shape)
            piece = grey[row : row + 128, column : column + 128]
            if piece.std() > _FLAT:
                found.append(downscale_local_mean(piece, (4, 4)).ravel())
    return normalised(np.array(found))


NAMED = {"faces": faces, "small-faces": small_faces, "photographs": photographs}


@dataclass(frozen=True)
class Likeness:
    """How like the private images (m, d) the recovered ones are, matched within their classes.

    images: the recovered ones (m, d) in the order of the private ones, normalised, with the common
    sign that fits better; psnr: in decibels, (m,).
    """

    images: Images
    psnr: Vector
    ssim: Vector
    correlation: Vector

    @classmethod
    def of(cls, recovered: Images, pictures: Pictures) -> "Likeness":
        """Peak signal-to-noise ratio and structural similarity, by scikit-image.

        The range of a picture is that of its own values. An image that was not found at all, which
        is flat, has correlation 0.
        """
        flat = np.ptp(recovered, axis=1, keepdims=True) < _NOTHING
        unit = np.where(
            flat, 0.0, normalised(np.where(flat, np.arange(recovered.shape[1]), recovered))
        )
        agree = pictures.private @ unit.T / recovered.shape[1]
        agree = np.where(pictures.classes[:, None] == pictures.classes, agree, 0.0)
        of, by = linear_sum_assignment(-np.abs(agree))
        sign = 1.0 if agree[of, by].sum() >= 0.0 else -1.0
        images = np.asarray(sign * unit[by], dtype=np.float32)
        psnr, ssim = [], []
        for true, found in zip(pictures.private, images, strict=True):
            reach = float(np.ptp(true))
            psnr.append(peak_signal_noise_ratio(true, found, data_range=reach))
            here, there = (one.reshape(pictures.shape) for one in (true, found))
            ssim.append(structural_similarity(here, there, data_range=reach))
        return cls(images, np.array(psnr), np.array(ssim), sign * agree[of, by])
