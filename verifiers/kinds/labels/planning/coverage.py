"""What a run has not covered where only the inputs of the claim may be asked."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .asked_histograms import CLEAR
from .plan import Plan
from .pool import leads, nearly_tied


def coverage(plan: Plan, answered: NDArray[np.bool_]) -> Iterator[str]:
    """Notes on how many inputs were asked and which kinds were missing; none without `[inputs]`.

    answered: whether each stream (streams,) has been answered.
    """
    rows, inputs = plan.claim.given, plan.claim.inputs
    if not rows or inputs is None or not answered.any():
        return
    asked = np.unique(plan.histograms[answered].astype(np.int64), axis=0)
    different = len({row.histogram for row in rows})
    if inputs.file is not None:
        yield (
            f"only inputs of {inputs.file} were asked: {len(asked):,} of its {different:,} "
            f"different histograms ({len(rows):,} rows); what is answered to others was not seen"
        )
    if not nearly_tied(plan.claim.mechanism, asked).any():
        lead = f"the smallest lead asked was {int(leads(asked).min()):,}"
        yield f"no input is a near tie, where most faults show: {lead}"
    surest = float(np.exp(plan.log_q[answered].max()))
    if surest < CLEAR:
        yield f"no input has a clear winner: the surest outcome has probability {surest:.2f}"
