"""Aggregation mechanisms as frozen descriptions: how they sample and what they draw, exactly."""

from dataclasses import dataclass, replace
from typing import Never, Protocol, runtime_checkable

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


def unsupported(mechanism: Never, asked: str) -> UnknownMechanismError:
    """The error at the end of a chain of `isinstance`, where the type checker sees what is left."""
    return UnknownMechanismError(mechanism, asked)


@dataclass(frozen=True)
class NoisyArgmax:
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

    def log_probabilities(self, histogram: Array) -> Array:
        """The source is Wang et al. 2022, Theorem 1."""
        return self.released(log_probabilities(histogram, self.noise), histogram)

    @property
    def answering(self) -> "NoisyArgmax":
        """The mechanism of a query that is answered for certain."""
        return self

    def released(self, log_answers: Array, histogram: Array) -> Array:
        """Log-probabilities (..., o) of what is released, from those (..., c) of the answer."""
        return log_answers

    def log_probabilities_at(self, histogram: ArrayLike, factors: ArrayLike) -> Matrix:
        """Log-probabilities (f, o) of a histogram (c,), the votes' noise times each factor (f,).

        So many times the noise is as so many times fewer votes: one pass serves all factors, but
        where noisy counts are rounded, to whole votes.
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
class ConfidentGNMax:
    """Refuses unless the noisy largest count reaches a threshold, then answers by GNMax.

    Papernot et al. 2018 (arXiv 1802.08908v1), Algorithm 1. noise: of the votes (sigma_2);
    threshold: in votes (T); threshold_noise: of the check (sigma_1), drawn afresh for each query
    and apart from the votes' noise. Noisy votes may be rounded.
    """

    noise: Gaussian | Rounded
    threshold: float
    threshold_noise: Gaussian

    def sample(
        self, histogram: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> Labels:
        """Refused queries are -1."""
        votes = as_histogram(histogram)
        rng = secure_generator() if rng is None else rng
        labels = NoisyArgmax(self.noise).sample(votes, size, rng)
        screened = votes.max() + self.threshold_noise.sample(rng, (size,))
        return np.where(screened >= self.threshold, labels, REFUSAL)

    def log_probabilities(self, histogram: Array) -> Array:
        """Exact, as the two noises are independent."""
        return self.released(log_probabilities(histogram, self.noise), histogram)

    @property
    def answering(self) -> NoisyArgmax:
        return NoisyArgmax(self.noise)

    def released(self, log_answers: Array, histogram: Array) -> Array:
        """The refusal last."""
        log_refusal, log_answer = _screen(histogram, self.threshold, self.threshold_noise)
        xp = namespace(log_refusal)
        refusals = xp.broadcast_to(log_refusal, (*log_answers.shape[:-1], 1))
        return xp.concatenate([log_answer + log_answers, refusals], -1)

    def log_probabilities_at(self, histogram: ArrayLike, factors: ArrayLike) -> Matrix:
        """The noise of the check stays what it is."""
        answers = self.answering.log_probabilities_at(histogram, factors)
        return np.asarray(self.released(answers, np.asarray(histogram, dtype=np.float64)))


@dataclass(frozen=True)
class SampledArgmax:
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

    def log_probabilities(self, histogram: Array) -> Array:
        """Of whole votes, by `sampled_log_probabilities`."""
        votes = np.asarray(histogram, dtype=np.float64)
        rows = votes.reshape(-1, votes.shape[-1])
        return sampled_log_probabilities(rows, self.noise, self.sampling).reshape(votes.shape)

    @property
    def answering(self) -> "SampledArgmax":
        return self

    def released(self, log_answers: Array, histogram: Array) -> Array:
        return log_answers

    def log_probabilities_at(self, histogram: ArrayLike, factors: ArrayLike) -> Matrix:
        """The votes that are drawn stay what they are."""
        laws = [
            replace(self, noise=self.noise.times(float(factor))).log_probabilities(histogram)
            for factor in np.asarray(factors, dtype=np.float64)
        ]
        return np.array(laws)


@dataclass(frozen=True)
class InteractiveGNMax:
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
    def confirmed(self) -> int:
        """The label released where the teachers agree with the student; -1 is a refusal."""
        best = int(np.argmax(self.prediction))
        return best if self.prediction[best] > self.confidence else REFUSAL

    def _disagreement(self, histogram: Array) -> Array:
        prediction = np.asarray(self.prediction)
        if np.shape(histogram)[-1:] != prediction.shape:
            raise ValueError(
                f"histogram of shape {np.shape(histogram)}: expected {prediction.size} classes, "
                "as the prediction has"
            )
        return histogram - self.weight * prediction

    def sample(
        self, histogram: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> Labels:
        """Refused queries are -1."""
        votes = as_histogram(histogram)
        rng = secure_generator() if rng is None else rng
        labels = NoisyArgmax(self.noise).sample(votes, size, rng)
        screened = self._disagreement(votes).max() + self.threshold_noise.sample(rng, (size,))
        return np.where(screened >= self.threshold, labels, self.confirmed)

    def log_probabilities(self, histogram: Array) -> Array:
        """Exact, as the two noises are independent."""
        votes = histogram if is_jax(histogram) else np.asarray(histogram, dtype=np.float64)
        gap = self._disagreement(votes)
        log_agree, log_disagree = _screen(gap, self.threshold, self.threshold_noise)
        xp = namespace(log_agree)
        answers = log_disagree + log_probabilities(votes, self.noise)
        never = xp.full_like(log_agree, -xp.inf)
        outcomes = xp.concatenate([answers, never], -1)
        confirmed = np.zeros(outcomes.shape[-1], dtype=bool)
        confirmed[self.confirmed] = True
        return xp.where(confirmed, xp.logaddexp(outcomes, log_agree), outcomes)


def _screen(scores: Array, threshold: float, noise: Gaussian) -> tuple[Array, Array]:
    """Log-probabilities (..., 1) that the largest score plus noise stays below, and reaches, T."""
    scores = scores if is_jax(scores) else np.asarray(scores, dtype=np.float64)
    margin = (scores.max(-1, keepdims=True) - threshold) / noise.scale
    return log_ndtr(-margin), log_ndtr(margin)


ClaimedMechanism = NoisyArgmax | ConfidentGNMax | SampledArgmax
"""Mechanisms that a claim may name: their law follows from the histogram alone."""

KnownMechanism = ClaimedMechanism | InteractiveGNMax
"""Those, and the one whose law follows from a student's prediction too."""
