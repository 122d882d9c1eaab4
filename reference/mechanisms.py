"""Aggregation mechanisms as frozen descriptions: how they sample and what they draw, exactly."""

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Array, Matrix, is_jax, namespace
from .generators import secure_generator
from .histograms import as_histogram
from .noise import Gaussian, Noise, Rounded
from .probabilities import log_probabilities
from .sampled import sampled_log_probabilities
from .sampling import Sampling
from .special import log_ndtr

Labels = NDArray[np.int64]
REFUSAL = -1
"""The label of a refused query; it indexes the last column of a mechanism's probabilities."""

_DRAWS_AT_ONCE = 1 << 20


@runtime_checkable
class Mechanism(Protocol):
    """What every mechanism offers."""

    def sample(
        self, histogram: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> Labels:
        """`size` independent labels (size,) for one histogram (c,), each with fresh noise.

        rng: the source of randomness; without one, a fresh cryptographically secure generator.
        Raises ValueError for an invalid histogram.
        """

    def log_probabilities(self, histogram: Array) -> Array:
        """Log-probabilities of the labels, (..., c), or (..., c + 1) with the refusal last."""


class UnknownMechanismError(ValueError):
    """A mechanism for which what was asked of it is not known.

    mechanism: it; asked: what was asked, in words.
    """

    def __init__(self, mechanism: object, asked: str) -> None:
        super().__init__(f"mechanism {mechanism!r}: {asked} is not known for it")


class OfNoisyVotes:
    """What mechanisms share that add noise to votes, and release the class in the lead or less.

    noise: of the votes; refuses: whether the teachers may give no label.
    """

    noise: Noise
    refuses: ClassVar[bool] = False

    @property
    def answering(self) -> "NoisyArgmax | SampledArgmax":
        """The mechanism of a query that is answered for certain.

        An answer costs what it costs there: what `released` does to it must not look at the votes
        again, but for the test of a `ScreenedGNMax`.
        """
        return NoisyArgmax(self.noise)

    @property
    def ordered(self) -> bool:
        """Whether the law depends on the order of the classes: the first of equal counts wins."""
        return isinstance(self.noise, Rounded)

    def released(self, log_answers: Array, histogram: Array) -> Array:
        """Log-probabilities (..., o) of what is released, from those (..., c) of the answer."""
        return log_answers

    def log_screening(self, histogram: Array) -> Array:
        """Log-probabilities (..., 2) that histograms (..., c) get the teachers' label, or none."""
        return np.broadcast_to([0.0, -np.inf], (*np.shape(histogram)[:-1], 2))

    def log_probabilities(self, histogram: Array) -> Array:
        """See `Mechanism.log_probabilities`. The source is Wang et al. 2022, Theorem 1."""
        return self.released(log_probabilities(histogram, self.noise), histogram)

    def log_probabilities_at(self, histogram: ArrayLike, factors: ArrayLike) -> Matrix:
        """Log-probabilities (f, o) of a histogram (c,), the votes' noise times each factor (f,)."""
        answers = self.answering.log_probabilities_at(histogram, factors)
        return np.asarray(self.released(answers, np.asarray(histogram, dtype=np.float64)))


@dataclass(frozen=True)
class NoisyArgmax(OfNoisyVotes):
    """Releases the class whose count plus noise is largest.

    GNMax with Gaussian noise (Papernot et al. 2018, section 4.1), LNMax with Laplace noise
    (Papernot et al. 2017, equation 1), report-noisy-max with exponential or Gumbel noise.
    """

    noise: Noise

    def sample(
        self, histogram: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> Labels:
        votes = as_histogram(histogram)
        rng = secure_generator() if rng is None else rng
        labels = np.empty(size, dtype=np.int64)
        step = max(1, _DRAWS_AT_ONCE // votes.size)
        for start in range(0, size, step):
            part = labels[start : start + step]
            part[:] = self.noise.noisy(votes, part.size, rng).argmax(-1)
        return labels

    def log_probabilities_at(self, histogram: ArrayLike, factors: ArrayLike) -> Matrix:
        """So many times the noise is as so many times fewer votes: one pass serves all factors.

        But where noisy counts are rounded, to whole votes.
        """
        votes = np.asarray(histogram, dtype=np.float64)
        if isinstance(self.noise, Rounded):
            laws = [
                log_probabilities(votes, self.noise.times(float(factor)))
                for factor in np.asarray(factors, dtype=np.float64)
            ]
            return np.stack(laws)
        fewer = votes / np.asarray(factors, dtype=np.float64)[:, None]
        return np.asarray(log_probabilities(fewer, self.noise))


@dataclass(frozen=True)
class SampledArgmax(OfNoisyVotes):
    """Noisy argmax over a part of the teachers, drawn anew for each answer.

    noise: of the votes that are drawn; sampling: how. A teacher's chance is amplified by that, or
    not: the exact law says, see `sampled`.
    """

    noise: Gaussian
    sampling: Sampling

    def sample(
        self, histogram: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> Labels:
        """See `Mechanism.sample`. Raises ValueError for too few votes to draw from too."""
        votes = as_histogram(histogram)
        rng = secure_generator() if rng is None else rng
        drawn = self.sampling.sample(votes, size, rng)
        return np.asarray((drawn + self.noise.sample(rng, drawn.shape)).argmax(-1))

    @property
    def answering(self) -> "SampledArgmax":
        return self

    def log_probabilities(self, histogram: Array) -> Array:
        """Of whole votes, by `sampled_log_probabilities`."""
        votes = np.asarray(histogram, dtype=np.float64)
        rows = votes.reshape(-1, votes.shape[-1])
        return sampled_log_probabilities(rows, self.noise, self.sampling).reshape(votes.shape)

    def log_probabilities_at(self, histogram: ArrayLike, factors: ArrayLike) -> Matrix:
        """The votes that are drawn stay what they are."""
        laws = [
            replace(self, noise=self.noise.times(float(factor))).log_probabilities(histogram)
            for factor in np.asarray(factors, dtype=np.float64)
        ]
        return np.array(laws)


class ScreenedGNMax(OfNoisyVotes):
    """GNMax behind a test that a noisy score of the votes reaches a threshold.

    threshold: in votes (T); threshold_noise: of the score (sigma_1), drawn afresh for each query
    and apart from the votes' noise (sigma_2), which is not scaled with it.
    """

    refuses = True
    threshold: float
    threshold_noise: Gaussian

    @property
    def confirmed(self) -> int:
        """The label released where the score is too low; -1 is a refusal."""
        return REFUSAL

    def scored(self, histogram: Array) -> Array:
        """What the score is the largest of, (..., c)."""
        return histogram

    def sample(
        self, histogram: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> Labels:
        """Refused queries are -1."""
        votes = as_histogram(histogram)
        rng = secure_generator() if rng is None else rng
        labels = self.answering.sample(votes, size, rng)
        screened = self.scored(votes).max() + self.threshold_noise.sample(rng, (size,))
        return np.where(screened >= self.threshold, labels, self.confirmed)

    def log_screening(self, histogram: Array) -> Array:
        votes = histogram if is_jax(histogram) else np.asarray(histogram, dtype=np.float64)
        margin = (self.scored(votes).max(-1) - self.threshold) / self.threshold_noise.scale
        return log_ndtr(namespace(margin).stack([margin, -margin], -1))

    def released(self, log_answers: Array, histogram: Array) -> Array:
        """The refusal last; exact, as the two noises are independent."""
        screening = self.log_screening(histogram)
        xp = namespace(screening)
        answers = screening[..., :1] + log_answers
        missed = xp.broadcast_to(screening[..., 1:], (*answers.shape[:-1], 1))
        if self.confirmed == REFUSAL:
            return xp.concatenate([answers, missed], -1)
        outcomes = xp.concatenate([answers, xp.full_like(missed, -xp.inf)], -1)
        own = np.arange(outcomes.shape[-1]) == self.confirmed
        return xp.where(own, xp.logaddexp(outcomes, missed), outcomes)


@dataclass(frozen=True)
class ConfidentGNMax(ScreenedGNMax):
    """Refuses unless the noisy largest count reaches a threshold, then answers by GNMax.

    Papernot et al. 2018 (arXiv 1802.08908v1), Algorithm 1. noise: of the votes (sigma_2), which may
    be rounded; threshold, threshold_noise: see `ScreenedGNMax`.
    """

    noise: Gaussian | Rounded
    threshold: float
    threshold_noise: Gaussian


@dataclass(frozen=True)
class InteractiveGNMax(ScreenedGNMax):
    """Answers by GNMax where teachers disagree with the student, else confirms or refuses.

    Papernot et al. 2018 (arXiv 1802.08908v1), Algorithm 2: with the student's prediction p,
    weight M (the number of teachers) and confidence gamma, the screen compares
    max_j (n_j - M p_j) + N(0, sigma_1^2) with T. Below it the student's own label is confirmed
    when max p exceeds gamma, and refused otherwise.
    prediction: probabilities (c,); weight: votes; confidence: a probability.
    Raises ValueError for a prediction that is no distribution.
    """

    noise: Gaussian
    threshold: float
    threshold_noise: Gaussian
    prediction: tuple[float, ...]
    weight: float
    confidence: float

    def __post_init__(self) -> None:
        prediction = tuple(float(p) for p in self.prediction)
        if min(prediction, default=-1.0) < 0 or not np.isclose(sum(prediction), 1.0):
            raise ValueError(f"prediction {prediction}: expected probabilities that sum to 1")
        object.__setattr__(self, "prediction", prediction)

    @property
    def ordered(self) -> bool:
        """By its prediction, which favours a class."""
        return True

    @property
    def confirmed(self) -> int:
        """The student's label where it is sure, in place of a refusal."""
        best = int(np.argmax(self.prediction))
        return best if self.prediction[best] > self.confidence else REFUSAL

    def scored(self, histogram: Array) -> Array:
        """How far the teachers are from the student."""
        prediction = np.asarray(self.prediction)
        if np.shape(histogram)[-1:] != prediction.shape:
            raise ValueError(
                f"histogram of shape {np.shape(histogram)}: expected {prediction.size} classes, "
                "as the prediction has"
            )
        return histogram - self.weight * prediction


ClaimedMechanism = NoisyArgmax | ConfidentGNMax | SampledArgmax
"""Mechanisms that a claim may name: their law follows from the histogram alone."""

KnownMechanism = ClaimedMechanism | InteractiveGNMax
"""Those, and the one whose law follows from a student's prediction too."""
