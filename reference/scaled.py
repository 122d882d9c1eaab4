"""A family of noise at one scale, and its text form `gaussian:40`."""

import math
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
