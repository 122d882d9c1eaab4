"""A family of noise at one scale, its text form `gaussian:40`, and texts that nearly name it."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np


@dataclass(frozen=True)
class Scaled:
    """One family at one scale.

    Raises ValueError for a scale that is not a positive finite number.
    """

    scale: float
    family: ClassVar[str]

    def __post_init__(self) -> None:
        scale = self.scale
        if isinstance(scale, bool) or not isinstance(scale, int | float | np.integer | np.floating):
            raise ValueError(f"noise scale {scale!r}: expected a number")
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"noise scale {scale}: expected a positive finite number")
        object.__setattr__(self, "scale", float(scale))

    def __str__(self) -> str:
        return f"{self.family}:{repr(self.scale).removesuffix('.0')}"

    def times(self, factor: float) -> Self:
        """The family at `factor` times the scale."""
        return replace(self, scale=self.scale * factor)


ELSEWHERE = {
    "normal": "gaussian",
    "gauss": "gaussian",
    "laplacian": "laplace",
    "double-exponential": "laplace",
    "geometric": "discrete-laplace",
    "two-sided-geometric": "discrete-laplace",
    "discrete-normal": "discrete-gaussian",
}
"""Families of noise by names that papers and libraries give them."""

_SCALED = re.compile(
    r"\s*([a-z][a-z _-]*?)\s*[:(=,\s]\s*(?:(?:sigma|std|scale|s|b)\s*=\s*)?"
    r"([0-9][0-9.e+-]*)\s*\)?\s*(;.*)?",
    re.IGNORECASE,
)


def family_meant(name: str, families: Iterable[str]) -> str | None:
    """The one of `families` that a name stands for, whatever its case; None where none does."""
    plain = "-".join(re.split(r"[\s_-]+", name.strip().lower()))
    found = ELSEWHERE.get(plain, plain)
    return found if found in families else None


def noise_meant(text: str, families: Iterable[str]) -> str:
    """` (did you mean gaussian:40?)` for a text that nearly names noise; empty for any other."""
    parts = _SCALED.fullmatch(text)
    family = None if parts is None else family_meant(parts[1], families)
    if parts is None or family is None:
        return ""
    meant = f"{family}:{parts[2]}{parts[3] or ''}"
    return "" if meant == text.strip() else f" (did you mean {meant}?)"
