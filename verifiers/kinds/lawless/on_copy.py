"""Which decisions of a deployment without a law the draws of a run take, counted on a copy."""

import math
from typing import Any

from ...paths.calls_again import CallsAgain, hear_calls
from ...run.request import RunRequest
from ...run.state import RunState
from .privacy_audit import LawlessPrivacyAudit

_MOST_STATES = 500  # calls, where each has a process of its own, which takes ten times as long
_FAULT = "a reply that gives its input away"


def hear_draws(state: RunState, request: RunRequest) -> CallsAgain | None:
    """What hears the draws; where something is kept, each is of a fresh state on the copy too."""
    how: dict[str, Any] = {"shown": _shown, "fault": _FAULT}
    if state.claim.mechanism.caching:
        how |= {"together": 1, "most": _MOST_STATES}
    return hear_calls(state, request, LawlessPrivacyAudit.id, **how)


def _shown(audit: LawlessPrivacyAudit, values: Any, draws: float) -> float:
    """As a pass says it: a value in so large a share of the replies of an input is surely seen."""
    shares = [float(one.size["share"] or 0.0) for one in audit.excluded if "share" in one.size]
    return 1.0 / (min(shares) ** 2 * draws) if shares else math.inf
