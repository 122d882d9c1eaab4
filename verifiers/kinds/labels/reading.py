"""A claim of labels, for the commands that need one."""

from pathlib import Path
from typing import cast

from ..reading import read_claim
from .claim import LabelsClaim


def read_labels_claim(path: str | Path) -> LabelsClaim:
    """The claim in the TOML file at `path`. Raises ClaimError, for one of another kind too."""
    return cast(LabelsClaim, read_claim(path, only="labels"))
