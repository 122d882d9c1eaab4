"""The checks of numbers: those that see every release, and those that ask for their own."""

from collections.abc import Callable

from .checks.base import AskingCheck, NumberCheck
from .checks.clipping import Clipping
from .checks.fresh_noise import FreshNoise
from .checks.independence import Independence
from .checks.location import Location
from .checks.noise_law import NoiseLaw
from .checks.noise_scale import NoiseScale
from .checks.sensitivity import Sensitivity
from .claim import NumbersClaim
from .plan import NumbersPlan

OBSERVING: tuple[Callable[[NumbersClaim, NumbersPlan, int], NumberCheck], ...] = (
    NoiseLaw,
    NoiseScale,
    Location,
    Independence,
    FreshNoise,
)
"""Each is made of the claim, the plan and the run's seed."""

ASKING: tuple[type[AskingCheck], ...] = (Clipping, Sensitivity)
"""The same, of those that ask."""
