"""What a run sees of a deployment that is asked its claim's inputs alone."""

from collections.abc import Iterator

import numpy as np

from .asked_histograms import CLEAR
from .plan import Plan
from .pool import nearly_tied
from .roles import Role


def coverage(plan: Plan) -> Iterator[str]:
    """How many inputs are asked, and which kinds none of them is; nothing without `[inputs]`."""
    rows, inputs = plan.claim.given, plan.claim.inputs
    if not rows or inputs is None:
        return
    asked = {stream.histogram for stream in plan.streams if stream.queries}
    different = len({row.histogram for row in rows})
    yield (
        f"only inputs of {inputs.file} are asked: {len(asked):,} of its {different:,} different "
        f"histograms ({len(rows):,} rows); what is answered to others is not seen"
    )
    tie = np.array(plan.streams[plan.first(Role.NEAR_TIE)].histogram)
    lead = int(np.diff(np.sort(tie))[-1])
    if not nearly_tied(plan.claim.mechanism, tie[None])[0]:
        yield f"no input is a near tie, where most faults show: the smallest lead asked is {lead:,}"
    surest = float(np.exp(plan.log_q[[s.queries > 0 for s in plan.streams]].max()))
    if surest < CLEAR:
        yield f"no input has a clear winner: the surest outcome has probability {surest:.2f}"
