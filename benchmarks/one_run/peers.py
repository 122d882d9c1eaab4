"""Bounds of the same scores by jax-privacy's auditing and Meta's PrivacyGuard."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.attacks.auditing.canary_guesses import SHARES, guessed
from dpassay.reference.arrays import Vector

from .exact import DELTA
from .trainings import answers

ERROR = 0.05
SHARE = 0.2
"""Of the canaries, guessed for PrivacyGuard, which takes counts; fixed beforehand."""

OTHERS = {
    "epsilon": "jax-privacy `epsilon_one_run`",
    "curve": "jax-privacy `epsilon_one_run_fdp`",
    "meta": "PrivacyGuard `FDPAnalysisNode`",
}


def bounds_of_others(runs: Sequence[tuple[Vector, np.ndarray]]) -> list[dict[str, Any]]:
    """Of scores and coins (m,) of each run, their bounds of epsilon, as named in `OTHERS`."""
    terms = {"error": ERROR, "delta": DELTA}
    scored = [
        {"scores": scores.tolist(), "coins": coins.astype(int).tolist(), **terms}
        for scores, coins in runs
    ]
    counted = []
    for scores, coins in runs:
        number, right, _ = guessed(scores, coins)[SHARES.index(SHARE)]
        counted.append({"canaries": len(scores), "guesses": number, "right": right, **terms})
    of_jax = answers("jax_privacy_auditing.py", "jax-privacy-2.0.0", scored)
    of_meta = answers("privacyguard_auditing.py", "privacyguard-0.0.2", counted)
    return [one | {"meta": two["curve"]} for one, two in zip(of_jax, of_meta, strict=True)]
