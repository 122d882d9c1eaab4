"""A small claim, and the mechanism it claims: a run of the gate on them takes a second."""

from typing import Any

import numpy as np

from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget


def small_claim(
    name: str = "gnmax",
    sampled: str | None = None,
    weights: list[list[int]] | None = None,
    **tables: Any,
) -> LabelsClaim:
    """Coarse enough for a pass within a few thousand queries."""
    mechanism: dict[str, Any] = {"name": name, "noise": "gaussian:10", "classes": 4, "teachers": 40}
    if name == "confident-gnmax":
        mechanism |= {"threshold": 15.0, "threshold_noise": "gaussian:10"}
    if sampled is not None:
        mechanism["sampled"] = sampled
    if weights is not None:
        mechanism["weights"] = weights
    gate = {"tolerance": 0.2, "smallest_effect": 0.1, "false_alarm": 1e-3}
    gate |= tables.pop("gate", {})
    claim: LabelsClaim = parse_claim({"mechanism": mechanism, "gate": gate, **tables})
    return claim


def drawing(
    claim: LabelsClaim,
    scale: float = 1.0,
    stop_at: int | None = None,
    error: BaseException | None = None,
) -> InProcessTarget:
    """The claimed mechanism at `scale` times its noise; raises `error` at the call `stop_at`."""
    noise, rng, calls = claim.mechanism.noise.times(scale), np.random.default_rng(0), [0]
    mechanism = claim.mechanism.mechanism(noise)

    def aggregate(histogram: np.ndarray, size: int) -> Any:
        calls[0] += 1
        if calls[0] == stop_at and error is not None:
            raise error
        return mechanism.sample(histogram, size, rng)

    return InProcessTarget(aggregate)
