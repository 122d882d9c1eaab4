"""The checks that see every release, in the order of the report."""

from collections.abc import Callable

from .checks.base import NumberCheck
from .checks.noise_law import NoiseLaw
from .checks.noise_scale import NoiseScale
from .claim import NumbersClaim
from .plan import NumbersPlan

OBSERVING: tuple[Callable[[NumbersClaim, NumbersPlan, int], NumberCheck], ...] = (
    NoiseLaw,
    NoiseScale,
)
"""Each is made of the claim, the plan and the run's seed."""
