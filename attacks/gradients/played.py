"""What an adversary made of a game's trials, and how well: Li et al. 2024, section 5.1.2."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ...reference.arrays import Integers
from ..auditing.proportions import clopper_pearson
from ..inference.measures import ALPHA, Estimate, advantage, auc, macro_auc, tpr_at_fpr
from .posteriors import Logs

FALSE_RATE = 0.01


@dataclass(frozen=True)
class Judged:
    """Measures of an adversary over the trials of one seed, with intervals over the trials.

    auroc; tpr: at 1 % of false positives; advantage: over the trials' own commonest value, so that
    who always says it has 0; success: the share of right guesses. Of two values, class 1 is the
    positive; of more, auroc and tpr are means over the values, each against the rest.
    """

    auroc: Estimate
    tpr: Estimate
    advantage: Estimate
    success: Estimate


def judged(log_posteriors: Logs, truth: Integers) -> Judged:
    """Judges log posteriors (t, m), of which the largest is guessed, by the truth (t,).

    Raises ValueError where a value does not occur in the trials.
    """
    guessed = log_posteriors.argmax(1)
    right = guessed == truth
    scores = _against_rest(log_posteriors)
    m = scores.shape[1]
    area = auc(scores[:, 1], truth == 1) if m == 2 else macro_auc(scores, truth)
    return Judged(
        area,
        tpr_at_fpr(scores[:, 1], truth == 1, FALSE_RATE) if m == 2 else _mean_tpr(scores, truth),
        advantage(guessed, truth),
        Estimate(float(right.mean()), *clopper_pearson(int(right.sum()), right.size, ALPHA / 2.0)),
    )


def _against_rest(logs: Logs) -> NDArray[np.float64]:
    """The log odds (t, m) of each value, which differ where probabilities have rounded to 1."""
    odds = np.empty(logs.shape)
    for a in range(logs.shape[1]):
        odds[:, a] = logs[:, a] - logsumexp(np.delete(logs, a, axis=1), axis=1)
    return odds


def _mean_tpr(scores: NDArray[np.float64], truth: Integers) -> Estimate:
    """The mean over values; the interval holds for all of them at once."""
    m = scores.shape[1]
    each = [tpr_at_fpr(scores[:, a], truth == a, FALSE_RATE, ALPHA / m) for a in range(m)]
    return Estimate(
        float(np.mean([one.value for one in each])),
        float(np.mean([one.low for one in each])),
        float(np.mean([one.high for one in each])),
    )


@dataclass(frozen=True)
class Played:
    """What the adversary made of trials.

    truth (t,): the value of each; prior (m,): the law that it was drawn from; logs (t, m): log
    posteriors; features: that the adversary took.
    """

    truth: Integers
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
