"""`dpassay plan` for a claim of numbers: what a run would ask, take and see."""

from ....commands.pace import pace_of
from ....commands.plan import Planned, made_within
from ....targets import Target
from ..claim import NumbersClaim
from ..registered import why_not
from ..shares import SHARES
from .sharpest import Sharpest, calls_of, make_plan, pass_of, sharpest

_SEED = 0


def planned_numbers(
    claim: NumbersClaim, queries: int | None, seconds: float | None, target: Target | None
) -> Planned:
    """The plan of a run: the claim's own, or the sharpest that `queries` or `seconds` allow.

    target: is asked some releases to measure its pace, which `seconds` needs. Raises ValueError
    (TooFewError) where no pass fits, and as the target does.
    """
    pace = None
    if target is not None:
        plan, gate = make_plan(claim, _SEED), claim.gate
        largest = min(plan.largest_call, gate.largest_call or plan.largest_call)
        pace = pace_of(target, plan.inputs[0].values, largest, gate.concurrency)

    def made(most: int | None) -> tuple[Sharpest, float | None]:
        found = pass_of(claim, _SEED) if most is None else sharpest(claim, most, _SEED)
        if pace is None:
            return found, None
        calls = calls_of(claim, make_plan(found.claim, _SEED, found.share), _SEED, found.queries)
        return found, pace.seconds(calls, found.queries)

    found, taken = made(queries)
    if seconds is not None and taken is not None and taken > seconds:
        found, taken = made_within(made, found.queries, taken, seconds)
    reasons = {name: why_not(name, claim) for name in SHARES}
    lacking = {name: why for name, why in reasons.items() if why is not None}
    looked_at = {name: found.looked_at.get(name, 0) for name in SHARES}
    return Planned("release", found.claim.gate, found.queries, looked_at, lacking, taken)
