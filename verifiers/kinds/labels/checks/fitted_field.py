"""A known noise scale confined to one kind of histogram, where no scale fits all labels."""

from dataclasses import replace

import numpy as np

from .....reference.arrays import Matrix
from ..planning.faults import Scaled
from ..planning.features import kinds_of_histograms
from ..planning.plan import Plan
from .fitted import FITTING_COSTS, Fitted


def fitted_field(plan: Plan, counts: Matrix, ratios: Matrix) -> Fitted | None:
    """The likeliest known scale on histograms of one kind only; None where there is none.

    counts: of labels (streams, o); ratios: log-likelihood ratios (streams, a) of known faults. The
    choice among k kinds costs log k.
    """
    scaled = [i for i, f in enumerate(plan.faults) if f.scaled and f.scaled[0] is Scaled.VOTES]
    asked = counts.any(-1)
    votes = np.array([stream.histogram for stream in plan.streams], dtype=np.int64)
    kinds = [
        (words, holds & asked)
        for words, holds in kinds_of_histograms(votes, plan.claim.mechanism.teachers)
        if (holds & asked).any() and (asked & ~holds).any()
    ]
    if not kinds or not scaled:
        return None
    gained = np.array([ratios[holds][:, scaled].sum(0) for _, holds in kinds])
    kind, scale = np.unravel_index(int(np.argmax(gained)), gained.shape)
    words, holds = kinds[kind]
    at = scaled[scale]
    fault = plan.faults[at]
    costs = FITTING_COSTS + float(np.log(len(kinds)))
    return Fitted(
        replace(fault, wording=f"{fault.wording}, {words}"),
        float(gained[kind, scale]) - costs,
        np.where(holds, ratios[:, at], 0.0),
        at,
    )
