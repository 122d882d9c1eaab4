"""Refusals that tell two neighbouring inputs apart, and how many calls prove that they do.

A fair coin chooses the input of each call, D or its neighbour D'. Given all calls before, let the
call be refused with probability p if it is of D, and q if it is of D'. That it fits, a refusal of D
or an answer to D', has probability (p + 1 - q) / 2. Where a call is (epsilon, delta)-private,

    p <= e^epsilon q + delta    and    1 - q <= e^epsilon (1 - p) + delta,

whose sum is (1 + e^epsilon) (p + 1 - q) <= 2 e^epsilon + 2 delta. So the call fits with probability
(e^epsilon + delta) / (1 + e^epsilon) at most, whatever came before, and n calls in a row with the
n-th power of it: randomised response attains it. The coins matter. Of strict turns, a deployment
that refuses every other call, whatever it is given, would fit in all of them.

The pair is fixed before the calls are made, by whatever means: they are fresh, so that the search
for it costs nothing. Of neighbours at a distance of d, d times epsilon takes the place of epsilon.
"""

import math

import numpy as np
from scipy.special import expit

_MOST = 1_000
"""Calls that are judged together at most, where delta is above 0: of more, it tells nothing."""


def log_fits(epsilon: float, delta: float, releases: int = 1) -> float:
    """Natural log of the probability, at most, with which a call fits; 0 where all may.

    epsilon, delta: of so many releases together. Of these any m are (epsilon, delta)-private too,
    and where they are independent draws of one law, p^m <= e^epsilon q^m + delta. The m-th root of
    a sum is at most the sum of the roots, so that p <= e^(epsilon / m) q + delta^(1 / m), and the
    answers likewise: each by itself is (epsilon / m, delta^(1 / m))-private. The best m counts.
    """
    calls = np.unique([*range(1, min(releases, _MOST) + 1), releases]).astype(float)
    slack = delta ** (1.0 / calls)
    return float(np.log1p(-(1.0 - slack) * expit(-epsilon / calls)).min())


def calls_that_prove(log_fits: float, false_alarm: float) -> int | None:
    """The fewest calls that all fit with probability `false_alarm` at most; None where none do."""
    return math.ceil(math.log(false_alarm) / log_fits) if log_fits < 0.0 else None
