"""What DP-SGD on lines drawn one by one costs, and how far it lets a canary be exposed."""

import math
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import binom

from dpassay.reference.accounting.composition import Bracket

from .private import PrivateTraining

_INTERVAL = 1e-4  # of the grid of losses, for one line
_COARSE = 1e-3  # for several, whose law has no closed form
_EPSILONS = np.linspace(0.0, 40.0, 801)


def epsilon(training: PrivateTraining, delta: float, times: int = 1) -> Bracket:
    """Epsilon at `delta` of a training, for a line more or less that stands `times` times in it.

    All steps of the Poisson-subsampled Gaussian mechanism, by privacy loss distributions; of
    several copies, any number of which are in a batch, it is a mixture of Gaussians (Ganesh 2024,
    arXiv 2401.10294). Infinite without noise. Raises ValueError for no copies, and a delta outside
    (0, 1).
    """
    if times < 1 or not 0.0 < delta < 1.0:
        raise ValueError(f"times {times}, delta {delta:g}: expected 1 or more, and one in (0, 1)")
    if not training.multiplier:
        return Bracket(math.inf, math.inf)
    return Bracket(
        *(_losses(training, times, up).get_epsilon_for_delta(delta) for up in (False, True))
    )


def highest_exposure(training: PrivateTraining, chance: float = 0.05) -> float:
    """The bits that the exposure of a canary inserted once exceeds with a probability of `chance`.

    At most: whatever the model and the space. Without the canary each rank is equally likely, so
    that a rank of |R| / 2^k or less has the probability 2^-k, and with it at most e^epsilon 2^-k +
    delta, for each epsilon. Infinite without noise.
    """
    if not training.multiplier:
        return math.inf
    deltas = np.asarray(_losses(training, 1, True).get_delta_for_epsilon(_EPSILONS.tolist()))
    possible = deltas < chance
    if not possible.any():
        return math.inf
    bits = (_EPSILONS[possible] - np.log(chance - deltas[possible])) / math.log(2.0)
    return float(bits.min())


def _losses(
    training: PrivateTraining, times: int, pessimistic: bool
) -> pld.PrivacyLossDistribution:
    sigma, share = training.multiplier, training.share
    how: dict[str, Any] = {"pessimistic_estimate": pessimistic, "use_connect_dots": pessimistic}
    if times == 1:
        how["value_discretization_interval"] = _INTERVAL
        one = pld.from_gaussian_mechanism(sigma, sampling_prob=share, **how)
    else:
        copies = np.arange(times + 1)
        drawn = binom.pmf(copies, times, share).tolist()
        how["value_discretization_interval"] = _COARSE
        one = pld.from_mixture_gaussian_mechanism(sigma, copies.tolist(), drawn, **how)
    return one.self_compose(training.steps)
