"""What an adversary made of the trials of a game on a vendor's model, in one round or more."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..inference.measures import Estimate, advantage
from .data import Whole
from .posteriors import Logs


@dataclass(frozen=True)
class Played:
    """What the adversary made of trials.

    truth (t,): the value of each; prior (m,): the law that it was drawn from; logs (t, m): log
    posteriors; features: that the adversary took.
    """

    truth: Whole
    prior: NDArray[np.float64]
    logs: Logs
    features: str

    def part(self, trials: slice) -> "Played":
        """The results of some of the trials."""
        return replace(self, truth=self.truth[trials], logs=self.logs[trials])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each guess (t,) was."""
        return np.asarray(self.logs.argmax(1) == self.truth)

    @property
    def base(self) -> float:
        """How often somebody is right who sees nothing: the largest of the prior."""
        return float(self.prior.max())

    @property
    def guessing(self) -> float:
        """How often who always says the trials' commonest value is right in these trials."""
        return float(np.bincount(self.truth).max() / self.truth.size)

    @property
    def advantage(self) -> Estimate:
        """What guesses gain over the commonest value of the trials, as a share of what there is.

        By the trials' own share, not the prior's, so that who always says it gains 0. The interval
        is for the gain over the prior's, of which trials are drawn: the trials' own share errs
        with the guesses, and an interval that takes it as known holds in 84 % of runs at times.
        """
        guessed = self.logs.argmax(1)
        own, known = advantage(guessed, self.truth), advantage(guessed, self.truth, self.base)
        return Estimate(own.value, min(known.low, own.value), max(known.high, own.value))


def together(rounds: Sequence[Played]) -> Played:
    """What the adversary makes of the same trials seen in several rounds: Li et al. 2024, eq. 5.

    Log posteriors add up, and the prior is taken off all of them but one: each of these has it.
    """
    prior = rounds[0].prior
    sums = np.sum([one.logs for one in rounds], axis=0) - (len(rounds) - 1) * np.log(prior)
    logs: Logs = sums - logsumexp(sums, axis=1, keepdims=True)
    features = dict.fromkeys(one.features for one in rounds)
    return replace(rounds[0], logs=logs, features=", ".join(features))
