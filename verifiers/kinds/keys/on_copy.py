"""Which decisions of a deployment that releases keys a run takes, counted on a copy."""

from dataclasses import replace
from typing import Any

import numpy as np

from ...paths.calls_again import CallsAgain, hear_calls
from ...run.request import RunRequest
from ...run.state import RunState
from .checks.partition_release import PartitionRelease
from .evidence.key_faults import claimed_law

_HALF = 0.5  # of the claimed noise: what must show
_SPARE = 28.0  # nats: of weights, and so that one input in a hundred misses half the noise


def hear_counts(state: RunState, request: RunRequest) -> CallsAgain | None:
    """What hears the counts that are asked for."""
    return hear_calls(state, request, PartitionRelease.id, shown=_shown)


def _shown(check: PartitionRelease, counts: Any, releases: float) -> float:
    """Of the nats that refute half the noise, those that the keys of one release bring."""
    half = replace(check.keys, noise=check.keys.noise.times(_HALF))
    exact = np.asarray(counts, dtype=np.float64)
    of_half, claimed = (np.stack(claimed_law(law)(exact)) for law in (half, check.keys))
    sure = np.isneginf(of_half)  # what never happens brings nothing
    with np.errstate(invalid="ignore"):
        nats = np.where(sure, 0.0, np.exp(of_half) * (of_half - claimed)).sum()
    return float(nats) / (check.log_threshold + _SPARE)
