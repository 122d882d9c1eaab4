"""Evidence that labels depend on what came before: the label before, the call, or earlier queries.

Of calls in any order: every call has a known law Q. So the product of alt(y) / Q(y) over calls that
have a feature is a martingale, whatever the order, if the feature is known before the label y.
Alternatives are given by the log-ratios of the labels that were observed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from ...reference.arrays import Matrix, Vector
from .dirichlet import dirichlet_log_e_value
from .outcomes import Outcomes, log_supremum_ratio

_FOLLOWED = 16
_EFFECT = 0.1  # total variation that matters in turn: each earlier label is followed by few


class Dependence:
    """A Dirichlet mixture over the law of a label, one for each label that may come before it.

    log_q: the null's log-probabilities (o,); effect: total variation that matters. A product of
    predictive ratios, hence a martingale. Only the 16 likeliest predecessors are wagered on.
    """

    def __init__(self, log_q: Vector, effect: float) -> None:
        self.log_q, self.effect = log_q, effect
        self.followed = np.argsort(-log_q)[:_FOLLOWED]
        self.counts = np.zeros((self.followed.size, log_q.size))
        self._row = np.full(log_q.size, -1)
        self._row[self.followed] = np.arange(self.followed.size)
        self._last: int | None = None
        self.log_e_value = 0.0

    def observe(self, outcomes: Outcomes) -> None:
        """Adds labels in order, as outcomes (n,)."""
        if self._last is not None:
            outcomes = np.concatenate([[self._last], outcomes])
        self._last = int(outcomes[-1])
        rows = self._row[outcomes[:-1]]
        np.add.at(self.counts, (rows[rows >= 0], outcomes[1:][rows >= 0]), 1.0)
        seen = self.counts[self.counts.any(-1)]
        each = [dirichlet_log_e_value(row, self.log_q, self.effect) for row in seen]
        self.log_e_value = float(sum(each))


class InTurn:
    """E-process for "the law of a label depends on the other histogram's label before it".

    log_q: claimed log-probabilities (2, o) of two histograms asked alternately. For each label that
    may come before, a Dirichlet mixture over the law of the next one. It is divided by the
    likelihood's supremum over laws without dependence, stream by stream (universal inference), so
    that its expectation is at most 1 for independent labels of any two laws.
    """

    def __init__(self, log_q: Matrix) -> None:
        self.log_q = log_q
        self.counts = np.zeros((2, log_q.shape[1], log_q.shape[1]))
        self._log_e_value: float | None = 0.0

    def observe(self, first: Outcomes, second: Outcomes) -> None:
        """Adds labels in the order first[0], second[0], first[1], ...: outcomes (n,) each."""
        np.add.at(self.counts[1], (first, second), 1.0)
        np.add.at(self.counts[0], (second[:-1], first[1:]), 1.0)
        self._log_e_value = None

    @property
    def log_e_value(self) -> float:
        """Log of the product over preceding labels, over the supremum; kept until labels come."""
        if self._log_e_value is None:
            self._log_e_value = self._product()
        return self._log_e_value

    def _product(self) -> float:
        total = 0.0
        for counts, log_q in zip(self.counts, self.log_q, strict=True):
            seen = counts[counts.any(-1)]
            total += sum(dirichlet_log_e_value(row, log_q, _EFFECT) for row in seen)
            total -= log_supremum_ratio(counts.sum(0), log_q) if counts.any() else 0.0
        return total


_WAYS = 3
"""Kinds of pairs: the first two labels of a call, calls of two, all pairs of a call."""


def log_of_signs(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    """Log of wagers on signs of which either is as likely: so many of one, and of the other.

    The mixture over all probabilities by the prior of Krichevsky and Trofimov (1981).
    """
    logs = betaln(one + 0.5, other + 0.5) - betaln(0.5, 0.5)
    return np.asarray(logs + (one + other) * np.log(2.0))


class OrderInCalls:
    """Wagers on which of two different labels of a call comes first.

    Under the null, labels of one histogram are independent draws of one law: of two that differ,
    either comes first with probability 1/2. Where noise is sorted, or an order encodes a vote, one
    comes first more often. The wager is the mixture over all probabilities by the prior of
    Krichevsky and Trofimov (1981), a function of the two counts.
    """

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.zeros((_WAYS, 2), dtype=np.int64)

    def observe(self, of_call: Outcomes) -> None:
        """Adds the labels (n,) of a whole call, in the order in which they were given."""
        pairs = of_call[: of_call.size // 2 * 2].reshape(-1, 2)
        falls, rises = pairs[:, 0] > pairs[:, 1], pairs[:, 0] < pairs[:, 1]
        self._counts[0] += falls[:1].sum(), rises[:1].sum()
        self._counts[1] += (falls.sum(), rises.sum()) if of_call.size == 2 else (0, 0)
        self._counts[2] += falls.sum(), rises.sum()

    @property
    def log_e_value(self) -> float:
        """Log of the mean over the three kinds of pairs."""
        logs = log_of_signs(*self._counts.T)
        return float(np.logaddexp.reduce(logs) - np.log(_WAYS))


COPIED = np.array([0.9, 0.3, 0.05])
"""Probabilities that a label copies that of an earlier call."""

AVOIDED = np.array([0.9])
"""Relative reductions of the chance of an earlier call's label."""

COPY_WAGERS = COPIED.size + AVOIDED.size
"""Number of wagers on each earlier call: copies first."""

SWITCHES = np.array([1 / 50, 1 / 200, 1 / 1000])
"""Probabilities that a hidden state switches at each call."""


class Conditional:
    """Likelihood ratios (f, a) of "calls with feature f have law a", for each pair.

    features, alternatives: how many there are.
    """

    def __init__(self, features: int, alternatives: int) -> None:
        self.log_ratios = np.zeros((features, alternatives))

    def observe(self, holds: NDArray[np.bool_], log_ratios: Matrix) -> None:
        """Adds calls: which features each has (n, f), and log-ratios of its label (n, a)."""
        self.log_ratios = self.log_ratios + holds.T.astype(np.float64) @ log_ratios


class Switching:
    """Likelihood ratios (s, a) of "labels follow law a while a hidden Markov chain is on".

    The chain switches at each call with a probability from `SWITCHES`, and starts in either state
    with probability 1/2. So what the law depends on need not be known.
    """

    def __init__(self, alternatives: int) -> None:
        shape = (SWITCHES.size, alternatives)
        self._on, self._off = np.full(shape, 0.5), np.full(shape, 0.5)
        self._log_scale = np.zeros(shape)

    def observe(self, log_ratios: Matrix) -> None:
        """Adds calls in order, by the log-ratios (n, a) of their labels."""
        switch = SWITCHES[:, None]
        for ratio in np.exp(log_ratios):
            on = ((1.0 - switch) * self._on + switch * self._off) * ratio
            off = (1.0 - switch) * self._off + switch * self._on
            total = on + off
            self._on, self._off = on / total, off / total
            self._log_scale = self._log_scale + np.log(total)

    @property
    def log_ratios(self) -> Matrix:
        """Log-ratios (s, a) so far."""
        return self._log_scale


class Copies:
    """Likelihood ratios (k, w) of "a label copies, or avoids, that of earlier call k".

    A copy: with probability s the label is that of the earlier call, else a draw of its law.
    Avoidance by r: the chance of that label is multiplied by 1 - r, and the law renormalised.
    earlier: number k of rules that name an earlier call.
    """

    def __init__(self, earlier: int) -> None:
        self.log_ratios = np.zeros((earlier, COPY_WAGERS))

    def observe(self, same: NDArray[np.bool_], chance: Matrix) -> None:
        """Adds calls: whether each label equals that of the earlier call (n, k).

        chance: probability (n, k) of the earlier call's label; 0 where there is no such call.
        """
        chance = np.minimum(chance, 1.0)[..., None]
        seen = same[..., None]
        copied = 1.0 - COPIED + COPIED * seen / np.maximum(chance, 1e-300)
        avoided = (1.0 - AVOIDED * seen) / (1.0 - AVOIDED * chance)
        ratios = np.concatenate([copied, avoided], -1)
        self.log_ratios = self.log_ratios + np.where(chance > 0.0, np.log(ratios), 0.0).sum(0)
