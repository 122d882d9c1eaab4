"""What a run has not covered where only the inputs of the claim may be asked."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....findings.note import Note
from .asked_histograms import CLEAR
from .plan import Plan
from .pool import leads, nearly_tied


def coverage(plan: Plan, answered: NDArray[np.bool_]) -> Iterator[Note]:
    """Notes on how many inputs were asked and which kinds were missing; none without `[inputs]`.

    answered: whether each stream (streams,) has been answered.
    """
    rows, inputs = plan.claim.given, plan.claim.inputs
    if not rows or inputs is None or not answered.any():
        return
    asked = np.unique(plan.histograms[answered].astype(np.int64), axis=0)
    different = len({row.histogram for row in rows})
    if inputs.file is not None:
        yield Note(
            "only-given-inputs",
            f"only inputs of {inputs.file} were asked: {len(asked):,} of its {different:,} "
            f"different histograms ({len(rows):,} rows); what is answered to others was not seen",
            {"asked": len(asked), "histograms": different, "rows": len(rows)},
        )
    if not nearly_tied(plan.claim.mechanism, asked).any():
        lead = int(leads(asked).min())
        message = "no input is a near tie, where most faults show: the smallest lead asked was "
        yield Note("no-near-tie", f"{message}{lead:,}", {"lead": lead})
    surest = float(np.exp(plan.log_q[answered].max()))
    if surest < CLEAR:
        message = f"no input has a clear winner: the surest outcome has probability {surest:.2f}"
        yield Note("no-clear-winner", message, {"probability": surest})
