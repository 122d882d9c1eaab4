"""Measurements: an attack on every histogram of an ensemble, at one noise scale, over seeds."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks import Answers, expected_error, misplaced, reconstruct
from dpassay.attacks.gradient_descent import RELEASED, gradient_descent
from dpassay.reference import Gaussian, NoisyArgmax

from .ensembles import CANONICAL, SIGMAS, Ensemble, ensembles

HARD_LIMIT = 10_000
BUDGET, MANY = "budget", "10,000 queries"
EXPERIMENTS = {BUDGET: (CANONICAL,), MANY: SIGMAS}
"""How often is asked, and the noise scales of that."""

ALL_ANSWERED, SCREENED = "each is answered", "refusals count"
VARIANTS = (ALL_ANSWERED, SCREENED)

TOGETHER = {"mle": 50, "posterior": 1, "gradient-descent": 5, "released-code": 5}
"""Seeds of one part: what is quick is read together."""

ATTACKS = ("mle", "gradient-descent", "released-code", "posterior")

Errors = NDArray[np.float64]
Block = tuple[int, str, int, int]
"""The place of a setting among all, an attack, and the seeds from and up to."""


@dataclass(frozen=True)
class Setting:
    """The histograms of an ensemble, asked equally often at one noise scale, under one variant."""

    dataset: str
    experiment: str
    variant: str
    sigma: float

    @property
    def ensemble(self) -> Ensemble:
        """Whose histograms these are."""
        return next(known for known in _known() if known.name == self.dataset)

    def blocks(self, attack: str, seeds: int) -> list[Block]:
        """Parts of a run of one attack."""
        place, size = settings().index(self), TOGETHER[attack]
        return [(place, attack, i, min(i + size, seeds)) for i in range(0, seeds, size)]

    def errors(self, attack: str, seeds: range) -> Errors:
        """Shares of votes (seeds, histograms) that the attack misplaces."""
        votes, mechanism = self.ensemble.histograms, NoisyArgmax(Gaussian(self.sigma))
        counts = np.concatenate([self._counts(seed) for seed in seeds]).astype(float)
        teachers = self.ensemble.teachers
        if attack == "released-code":
            read, _ = gradient_descent(counts, self.sigma, teachers, RELEASED)
        else:
            found = reconstruct(Answers(counts, mechanism), teachers, attack)  # type: ignore[arg-type]
            read = found.histogram
        errors = misplaced(read, np.tile(votes, (len(seeds), 1)))
        return errors.reshape(len(seeds), len(votes))

    def limit(self) -> float:
        """What the likeliest votes misplace on average in the limit of many answers."""
        mechanism = NoisyArgmax(Gaussian(self.sigma))
        answered = np.rint(self._queries() * (1.0 - self._refusal()))
        pairs = zip(self.ensemble.histograms, answered, strict=True)
        return float(np.mean([expected_error(votes, mechanism, n) for votes, n in pairs]))

    def costs(self) -> Errors:
        """Epsilon of 10,000 queries of each histogram (histograms,)."""
        ensemble = self.ensemble
        return np.array([ensemble.epsilon[self.sigma, i] for i in range(len(ensemble.histograms))])

    def _counts(self, seed: int) -> NDArray[np.int64]:
        """How often each label came (histograms, classes): the same answers for every attack."""
        votes, mechanism = self.ensemble.histograms, NoisyArgmax(Gaussian(self.sigma))
        rng = np.random.default_rng([seed, int(self.sigma), VARIANTS.index(self.variant)])
        answered = self._queries()
        if self.variant == SCREENED:
            answered = np.maximum(rng.binomial(answered, 1.0 - self._refusal()), 1)
        return rng.multinomial(answered, np.exp(mechanism.log_probabilities(votes)))

    def _refusal(self) -> Errors:
        """How often a query of each histogram is refused."""
        votes = self.ensemble.histograms
        if self.variant == ALL_ANSWERED:
            return np.zeros(len(votes))
        refused = self.ensemble.screened(self.sigma).log_probabilities(votes)[:, -1]
        return np.asarray(np.exp(refused))

    def _queries(self) -> NDArray[np.int64]:
        if self.experiment == BUDGET:
            return self.ensemble.budget_queries
        return np.full(len(self.ensemble.histograms), HARD_LIMIT)


def settings() -> list[Setting]:
    """Every setting: the canonical budget at sigma 40, and 10,000 queries at every sigma."""
    return [
        Setting(ensemble.name, experiment, variant, sigma)
        for ensemble in _known()
        for experiment, sigmas in EXPERIMENTS.items()
        for variant in VARIANTS
        for sigma in sigmas
    ]


def attacked(place: int, attack: str, start: int, end: int) -> list[list[float]]:
    """The errors (seeds, histograms) of one part, as JSON has them."""
    errors = settings()[place].errors(attack, range(start, end))
    return [list(map(float, row)) for row in errors]


@cache
def _known() -> list[Ensemble]:
    return ensembles()
