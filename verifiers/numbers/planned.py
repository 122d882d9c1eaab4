"""`dpassay plan` of a claim of numbers: what a run would ask, cost and see."""

from ..commands.plan import PACE, Planned, rate_of
from ..targets import Target
from .claim import NumbersClaim
from .registered import why_not
from .shares import SHARES
from .sharpest import make_plan, pass_of, sharpest

_SEED = 0


def planned_numbers(
    claim: NumbersClaim, queries: int | None, seconds: float | None, target: Target | None
) -> Planned:
    """The plan of a run: the claim's own, or the sharpest that `queries` or `seconds` allow.

    target: asked some releases, so that its rate shows; needed for `seconds`. Raises ValueError
    (TooFewError) where no pass fits, and as the target does.
    """
    rate = None
    if target is not None:
        plan = make_plan(claim, _SEED)
        rate = rate_of(target, plan.inputs[0].values, min(PACE, plan.largest_call))
    if seconds is not None and rate is not None:
        queries = max(1, int(seconds * rate))
    found = pass_of(claim, _SEED) if queries is None else sharpest(claim, queries, _SEED)
    reasons = {name: why_not(name, claim) for name in SHARES}
    lacking = {name: why for name, why in reasons.items() if why is not None}
    looked_at = {name: found.looked_at.get(name, 0) for name in SHARES}
    return Planned("release", found.claim.gate, found.queries, looked_at, lacking, rate)
