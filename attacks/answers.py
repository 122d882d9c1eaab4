"""What an attacker has seen: how often each outcome came, and from which mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..reference import REFUSAL, ConfidentGNMax, NoisyArgmax, log_derivatives, log_probabilities
from ..reference.arrays import Matrix
from ..reference.mechanisms import ClaimedMechanism
from ..reference.noise import Rounded
from ..reference.special import log_ndtr, normal_hazard

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Answers:
    """The outcomes of one query asked again and again, of one mechanism.

    counts: how often each label came, (..., c), or (..., c + 1) with the refusals last where the
    mechanism refuses; leading axes are different histograms, attacked side by side. Exact
    frequencies may stand for counts. Raises ValueError that shows the offending count.
    """

    counts: Matrix
    mechanism: ClaimedMechanism

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, NoisyArgmax | ConfidentGNMax):
            raise ValueError(
                f"mechanism {self.mechanism!r}: expected NoisyArgmax or ConfidentGNMax"
            )
        if isinstance(self.mechanism.noise, Rounded):
            raise ValueError(f"noise {self.mechanism.noise}: expected noise without a rounding")
        counts = np.asarray(self.counts, dtype=np.float64)
        if counts.ndim == 0 or counts.shape[-1] < 2 + self.refuses:
            what = "at least two classes" + (" and the refusals" if self.refuses else "")
            raise ValueError(f"counts of shape {counts.shape}: expected {what}")
        bad = ~(np.isfinite(counts) & (counts >= 0))
        if bad.any():
            raise ValueError(f"counts hold {counts[bad].flat[0]:g}: expected numbers from 0")
        object.__setattr__(self, "counts", counts)

    @classmethod
    def tally(cls, labels: ArrayLike, classes: int, mechanism: ClaimedMechanism) -> Self:
        """Counts labels (queries,), values 0..classes-1, or -1 where the mechanism refuses.

        Raises ValueError that shows the offending label and its place.
        """
        refuses = mechanism.refuses
        array = np.asarray(labels)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(f"labels of shape {array.shape}, {array.dtype}: expected whole labels")
        bad = (array < (REFUSAL if refuses else 0)) | (array >= classes)
        if bad.any():
            place = int(np.argmax(bad))
            allowed = f"a label from 0 to {classes - 1}" + (", or -1 for a refusal" * refuses)
            raise ValueError(f"label {array[place]} at place {place}: expected {allowed}")
        outcomes = np.where(array == REFUSAL, classes, array).astype(np.int64)
        counts = np.bincount(outcomes, minlength=classes + refuses)
        return cls(counts.astype(np.float64), mechanism)

    @property
    def refuses(self) -> bool:
        """Whether the last count is of refusals."""
        return self.mechanism.refuses

    @property
    def labels(self) -> Matrix:
        """Counts (..., c) of the classes."""
        return self.counts[..., :-1] if self.refuses else self.counts

    @property
    def refusals(self) -> Matrix:
        """Counts (...) of the refusals."""
        return self.counts[..., -1] if self.refuses else np.zeros(self.counts.shape[:-1])

    def labels_value(self, log_q: Matrix) -> Matrix:
        """Log-likelihood (...) of the labels under log-probabilities (..., c)."""
        return np.asarray(np.where(self.labels > 0, self.labels * log_q, 0.0).sum(-1))

    def screening_value(self, leading: Matrix) -> Matrix | float:
        """Log-likelihood (...) of which queries were refused, given the leader's votes (...)."""
        if not isinstance(self.mechanism, ConfidentGNMax):
            return 0.0
        margin = (leading - self.mechanism.threshold) / self.mechanism.threshold_noise.scale
        answered = self.labels.sum(-1)
        return np.asarray(answered * log_ndtr(margin) + self.refusals * log_ndtr(-margin))

    def screening_derivatives(self, leading: Matrix) -> tuple[Matrix, Matrix] | tuple[float, float]:
        """Slope and Fisher information (...) of `screening_value` by the leader's votes."""
        if not isinstance(self.mechanism, ConfidentGNMax):
            return 0.0, 0.0
        scale = self.mechanism.threshold_noise.scale
        margin = (leading - self.mechanism.threshold) / scale
        rises, falls = normal_hazard(margin), normal_hazard(-margin)
        slope = (self.labels.sum(-1) * rises - self.refusals * falls) / scale
        return slope, self.counts.sum(-1) * rises * falls / scale**2


class Likelihood:
    """Log-likelihood of batches of answers to the same queries, with its derivatives by the votes.

    For b histograms; votes are (b, c). With refusals, the votes that the threshold is compared
    with are those of a class given as leader (b,): with the leader fixed every term is concave
    (Prékopa), with the maximum over classes it would not be.

    multiplicity: how many classes each column (c,) of votes stands for, whose counts are then
    those of all of them together; one each when None.
    """

    def __init__(self, answers: Sequence[Answers], multiplicity: Matrix | None = None) -> None:
        if not answers:
            raise ValueError("no answers: expected at least one batch")
        shapes = {a.labels.shape for a in answers}
        if len(shapes) > 1:
            raise ValueError(f"answers of shapes {sorted(shapes)}: expected one shape")
        self.shape = shapes.pop()
        self.multiplicity = multiplicity
        self.answers = tuple(
            Answers(a.counts.reshape(-1, a.counts.shape[-1]), a.mechanism) for a in answers
        )

    @property
    def counts(self) -> Matrix:
        """Counts (batches, b, c) of the classes."""
        return np.stack([a.labels for a in self.answers])

    @property
    def queries(self) -> Matrix:
        """Queries (b,), refused ones included."""
        return np.asarray(np.sum([a.counts.sum(-1) for a in self.answers], axis=0))

    @property
    def screened(self) -> bool:
        """Whether any batch has a threshold."""
        return any(a.refuses for a in self.answers)

    def rows(self, index: Rows) -> Self:
        """The likelihood of some of the histograms, which may repeat."""
        parts = [Answers(a.counts[index], a.mechanism) for a in self.answers]
        return type(self)(parts, self.multiplicity)

    @property
    def answered(self) -> "Likelihood":
        """The likelihood of the labels alone, refusals left out."""
        return Likelihood([Answers(a.labels, a.mechanism.answering) for a in self.answers])

    def classes(self, index: Rows) -> "Likelihood":
        """The likelihood without the other classes, which must not have been seen."""
        return Likelihood(
            [Answers(a.labels[:, index], a.mechanism.answering) for a in self.answers]
        )

    def value(self, votes: Matrix) -> Matrix:
        """Log-likelihood (..., b) of votes (..., b, c), less the multinomial coefficient."""
        total = np.zeros(votes.shape[:-1])
        for a in self.answers:
            log_q = log_probabilities(votes, a.mechanism.noise, self.multiplicity)
            total += a.labels_value(log_q)
            total += a.screening_value(votes.max(-1))
        return total

    def derivatives(self, votes: Matrix, leader: Rows) -> tuple[Matrix, Matrix, Matrix]:
        """Log-likelihood (b,), its gradient (b, c), and the Fisher information (b, c, c)."""
        total = np.zeros(votes.shape[0])
        gradient, information = np.zeros_like(votes), np.zeros((*votes.shape, votes.shape[1]))
        each = np.arange(votes.shape[0])
        for a in self.answers:
            log_q, slopes = log_derivatives(votes, a.mechanism.noise, self.multiplicity)
            total += a.labels_value(log_q) + a.screening_value(votes[each, leader])
            gradient += (a.labels[:, None, :] @ slopes)[:, 0]
            expected = np.exp(log_q) * a.labels.sum(-1, keepdims=True)
            if self.multiplicity is not None:
                expected *= self.multiplicity
            information += np.swapaxes(slopes * expected[:, :, None], 1, 2) @ slopes
            slope, curve = a.screening_derivatives(votes[each, leader])
            gradient[each, leader] += slope
            information[each, leader, leader] += curve
        return total, gradient, information
