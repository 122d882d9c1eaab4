"""One row of the experiments: an attack, on one histogram, at one noise scale, with one seed."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpassay.attacks import Answers, expected_error, misplaced, reconstruct
from dpassay.attacks.gradient_descent import RELEASED, gradient_descent
from dpassay.reference import Gaussian, NoisyArgmax

from .ensembles import CANONICAL, EACH, GROUPS, SIGMAS, Ensemble, ensembles

HARD_LIMIT = 10_000
ATTACKS = ("mle", "posterior", "gradient-descent", "released-code")
ALL_ANSWERED, SCREENED = "every query answered", "refusals cost a query"
VARIANTS = (ALL_ANSWERED, SCREENED)


@dataclass(frozen=True)
class Outcome:
    """What one attack read. error: share of votes misplaced; limit: the mean in the limit."""

    dataset: str
    sample: int
    group: str
    experiment: str
    variant: str
    sigma: float
    seed: int
    attack: str
    queries: int
    answered: int
    error: float
    limit: float
    epsilon: float | None
    converged: bool

    as_row = asdict


@dataclass(frozen=True)
class Setting:
    """The histograms of an ensemble, asked equally often, under one variant."""

    ensemble: Ensemble
    experiment: str
    variant: str
    sigma: float
    seed: int

    def outcomes(self) -> Iterator[Outcome]:
        """What every attack reads from the same answers."""
        ensemble = self.ensemble
        votes, mechanism = ensemble.histograms, NoisyArgmax(Gaussian(self.sigma))
        rng = np.random.default_rng([self.seed, int(self.sigma), VARIANTS.index(self.variant)])
        queries = self._queries()
        answered = queries
        if self.variant == SCREENED:
            refusal = np.exp(ensemble.screened(self.sigma).log_probabilities(votes)[:, -1])
            answered = np.maximum(rng.binomial(queries, 1.0 - refusal), 1)
        counts = rng.multinomial(answered, np.exp(mechanism.log_probabilities(votes)))
        limits = [expected_error(h, mechanism, n) for h, n in zip(votes, answered, strict=True)]
        for attack in ATTACKS:
            read, converged = self._attack(attack, Answers(counts.astype(float), mechanism))
            errors = misplaced(read, votes)
            for i in range(len(votes)):
                yield Outcome(
                    ensemble.name,
                    i + 1,
                    GROUPS[i // EACH],
                    self.experiment,
                    self.variant,
                    self.sigma,
                    self.seed,
                    attack,
                    int(queries[i]),
                    int(answered[i]),
                    float(errors[i]),
                    limits[i],
                    self._cost(i),
                    bool(converged[i]),
                )

    def _attack(self, attack: str, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
        if attack == "released-code":
            return gradient_descent(answers.counts, self.sigma, self.ensemble.teachers, RELEASED)
        found = reconstruct(answers, self.ensemble.teachers, attack)  # type: ignore[arg-type]
        return found.histogram, found.converged

    def _queries(self) -> np.ndarray:
        if self.experiment == "canonical budget":
            return self.ensemble.budget_queries
        return np.full(len(self.ensemble.histograms), HARD_LIMIT)

    def _cost(self, sample: int) -> float | None:
        if self.experiment == "canonical budget":
            return self.ensemble.epsilon_budget
        return self.ensemble.epsilon.get((self.sigma, sample))


def settings(ensembles: list[Ensemble], seeds: int) -> list[Setting]:
    """Every setting: the canonical budget at sigma 40, and 10,000 queries at every sigma."""
    plan = [("canonical budget", (CANONICAL,)), ("10,000 queries", SIGMAS)]
    return [
        Setting(ensemble, experiment, variant, sigma, seed)
        for ensemble in ensembles
        for experiment, sigmas in plan
        for variant in VARIANTS
        for sigma in sigmas
        for seed in range(seeds)
    ]


def attacked(place: int, seeds: int) -> list[dict[str, Any]]:
    """The outcomes of one setting, as tables of JSON."""
    return [outcome.as_row() for outcome in settings(ensembles(), seeds)[place].outcomes()]
