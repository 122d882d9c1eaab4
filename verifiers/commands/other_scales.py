"""Whether another scale of the same noise fits the labels of one query far better, and which.

The votes are unknown (none negative, their sum the teachers), so labels say little about the scale.
Without refusals they never show that a scale is too small: votes that are spread further give the
same law under a larger one. They show that it is too large where even a class without votes is
likelier than it was seen. Refusals locate the leader relative to the threshold, which is in votes,
and so show both.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtri

from ...attacks import Answers, reconstruct
from ...reference import Noise

ALARM = 1e-4
"""False-alarm rate by the limit law of the likelihood ratio. With few labels it is larger, below
1 in 1,000 readings."""

_FURTHEST = 32.0  # largest factor between scales, in either direction
_HALVINGS = 10
_CLOSE = 0.01  # precision of the log of the scale


def better_scale(answers: Answers, teachers: int, best_known: float) -> tuple[Noise, float] | None:
    """Noise of another scale that fits the counts (c,) far better, with log-odds; else None.

    best_known: upper bound of the log-likelihood of any votes under the given noise. The log-odds
    must reach `log_odds_wanted`.
    """
    freedom = answers.counts.size - 1
    if log_supremum(answers) - best_known < log_odds_wanted(answers):
        return None

    @cache
    def explained(log_factor: float) -> float:
        return _log_likelihood(answers, teachers, float(np.exp(log_factor)))

    ends = (-float(np.log(_FURTHEST)), float(np.log(_FURTHEST)))
    if answers.refuses:
        found = minimize_scalar(
            lambda at: -explained(float(at)),
            bounds=ends,
            method="bounded",
            options={"xatol": _CLOSE},
        )
        place = float(found.x)
    else:  # less noise always fits as well: take the largest scale that fits as a true one would
        place = _nearest(explained, ends[0], explained(ends[0]) - freedom / 2.0)
    odds = explained(place) - best_known
    if odds < log_odds_wanted(answers):
        return None
    return answers.mechanism.noise.times(float(np.exp(place))), odds


def log_odds_wanted(answers: Answers) -> float:
    """Log-odds against the given scale that the right one rarely meets, for counts (c,).

    Half the `ALARM` quantile of the chi-square law with c - 1 degrees of freedom. By Wilks' theorem
    this is the limit for the supremum over all laws against the true law, which the ratio between
    scales does not exceed.
    """
    return float(chdtri(answers.counts.size - 1, ALARM)) / 2.0


def _nearest(explained: Callable[[float], float], far: float, wanted: float) -> float:
    """The point nearest to 0, between `far` and 0, at which `explained` is at least `wanted`."""
    near = 0.0
    for _ in range(_HALVINGS):
        middle = (near + far) / 2.0
        near, far = (near, middle) if explained(middle) >= wanted else (middle, far)
    return far


def log_supremum(answers: Answers) -> float:
    """The supremum over all laws of the log-likelihood of the counts (c,)."""
    seen = answers.counts[answers.counts > 0]
    return float((seen * np.log(seen / seen.sum())).sum())


def _log_likelihood(answers: Answers, teachers: int, factor: float) -> float:
    """Log-likelihood of the likeliest votes, with `factor` times the given noise scale."""
    noise = answers.mechanism.noise.times(factor)
    mechanism = replace(answers.mechanism, noise=noise)  # type: ignore[arg-type]
    return float(reconstruct(Answers(answers.counts, mechanism), teachers).log_likelihood)
