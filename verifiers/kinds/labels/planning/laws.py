"""Laws of labels, from histograms (b, c) to probabilities (b, o), and the faults that have them.

A law need not be precise: any distribution fixed beforehand makes a fair wager, and a close one
makes it grow faster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Noise, probabilities
from .....reference.arrays import Matrix, Vector
from .....reference.mechanisms import ClaimedMechanism
from .....reference.shared_nodes import won
from ....evidence.dirichlet import with_leak
from ....findings.note import Note
from ..mechanism import LabelsMechanism

Law = Callable[[Matrix], Matrix]

_STEP = 1e-3  # of the noise scale
_EDGES = np.arange(-8.0, 12.0, 0.2)  # scales of the noise about the leader
_RACED = 256  # histograms at a time
_KEPT = 512  # most votes, all histograms together, whose laws are kept


class ScaledNoise(Enum):
    """Which noise has the wrong scale."""

    VOTES = "votes"
    THRESHOLD = "threshold"


@dataclass(frozen=True)
class LabelFault:
    """What an aggregator does wrong, in words that follow "labels fit", and its law.

    weight: relative weight of the wager on it; of_class: (fault name, k) where class k is treated
    unlike the others; scaled: which noise has another scale, and by which factor; numbered: whether
    the law depends on the class numbers in another way.
    """

    note: Note = field(hash=False)
    law: Law
    weight: float = 1.0
    of_class: tuple[str, int] | None = None
    scaled: tuple[ScaledNoise, float] | None = None
    numbered: bool = False

    @property
    def wording(self) -> str:
        """What it is, in words that follow "labels fit"."""
        return self.note.message


def fault_laws(faults: Sequence[LabelFault], claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, a, o) of faults on histograms (b, c), mixed with a little of the claim's."""
    with np.errstate(divide="ignore"):  # where a fault and the claim both give a label no chance
        laws = [with_leak(np.log(fault.law(histograms)), claimed) for fault in faults]
    return np.stack(laws, 1)


def divergences(laws: Matrix, claimed: Matrix) -> Matrix:
    """Kullback-Leibler divergences (..., a) of log-laws (..., a, o) from those claimed."""
    with np.errstate(invalid="ignore"):
        terms = np.exp(laws) * (laws - claimed)
    return np.asarray(np.where(np.isfinite(terms), terms, 0.0).sum(-1))


def log_laws(
    claim: LabelsMechanism, histograms: NDArray[np.int64] | Matrix, factor: float = 1.0
) -> Matrix:
    """Claimed log-laws (..., o) of histograms (..., c), at `factor` times the noise scale."""
    mechanism = claim.mechanism(claim.noise.times(factor))
    return _log_laws(mechanism, histograms.astype(np.float64, order="C"))


def information(
    claim: LabelsMechanism, histograms: NDArray[np.int64] | Matrix, log_q: Matrix
) -> Vector:
    """Fisher information (b,) of a label of histograms (b, c) about the log of the noise scale s.

    The sum of (dQ/d ln s)^2 / Q, by a central difference; log_q: claimed log-laws (b, o).
    """
    up, down = (np.exp(log_laws(claim, histograms, 1.0 + step)) for step in (_STEP, -_STEP))
    slope = (up - down) / (2.0 * _STEP)
    return np.asarray((np.square(slope) / np.maximum(np.exp(log_q), 1e-12)).sum(-1))


def _log_laws(mechanism: ClaimedMechanism, votes: Matrix) -> Matrix:
    if votes.size > _KEPT:
        return np.asarray(mechanism.log_probabilities(votes))
    return _kept_log_laws(mechanism, votes.tobytes(), votes.shape)


@lru_cache(maxsize=4096)  # the plans that are tried for a claim ask the same histograms
def _kept_log_laws(mechanism: ClaimedMechanism, votes: bytes, shape: tuple[int, ...]) -> Matrix:
    found = np.asarray(mechanism.log_probabilities(np.frombuffer(votes).reshape(shape)))
    found.flags.writeable = False
    return found


def mechanism_law(mechanism: ClaimedMechanism) -> Law:
    """The law of labels of `mechanism`, in place of the claimed one."""

    def law(histograms: Matrix) -> Matrix:
        votes = np.ascontiguousarray(histograms)
        return _mechanism_probabilities(mechanism, votes.tobytes(), votes.shape)

    return law


@lru_cache(maxsize=4)  # several faults share them
def _mechanism_probabilities(
    mechanism: ClaimedMechanism, votes: bytes, shape: tuple[int, int]
) -> Matrix:
    histograms = np.frombuffer(votes).reshape(shape)
    return np.asarray(np.exp(_log_laws(mechanism, histograms)))


def release(claim: LabelsMechanism, law: Law) -> Law:
    """The law of what is released of labels with this law: with a threshold, after the screen."""
    mechanism = claim.mechanism()
    if mechanism == mechanism.answering:
        return law

    def released(histograms: Matrix) -> Matrix:
        with np.errstate(divide="ignore"):
            log_answers = np.log(law(histograms))
        return np.asarray(np.exp(mechanism.released(log_answers, histograms)))

    return released


def noise_law(claim: LabelsMechanism, noise: Noise) -> Law:
    """The law of labels of the claimed mechanism with `noise` on the votes."""
    return release(claim, lambda histograms: np.asarray(probabilities(histograms, noise)))


def rough_noise_law(claim: LabelsMechanism, noise: Noise) -> Law:
    """`noise_law` on a coarse grid, correct to some thousandths: for thousands of histograms."""

    def law(histograms: Matrix) -> Matrix:
        behind = histograms.max(-1, keepdims=True) - histograms
        offsets, place = np.unique(behind, return_inverse=True)
        plain = noise.unrounded
        logs = np.maximum(plain.log_cdf(_EDGES + offsets[:, None] / noise.scale), -600.0)
        middle = np.logaddexp(logs[:, 1:], logs[:, :-1]) - np.log(2.0)
        share = 2.0 * np.tanh(0.5 * np.diff(logs))  # of each cell, over the mean of its cdf
        starts = range(0, len(place), _RACED)
        wins = np.concatenate([won(middle, share, place[i : i + _RACED])[2] for i in starts])
        return np.asarray(wins / wins.sum(-1, keepdims=True))

    return release(claim, law)


LogCdf = Callable[[Matrix, Matrix], Matrix]
"""Values (e,) and votes (k, 1) in; log-probabilities (k, e) that noisy counts lie below out."""


def clipped(noise: Noise, bound: float) -> LogCdf:
    """Of counts with noise whose draws beyond `bound` scales are set to the bound."""

    def log_cdf(t: Matrix, votes: Matrix) -> Matrix:
        off = (t - votes) / noise.scale
        return np.where(off >= bound, 0.0, np.where(off < -bound, -np.inf, noise.log_cdf(off)))

    return log_cdf


def raced(histogram: Vector, edges: Vector, log_cdf: LogCdf, lead: float = 0.0) -> Vector:
    """Probabilities (c,) that each class is ahead of all others by `lead`, on a grid of counts."""
    # classes with the same votes have the same chance
    votes, alike, times = np.unique(histogram, return_inverse=True, return_counts=True)
    cdf = np.exp(log_cdf(edges, votes[:, None]))
    behind = np.exp(log_cdf(edges - lead, votes[:, None])) if lead else cdf
    logs = np.log(np.maximum(0.5 * (behind[:, 1:] + behind[:, :-1]), 1e-300))
    mass = np.diff(cdf, axis=-1)
    return np.asarray((mass * np.exp(times @ logs - logs)).sum(-1)[alike.reshape(-1)])


def plurality(histograms: Matrix) -> Matrix:
    """Probabilities (b, c) of the plurality without noise; classes that tie share them equally."""
    leads = histograms == histograms.max(-1, keepdims=True)
    return np.asarray(leads / leads.sum(-1, keepdims=True))


def first_plurality(histograms: Matrix) -> Matrix:
    """Probabilities (b, c) of the plurality without noise; of classes that tie the first wins."""
    first = histograms.argmax(-1)[..., None]
    return np.asarray(np.arange(histograms.shape[-1]) == first, dtype=np.float64)


def uniform(histograms: Matrix) -> Matrix:
    """The uniform law (b, c), whatever the votes."""
    return np.full(histograms.shape, 1.0 / histograms.shape[-1])


def now_and_then_law(claim: LabelsMechanism, law: Law) -> Law:
    """The claimed law, mixed with `law` for one draw in twenty."""
    right, wrong = mechanism_law(claim.mechanism()), release(claim, law)
    return lambda histograms: 0.95 * right(histograms) + 0.05 * wrong(histograms)
