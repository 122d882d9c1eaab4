"""The checks of numbers: those that see every release, and those that ask for their own."""

from collections.abc import Callable

from .checks.base import AskingCheck, NumberCheck
from .checks.clipping import Clipping
from .checks.floating_point import FloatingPoint
from .checks.fresh_noise import FreshNoise
from .checks.independence import Independence
from .checks.location import Location
from .checks.noise_law import NoiseLaw
from .checks.noise_scale import NoiseScale
from .checks.privacy_audit import PrivacyAudit
from .checks.privacy_claim import PrivacyClaim
from .checks.sensitivity import Sensitivity
from .checks.support import Support
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

ASKING: tuple[type[AskingCheck], ...] = (
    Clipping,
    Sensitivity,
    Support,
    FloatingPoint,
    PrivacyAudit,
)
"""The same, of those that ask. One may say by `lacks(claim)` why it does not apply."""


JUDGING: tuple[type[PrivacyClaim], ...] = (PrivacyClaim,)
"""Those of the claim alone, whatever becomes of the target; made of the claim."""


CONCLUDING: tuple[type[AskingCheck] | type[PrivacyClaim], ...] = (*ASKING, *JUDGING)
"""All that come to a verdict by themselves."""


def lacking(check: type[AskingCheck] | type[PrivacyClaim], claim: NumbersClaim) -> str | None:
    """Why a check has nothing to test under a claim, by its own `lacks(claim) -> str | None`."""
    lacks: Callable[[NumbersClaim], str | None] | None = getattr(check, "lacks", None)
    return None if lacks is None else lacks(claim)
