"""The target that a command names."""

from typing import TYPE_CHECKING

from .exit_statuses import fail

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..targets import Target


def opened(target: str | None, claim: "Claim") -> "Target":
    """The target by its spec, the reference without one; ends the command where that fails."""
    from ...reference.clock import OutOfTime
    from ..claims.open_target import look_up_budget_target, open_claimed
    from ..findings.report import Verdict
    from ..targets import TargetError

    try:
        if target is None:
            look_up_budget_target(claim)
            reference: Target = claim.kind.reference(claim)
            return reference
        return open_claimed(target, claim)
    except TargetError as error:
        fail(error)
    except OutOfTime as end:
        fail(
            f"{end}: the target was not ready by then",
            status=Verdict.INCONCLUSIVE.exit_status,
            code="out-of-time",
        )
