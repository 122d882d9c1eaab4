"""Which decisions of an aggregator of rounds a run takes, counted on a copy."""

from typing import Any

from ...paths.calls_again import CallsAgain, hear_calls
from ...run.request import RunRequest
from ...run.state import RunState
from ..numbers.checks.noise_law import NoiseLaw
from ..numbers.evidence.expected_draws import divergence

_HALF = 0.5  # of the claimed noise: what must show
_SPARE = 28.0  # nats: of weights, and so that one round in a hundred misses half the noise

_MOST_CALLS, _TOGETHER = 300, 100  # in all, and in one process: a round is work for all parties


def hear_rounds(state: RunState, request: RunRequest) -> CallsAgain | None:
    """What hears the rounds."""
    mechanism = state.claim.mechanism
    noise = mechanism.noise
    nats: float = mechanism.width * divergence(noise.times(_HALF), noise, 0.0)

    def shown(law: NoiseLaw, values: Any, rounds: float) -> float:
        """Of the nats that refute half the noise, those of a round to which all parties send."""
        return nats / float(law.log_threshold + _SPARE)

    few = {"most": _MOST_CALLS, "together": _TOGETHER}
    return hear_calls(state, request, NoiseLaw.id, shown=shown, **few)
