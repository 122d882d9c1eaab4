"""`dpassay audit` of a claim without a law."""

from contextlib import closing
from typing import Any, NoReturn

from ..commands.exit_statuses import fail, lines_of
from .ending import print_and_exit


def audit_any_claim(target: str | None, claim: Any, *, seed: int, as_json: bool) -> NoReturn:
    """Audits the pairs that the claim names, prints what was found, and exits."""
    from ...reference import BudgetExhausted
    from ..claims.open_target import open_claimed
    from ..commands.audit_any import audit_any
    from ..targets import Refused, TargetError

    if target is None:
        fail('name = "any" names no law, so that there is no reference of it: name a TARGET')
    try:
        with closing(open_claimed(target, claim, plainly=True)) as asked:
            found = audit_any(asked, claim, seed)
    except (TargetError, ValueError) as error:
        fail(*lines_of(error))
    except Refused as refusal:
        fail(f"the target refuses an input of a pair: {refusal}")
    except BudgetExhausted:
        fail("the target's own budget was exhausted")
    print_and_exit(found, as_json)
