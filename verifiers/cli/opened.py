"""The target that a command names."""

from typing import TYPE_CHECKING

from .exit_statuses import fail

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..targets import Target


def opened(target: str | None, claim: "Claim") -> "Target":
    """The target by its spec, the reference without one; ends the command where that fails."""
    from ...reference.clock import OutOfTime
    from ..claims.open_target import open_claimed, open_reference
    from ..findings.report import Verdict
    from ..targets import TargetError

    try:
        if target is None:
            return open_reference(claim)
        return open_claimed(target, claim)
    except TargetError as error:
        fail(error)
    except OutOfTime as end:
        fail(
            f"{end}: the target was not ready by then",
            status=Verdict.INCONCLUSIVE.exit_status,
            code="out-of-time",
        )
