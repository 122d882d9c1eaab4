"""The checks of a claim: those that see every release, and those that ask for their own."""

from collections.abc import Callable

from ..keys.checks.keys_together import KeysFreshNoise, KeysIndependence
from ..keys.checks.partition_release import PartitionRelease
from ..keys.checks.privacy_audit import KeysPrivacyAudit
from ..keys.checks.privacy_claim import KeysPrivacyClaim
from .checks.accountant_soundness import AccountantSoundness
from .checks.base import AskingCheck, KeysCheck, ObservingCheck
from .checks.budget_enforcement import BudgetEnforcement
from .checks.clipping import Clipping
from .checks.floating_point import FloatingPoint
from .checks.fresh_noise import FreshNoise
from .checks.gradient_leakage import GradientLeakage
from .checks.histogram_leakage import HistogramLeakage
from .checks.independence import Independence
from .checks.invariance import PermutationEquivariance, ShiftInvariance
from .checks.joint import Joint
from .checks.location import Location
from .checks.noise_law import NoiseLaw
from .checks.noise_scale import NoiseScale
from .checks.privacy_audit import PrivacyAudit
from .checks.privacy_claim import PrivacyClaim
from .checks.sensitivity import Sensitivity
from .checks.support import Support
from .claim import NumbersClaim
from .shares import SHARES

OBSERVING: tuple[type[ObservingCheck], ...] = (
    NoiseLaw,
    NoiseScale,
    Location,
    ShiftInvariance,
    PermutationEquivariance,
    Joint,
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
    AccountantSoundness,
    PrivacyClaim,
    GradientLeakage,
    HistogramLeakage,
    BudgetEnforcement,
)
"""The same, of those that ask. One may say by `lacks(claim)` why it does not apply."""

JUDGING: frozenset[type[AskingCheck]] = frozenset(
    {PrivacyClaim, KeysPrivacyClaim, HistogramLeakage}
)
"""Those of the ones that ask which judge the claim alone, whatever becomes of the target."""

ACCOUNTING: frozenset[type[AskingCheck]] = frozenset({AccountantSoundness, BudgetEnforcement})
"""Those which judge what the target says of its costs, though other checks have failed."""

OBSERVING_KEYS: tuple[type[KeysCheck], ...] = (
    PartitionRelease,
    KeysIndependence,
    KeysFreshNoise,
)
_ASKING_KEYS: tuple[type[AskingCheck], ...] = (KeysPrivacyAudit, KeysPrivacyClaim)


def observing(claim: NumbersClaim) -> tuple[type[ObservingCheck], ...]:
    """Those that see every release of what the claim releases."""
    made = OBSERVING if claim.mechanism.takes != "keys" else OBSERVING_KEYS
    return tuple(make for make in made if why_not(make.id, claim) is None)


def asking(claim: NumbersClaim) -> tuple[type[AskingCheck], ...]:
    """Those that ask for their own."""
    made = ASKING if claim.mechanism.takes != "keys" else _ASKING_KEYS
    return tuple(make for make in made if why_not(make.id, claim) is None)


def why_not(check: str, claim: NumbersClaim) -> str | None:
    """Why a check, by its id, does not apply to a claim; None where it may."""
    keys = claim.mechanism.takes == "keys"
    if check == "partition-release" and not keys:
        return "the deployment releases numbers, no keys"
    if check in _OF_NUMBERS and keys:
        return "the deployment releases keys, no numbers"
    alone = claim.mechanism.takes == "counts" and claim.mechanism.width == 1
    if check == "permutation-equivariance" and alone:
        return "the deployment releases a single number"
    if check == "independence" and keys and claim.mechanism.width == 1:
        return "the deployment has a single key"
    if check == "privacy-claim" and claim.privacy is None:
        return "the claim has no [privacy]"
    made = _ASKING_KEYS if keys else ASKING
    own = next((make for make in made if make.id == check), None)
    lacks: Callable[[NumbersClaim], str | None] | None = getattr(own, "lacks", None)
    return None if lacks is None else lacks(claim)


_OF_NUMBERS = frozenset(SHARES) - {
    "input-contract",
    "independence",
    "fresh-noise",
    "partition-release",
    "privacy-audit",
    "privacy-claim",
}
