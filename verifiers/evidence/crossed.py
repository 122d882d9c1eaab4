"""Evidence that calls in flight together are given the releases of each other's inputs."""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from .mixture import log_mixture_of

_SHARES = np.array([0.5, 0.1, 0.02])
"""Shares of the calls that get the release of another input, each a wager of its own."""

_FAR = 1.0  # nats by which a release fits another input better, to be counted as crossed


class CrossedReleases:
    """Wagers that a share of calls got the release of the other input in flight with them.

    The null is wider than the claim: releases are independent draws of one of several laws, chosen
    once for all of them. So a wrong scale, or whatever the deployment does where an input is asked
    alone, is not taken for crossing. The likelihood is divided by its maximum over these laws
    (universal inference, Wasserman, Ramdas, Balakrishnan 2020, arXiv 1912.11436v4).

    draws: releases so far; matches: those that fit the other input better.
    """

    def __init__(self) -> None:
        self._wagers = np.zeros(_SHARES.size)
        self._null = np.zeros(0)
        self.draws = self.matches = 0

    def observe(self, own: Matrix, other: Vector) -> None:
        """Adds the releases of calls in flight together.

        own: log-chances (n, k) by k laws of the input asked: the claimed one first, and those that
        the null has beside it, the same in every call of this method; other: log-chances (n,) by
        the claimed law of the other input.
        """
        missed, crossed = np.log1p(-_SHARES), np.log(_SHARES)
        self._wagers += np.logaddexp(missed + own[:, :1], crossed + other[:, None]).sum(0)
        self._null = own.sum(0) + (self._null if self._null.size else 0.0)
        self.draws += len(own)
        self.matches += int((other > own.max(1) + _FAR).sum())

    @property
    def log_e_value(self) -> float:
        """Natural log; the expectation is at most 1 under each law of the null."""
        return log_mixture_of(self.log_ratios, self.log_weights)

    @property
    def log_ratios(self) -> NDArray[np.float64]:
        """Log-ratio (k,) of the wager on each share to the likeliest law of the null."""
        return self._wagers - (self._null.max() if self._null.size else 0.0)

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """Log of the weight (k,) of each wager."""
        return np.full(_SHARES.size, -np.log(_SHARES.size))
