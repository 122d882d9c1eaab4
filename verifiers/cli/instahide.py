"""`dpassay instahide`."""

from pathlib import Path

import click

from ..commands.exit_statuses import fail, need
from ..commands.options import Whole, option_with_default
from .ending import json_option, print_found

_SUFFIXES = (".png", ".svg")


@click.command()
@option_with_default(
    "--images",
    type=click.Choice(["faces", "small-faces", "photographs"]),
    default="faces",
    help="What is private.",
)
@option_with_default("--encodings", type=Whole(200, 100_000), default=2_000)
@click.option("--public", is_flag=True, help="Mix two public images into each encoding, too.")
@click.option("--figure", metavar="FILE", help="A picture of the result, .png or .svg.")
@option_with_default("--seed", type=Whole(0, 2**31 - 1), default=0)
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
        fail(f"--figure {figure[:60]!r}: expected a name that ends in .png or .svg")
    from ..commands.instahide import attack, save_figure

    found = attack(images, encodings, public=public, seed=seed)
    if figure is not None:
        try:
            save_figure(found, Path(figure))
        except OSError as error:
            fail(f"--figure {figure[:60]!r} cannot be written: {error.strerror or error}")
    print_found(found, as_json)
