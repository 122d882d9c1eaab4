"""The target that a command names: opened, and asked, or the command ends in a line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .exit_statuses import fail

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..targets import Target


def open_or_fail(target: str | None, claim: "Claim") -> "Target":
    """The target by its spec, the reference without one; ends the command where that fails."""
    from ...reference.clock import OutOfTime
    from ..claims.open_target import open_claimed, open_reference
    from ..findings.verdict import Verdict
    from ..targets import TargetError

    try:
        return open_reference(claim) if target is None else open_claimed(target, claim)
    except TargetError as error:
        fail(error)
    except OutOfTime as end:
        fail(
            f"{end}: the target was not ready by then",
            status=Verdict.INCONCLUSIVE.exit_status,
            code="out-of-time",
        )


@contextmanager
def asking(what: str) -> Iterator[None]:
    """A block that asks a target for `what`, in words; ends the command where it fails."""
    from ...reference import BudgetExhausted
    from ..targets import Refused, TargetError

    try:
        yield
    except (TargetError, ValueError) as error:
        fail(error)
    except Refused as refusal:
        fail(f"the target refuses {what}: {refusal}", code="input-refused")
    except BudgetExhausted:
        fail("the target's own budget was exhausted", code="budget-exhausted")
