"""The work of `dpassay instahide`: private images read back from encodings without noise.

Loads scikit-learn and scikit-image.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...attacks.encoding import encode, recover
from ...attacks.encoding.instahide import Images
from ...attacks.encoding.pictures import NAMED, Likeness, Pictures
from ...reference.arrays import Vector

ALIKE = 0.9
"""Correlation with the private image from which a recovered one counts."""

_SHOWN = 10  # images of the figure
_THREE = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Attacked:
    """What was recovered of private pictures from so many encodings of k images each."""

    name: str
    pictures: Pictures
    encodings: int
    mixed: int
    encoded: Images
    likeness: Likeness

    @property
    def recovered(self) -> int:
        """Images whose recovered ones correlate with them by 0.9 or more."""
        return int((self.likeness.correlation >= ALIKE).sum())

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        found = self.likeness
        return {
            "images": self.name,
            "private": len(self.pictures.private),
            "pixels": list(self.pictures.shape),
            "mixed": self.mixed,
            "encodings": self.encodings,
            "recovered": self.recovered,
            **{
                name: dict(zip(("low", "median", "high"), quantiles(values), strict=True))
                for name, values in (
                    ("correlation", found.correlation),
                    ("psnr", found.psnr),
                    ("ssim", found.ssim),
                )
            },
        }

    def as_text(self) -> str:
        """The result in a few lines."""
        found, height, width = self.likeness, *self.pictures.shape
        public = "" if self.mixed == 2 else ", two of them public"
        rows = (
            ("correlation", found.correlation, ".3f", ""),
            ("PSNR", found.psnr, ".1f", " dB"),
            ("SSIM", found.ssim, ".3f", ""),
        )
        return "\n".join(
            [
                f"InstaHide: {len(found.images)} private {self.name} of {height} x {width} pixels, "
                f"{self.encodings:,} encodings of {self.mixed} images{public}",
                f"{self.recovered} recovered (correlation with the private image {ALIKE} or more)",
                *(
                    f"{name}: {middle:{form}}{unit} in the median, {low:{form}} to "
                    f"{high:{form}}{unit} in 8 of 10"
                    for name, values, form, unit in rows
                    for low, middle, high in [quantiles(values)]
                ),
                "The encoder adds no noise: there is no epsilon that a deployment could claim.",
            ]
        )


def quantiles(values: Vector) -> list[float]:
    """The tenth, the median and the ninth tenth."""
    return [float(value) for value in np.quantile(values, _THREE)]


def attack(name: str, encodings: int, *, public: bool, seed: int) -> Attacked:
    """Encodes pictures that packages carry, and recovers them."""
    pictures = NAMED[name]()
    random = np.random.default_rng(seed)
    mixed = pictures.public if public else None
    released = encode(pictures.private, pictures.classes, mixed, encodings, random)
    found = recover(released, pictures.classes, pictures.shape, seed)
    likeness = Likeness.of(found.images, pictures)
    some = released.images[
        [np.flatnonzero((released.pairs == i).any(1))[0] for i in _shown(pictures)]
    ]
    return Attacked(name, pictures, encodings, 4 if public else 2, some, likeness)


def _shown(pictures: Pictures) -> range:
    """Which images a figure shows: some of every class."""
    return range(0, len(pictures.private), len(pictures.private) // _SHOWN + 1)


def save_figure(found: Attacked, path: Path) -> None:
    """Draws private images, an encoding of each, and what was recovered, as PNG or SVG."""
    from matplotlib.figure import Figure

    rows: dict[str, Images] = {
        "private": found.pictures.private[list(_shown(found.pictures))],
        "an encoding": found.encoded,
        "recovered": found.likeness.images[list(_shown(found.pictures))],
    }
    columns = len(found.encoded)
    figure = Figure(figsize=(0.8 * columns + 1.0, 2.7))
    for row, (title, images) in enumerate(rows.items()):
        for column, image in enumerate(images):
            axis = figure.add_subplot(len(rows), columns, row * columns + column + 1)
            axis.imshow(image.reshape(found.pictures.shape), cmap="gray", vmin=-2.5, vmax=2.5)
            axis.set_xticks([])
            axis.set_yticks([])
            if column == 0:
                axis.set_ylabel(title, fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else None)
