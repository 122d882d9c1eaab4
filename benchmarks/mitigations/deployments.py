"""Deployments that round their counts, or keep answers, beside those that `dpassay chain` has."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpassay.attacks.inference.mitigations import MitigatedDeployment, Whole, first_votes, utility
from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax, UnknownMechanismError
from dpassay.reference.accounting.analyses import CountedCost
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.arrays import Matrix
from dpassay.reference.mechanisms import ClaimedMechanism

Cache = Literal["input", "histogram"]

_AT_ONCE = 2_000_000  # answers to near-duplicates, drawn together


@dataclass(frozen=True)
class Rounding(MitigatedDeployment):
    """step: counts are rounded to its nearest multiple before the noise, from 1."""

    step: int

    def log_laws(self, teachers: int) -> Matrix:
        """Log-probabilities (N + 1, o) of the outcomes for each number of votes of a class."""
        first = np.arange(teachers + 1.0)
        votes = np.stack([first, teachers - first], -1)
        rounded = np.floor(votes / self.step + 0.5) * self.step
        return np.asarray(self.mechanism.log_probabilities(rounded))

    def epsilon(self, delta: float) -> float:
        """The cost of all answers about one person, data-independent."""
        return CountedCost(self.charged).epsilon(self.queries, 0, delta)

    @property
    def charged(self) -> ClaimedMechanism:
        """The mechanism that costs as much without rounding, whatever the votes.

        A vote that moves may move two rounded counts by a whole step: in steps the counts move by
        one as ever, and the noise is `step` times smaller.
        """
        m = self.mechanism
        if isinstance(m, NoisyArgmax):
            return NoisyArgmax(m.noise.times(1.0 / self.step))
        if not isinstance(m, ConfidentGNMax):
            raise UnknownMechanismError(m, "its cost with rounded counts")
        screen = Gaussian(m.threshold_noise.scale / self.step)
        return ConfidentGNMax(Gaussian(m.noise.scale / self.step), m.threshold / self.step, screen)


@dataclass(frozen=True, eq=False)
class Keeping(MitigatedDeployment):
    """Keeps answers, where the attacker asks `queries` near-duplicates of each input instead of it.

    cache: what answers are kept by; near: votes (m, k) of the first class on the near-duplicates.
    They are read as answers to one input, which is not exact. Answers kept by histogram have no
    epsilon: two that differ prove that two histograms do, which one moved vote decides. Raises
    ValueError for too few near-duplicates.
    """

    cache: Cache
    near: Whole

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.near.shape[1] < self.queries:
            raise ValueError(f"{self.name}: expected {self.queries} near-duplicates of each")

    def answers(self, first: Whole, laws: Matrix, rng: np.random.Generator) -> Matrix:
        """Counts (m, o): each near-duplicate answered once, or each histogram once for all."""
        near, ends = self.near[:, : self.queries], laws.cumsum(-1)[:, :-1]
        if self.cache == "histogram":
            labels = (rng.random((len(laws), 1)) > ends).sum(-1)[near]
        else:
            labels = np.empty_like(near)
            rows = max(1, _AT_ONCE // near.shape[1])
            for start in range(0, len(near), rows):
                some = near[start : start + rows]
                drawn = (rng.random(some.shape)[..., None] > ends[some]).sum(-1)
                labels[start : start + rows] = drawn
        each = [(labels == k).sum(-1, dtype=np.float64) for k in range(laws.shape[1])]
        counts = np.stack(each, -1)
        return counts if self.cache == "input" else counts * (_different(near) / self.queries)

    def epsilon(self, delta: float) -> float:
        """Infinite where answers are kept by histogram.

        They are equal for sure where two histograms are, and independent where a vote has moved in
        one: at any epsilon delta is the chance that these differ, up to a half.
        """
        return np.inf if self.cache == "histogram" else super().epsilon(delta)


def _different(near: Whole) -> float:
    """How many histograms the near-duplicates (m, k) of a person have, on average.

    So many answers are fresh; all count for that many, as the attacker cannot tell which they are.
    """
    return float(1.0 + (np.diff(np.sort(near, 1), axis=1) != 0).sum(1).mean())


@dataclass(frozen=True)
class Spent:
    """Epsilons of a setting, all at one delta.

    person: of all answers about one person, data-independent; person_most: the most at anybody's
    votes, by exact Rényi costs; release: of one answer to everybody, data-independent, by how many
    are answered; release_exact: at everybody's votes.
    """

    person: float
    person_most: float
    release: float
    release_exact: float


def spent(setting: MitigatedDeployment, histograms: Whole, delta: float) -> Spent:
    """Data-independent by `CountedCost`; exact from Rényi divergences of neighbouring votes.

    Infinite where the setting's epsilon is.
    """
    if np.isinf(setting.epsilon(delta)):
        return Spent(np.inf, np.inf, np.inf, np.inf)
    first, total = first_votes(histograms)
    charged = setting.charged if isinstance(setting, Rounding) else setting.mechanism
    counted, table = CountedCost(charged), _costs(setting.log_laws(total))
    answered = round(utility(setting, histograms).answered * len(first))
    own = [to_epsilon(ORDERS, setting.queries * table[v], delta).epsilon for v in np.unique(first)]
    return Spent(
        setting.epsilon(delta),
        max(own),
        counted.epsilon(answered, len(first) - answered, delta),
        to_epsilon(ORDERS, table[first].sum(0), delta).epsilon,
    )


def right(setting: MitigatedDeployment, histograms: Whole, truths: Whole | None) -> float | None:
    """Of one answer to every query, the share of the answers that is right; exact over the noise.

    None where the truths (m,) are not known.
    """
    if truths is None:
        return None
    first, total = first_votes(histograms)
    law = np.exp(setting.log_laws(total))[first][:, :2]
    return float(law[np.arange(len(law)), truths].sum() / law.sum())


def _costs(log_laws: Matrix) -> Matrix:
    """Rényi costs (N + 1, n) at `ORDERS` of one query: the worse neighbour and direction."""
    up, down = log_laws[1:], log_laws[:-1]
    step = np.maximum(renyi_divergence(up, down, ORDERS), renyi_divergence(down, up, ORDERS))
    none = np.zeros((1, ORDERS.size))
    return np.asarray(np.maximum(np.concatenate([none, step]), np.concatenate([step, none])))
