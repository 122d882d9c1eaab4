"""Laws that labels might follow in some calls only, for the check `order`."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax
from .....reference.arrays import Matrix
from ....findings.note import Note
from ..mechanism import LabelsMechanism
from .faults import NAMED_FACTORS, Fault, fault_laws, scale_note
from .laws import finish, mechanism_law, plurality, roughly

_FACTORS = (0.5, 0.25, 0.7, 2.0)  # of the claimed noise scale
_BARE = 0.97  # share of plurality labels where noise is left out

_MOST = 50.0  # most nats that one label counts


def order_faults(claim: LabelsMechanism) -> list[Fault]:
    """Wrong noise scales (half first), no noise and, with a threshold, no screening."""
    mechanism = claim.mechanism()
    right, bare = roughly(claim, claim.noise), finish(claim, plurality)
    faults = []
    for factor in _FACTORS:
        noise = claim.noise.times(factor)
        words = NAMED_FACTORS.get(factor, f"{factor} of the claimed scale")
        faults.append(Fault(scale_note(noise, factor, words), roughly(claim, noise)))
    faults.append(
        Fault(
            Note("noise-missing", "the plurality without noise"),
            lambda histograms: _BARE * bare(histograms) + (1.0 - _BARE) * right(histograms),
        )
    )
    if isinstance(mechanism, ConfidentGNMax):
        unscreened = replace(mechanism, threshold=-1e12)
        note = Note("threshold-not-applied", "an answer to every query")
        faults.append(Fault(note, mechanism_law(unscreened)))
    return faults


def scaled_up(claim: LabelsMechanism) -> Fault:
    """The fault that fewer votes than teachers are scaled up before noise is added."""
    law = roughly(claim, claim.noise)

    def scaled(histograms: Matrix) -> Matrix:
        totals = histograms.sum(-1, keepdims=True)
        return law(histograms * np.maximum(1.0, claim.total / np.maximum(totals, 1.0)))

    note = Note("votes-rescaled", "votes scaled up to the number of teachers", {"to": claim.total})
    return Fault(note, scaled)


def log_ratios(faults: list[Fault], log_q: Matrix, histograms: Matrix) -> NDArray[np.float64]:
    """Log-ratios (n, a, o) of faults against the claimed log-laws (n, o), at most `_MOST`.

    A label that is impossible under the claim counts nothing here: other checks see it.
    """
    with np.errstate(invalid="ignore"):
        ratios = fault_laws(faults, log_q, histograms) - log_q[:, None, :]
    return np.minimum(np.nan_to_num(ratios, nan=0.0, posinf=_MOST), _MOST)
