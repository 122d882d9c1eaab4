"""Whether another scale of the same noise fits the labels of one query far better, and which.

The votes are free (none negative, their sum the teachers), so labels alone tell little of a scale.
Without refusals they never show that the one given is too small: the laws of some votes under a
larger scale are among those under a smaller one, since the votes can be spread further and the same
added to each. They show that it is too large where even votes of 0 leave a class likelier than it
was seen. Refusals tell how the leader stands to the threshold in votes, and so either.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from ...attacks import Answers, reconstruct
from ...reference import Noise

ALARM = 1e-4
"""Of the limit law of the likelihood ratio. With few labels the right scale is suspected more often
than that, but in less than 1 of 1,000 readings."""

_FURTHEST = 32.0  # times less, or more
_HALVINGS = 10
_CLOSE = 0.01  # of the log of the scale


def better_scale(answers: Answers, teachers: int, best_known: float) -> tuple[Noise, float] | None:
    """Noise of another scale that explains counts (c,) far better than that given, and log-odds.

    best_known: the highest log-likelihood that any votes may have under the noise given. None
    unless the log-odds reach `log_odds_wanted`.
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
    else:  # the less noise the better: the most noise that is as good as a true one would be
        place = _nearest(explained, ends[0], explained(ends[0]) - freedom / 2.0)
    odds = explained(place) - best_known
    if odds < log_odds_wanted(answers):
        return None
    return answers.mechanism.noise.times(float(np.exp(place))), odds


def log_odds_wanted(answers: Answers) -> float:
    """Log-odds between scales that the right one hardly ever meets, for counts (c,).

    Half the `ALARM` quantile of the chi-square law with a degree of freedom for each outcome but
    one: the ratio of all laws against the true one has that limit, and the ratio here, of some laws
    against the likeliest of several, is smaller.
    """
    return float(chi2.isf(ALARM, answers.counts.size - 1)) / 2.0


def _nearest(explained: Callable[[float], float], far: float, wanted: float) -> float:
    """The place nearest to 0, of those down to `far`, where a falling function reaches a value."""
    near = 0.0
    for _ in range(_HALVINGS):
        middle = (near + far) / 2.0
        near, far = (near, middle) if explained(middle) >= wanted else (middle, far)
    return far


def log_supremum(answers: Answers) -> float:
    """The highest log-likelihood of counts (c,) that any law whatever gives."""
    seen = answers.counts[answers.counts > 0]
    return float((seen * np.log(seen / seen.sum())).sum())


def _log_likelihood(answers: Answers, teachers: int, factor: float) -> float:
    """Of the likeliest votes, at a multiple of the noise given."""
    noise = answers.mechanism.noise.times(factor)
    mechanism = replace(answers.mechanism, noise=noise)  # type: ignore[arg-type]
    return float(reconstruct(Answers(answers.counts, mechanism), teachers).log_likelihood)
