"""`dpassay instahide`: private images read back from encodings without noise."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from pydantic import Field

from ..cli.exit_statuses import fail, json_option, need, print_found
from ..cli.options import WholeNumber, option_with_default
from ..findings.document import Document

if TYPE_CHECKING:  # it needs packages that may be absent
    from ...attacks.encoding.instahide import Images
    from ...reference.arrays import Vector

ALIKE = 0.9
"""Correlation with the private image from which a recovered one counts."""

_SHOWN = 10  # images of the figure
_THREE = (0.1, 0.5, 0.9)
_SUFFIXES = (".png", ".svg")


@click.command()
@option_with_default(
    "--images",
    type=click.Choice(["faces", "small-faces", "photographs"]),
    default="faces",
    help="What is private.",
)
@option_with_default("--encodings", type=WholeNumber(200, 100_000), default=2_000)
@click.option("--public", is_flag=True, help="Mix two public images into each encoding, too.")
@click.option("--figure", metavar="FILE", help="A picture of the result, .png or .svg.")
@option_with_default("--seed", type=WholeNumber(0, 2**31 - 1), default=0)
@json_option
def instahide(
    *, images: str, encodings: int, public: bool, figure: str | None, seed: int, as_json: bool
) -> None:
    """Read private images back from InstaHide's encodings, which hide them without noise.

    A hundred pictures that a package carries are mixed in pairs and their signs flipped at random
    (Huang et al. 2020); the attack sees that and the mixed labels, and recovers the pictures
    (Carlini et al. 2020). It takes a minute or a few. Needs what dpassay[pictures] installs.
    """
    need("instahide", "sklearn", "skimage", *(["matplotlib"] if figure else []))
    if figure is not None and Path(figure).suffix not in _SUFFIXES:
        fail(
            f"--figure {figure[:60]!r}: expected a name that ends in .png or .svg",
            code="value-not-allowed",
        )
    found, seen = attack(images, encodings, public=public, seed=seed)
    if figure is not None:
        try:
            save_figure(seen, Path(figure))
        except OSError as error:
            fail(
                f"--figure {figure[:60]!r} cannot be written: {error.strerror or error}",
                code="file-not-written",
            )
    print_found(found, as_json)


class Quantiles(Document):
    """Of all private images."""

    low: float = Field(description="The tenth.")
    median: float
    high: float = Field(description="The ninth tenth.")

    @classmethod
    def of(cls, values: "Vector") -> "Quantiles":
        """The quantiles of values (n,)."""
        low, median, high = np.quantile(values, _THREE).tolist()
        return cls(low=low, median=median, high=high)


class Attacked(Document):
    """What was recovered of private pictures from their encodings."""

    images: str
    private: int = Field(ge=1, description="Private images.")
    pixels: tuple[int, int] = Field(description="Height and width.")
    mixed: int = Field(ge=2, description="Images in each encoding.")
    encodings: int = Field(ge=1)
    recovered: int = Field(
        ge=0, description=f"Images whose recovered ones correlate with them by {ALIKE} or more."
    )
    correlation: Quantiles = Field(description="Of recovered images with the private ones.")
    psnr: Quantiles = Field(description="Peak signal-to-noise ratio, in dB.")
    ssim: Quantiles = Field(description="Structural similarity.")

    def as_text(self) -> str:
        """The result in a few lines."""
        height, width = self.pixels
        public = "" if self.mixed == 2 else ", two of them public"
        rows = (
            ("correlation", self.correlation, ".3f", ""),
            ("PSNR", self.psnr, ".1f", " dB"),
            ("SSIM", self.ssim, ".3f", ""),
        )
        return "\n".join(
            [
                f"InstaHide: {self.private} private {self.images} of {height} x {width} pixels, "
                f"{self.encodings:,} encodings of {self.mixed} images{public}",
                f"{self.recovered} recovered (correlation with the private image {ALIKE} or more)",
                *(
                    f"{name}: {one.median:{form}}{unit} in the median, {one.low:{form}} to "
                    f"{one.high:{form}}{unit} in 8 of 10"
                    for name, one, form, unit in rows
                ),
                "The encoder adds no noise: there is no epsilon that a deployment could claim.",
            ]
        )


@dataclass(frozen=True)
class SeenImages:
    """Some images, (n, height, width) in all: the private ones, an encoding of each, what came."""

    private: "Images"
    encoded: "Images"
    recovered: "Images"
    shape: tuple[int, int]


def attack(name: str, encodings: int, *, public: bool, seed: int) -> tuple[Attacked, SeenImages]:
    """Encodes pictures that packages carry, and recovers them; some images are there to be drawn.

    Loads scikit-learn and scikit-image.
    """
    from ...attacks.encoding import encode, recover
    from ...attacks.encoding.pictures import NAMED, Likeness

    pictures = NAMED[name]()
    random = np.random.default_rng(seed)
    mixed = pictures.public if public else None
    released = encode(pictures.private, pictures.classes, mixed, encodings, random)
    found = recover(released, pictures.classes, pictures.shape, seed)
    likeness = Likeness.of(found.images, pictures)
    shown = _places_in_figure(len(pictures.private))
    places = [np.flatnonzero((released.pairs == i).any(1))[0] for i in shown]
    told = Attacked(
        images=name,
        private=len(pictures.private),
        pixels=pictures.shape,
        mixed=4 if public else 2,
        encodings=encodings,
        recovered=int((likeness.correlation >= ALIKE).sum()),
        correlation=Quantiles.of(likeness.correlation),
        psnr=Quantiles.of(likeness.psnr),
        ssim=Quantiles.of(likeness.ssim),
    )
    private, recovered = pictures.private[shown], likeness.images[shown]
    return told, SeenImages(private, released.images[places], recovered, pictures.shape)


def _places_in_figure(images: int) -> list[int]:
    """Which images a figure shows: some of every class."""
    return list(range(0, images, images // _SHOWN + 1))


def save_figure(found: SeenImages, path: Path) -> None:
    """Draws private images, an encoding of each, and what was recovered, as PNG or SVG."""
    from matplotlib.figure import Figure

    rows = {"private": found.private, "an encoding": found.encoded, "recovered": found.recovered}
    columns = len(found.encoded)
    figure = Figure(figsize=(0.8 * columns + 1.0, 2.7))
    for row, (title, images) in enumerate(rows.items()):
        for column, image in enumerate(images):
            axis = figure.add_subplot(len(rows), columns, row * columns + column + 1)
            axis.imshow(image.reshape(found.shape), cmap="gray", vmin=-2.5, vmax=2.5)
            axis.set_xticks([])
            axis.set_yticks([])
            if column == 0:
                axis.set_ylabel(title, fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else None)
