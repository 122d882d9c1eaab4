"""Bounds of the trainings, of which `trainings` keeps the scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpassay.attacks.auditing.canary_guesses import SHARES, guessed
from dpassay.attacks.auditing.one_run import one_run_bound
from dpassay.attacks.auditing.one_run_curve import curve_refuted, largest_mu, one_run_mu

from .exact import DELTA, epsilon_if_gaussian, exact_curve, exact_epsilon
from .peers import ERROR, SHARE, bounds_of_others
from .settings import CANARIES, HALF, MULTIPLIER, SAMPLINGS, coins_of
from .trainings import kept

TO_OTHERS = 2
"""Trainings of each kind by opacus whose scores other libraries are given."""


class Audit(NamedTuple):
    """What one training's scores say, and whether they refute its claim; share of digits right."""

    epsilon: float
    mu: float
    curve_refuted: bool
    as_poisson: bool
    """Whether they refute the curve of Poisson sampling, which is claimed of shuffled ones too."""

    digits: float
    seconds: float
    counted: float
    """The epsilon, if the curve is Gaussian, of the guesses that PrivacyGuard is given."""


class Kind(NamedTuple):
    """Trainings of a package alike; epsilon: of what ran; claimed: with all of the noise."""

    package: str
    sampling: str
    noise: str
    epsilon: float
    claimed: float
    audits: list[Audit]


def kinds(trained: Sequence[tuple[Any, list[Any]]]) -> list[Kind]:
    """The trainings, parts and their results, audited; the claim is that of all of the noise."""
    found: dict[tuple[str, str, str], list[Audit]] = {}
    claims = {sampling: exact_curve(sampling, MULTIPLIER) for sampling in SAMPLINGS}
    for (library, sampling, noise, first, _), results in trained:
        audits = found.setdefault((library, sampling, noise), [])
        for seed, result in enumerate(results, first):
            scores, coins = np.array(result["scores"]), coins_of(CANARIES, seed)
            counts = guessed(scores, coins)[SHARES.index(SHARE)]
            audits.append(
                Audit(
                    one_run_bound(scores, coins, DELTA, ERROR).epsilon,
                    one_run_mu(scores, coins, ERROR).mu,
                    curve_refuted(claims[sampling], scores, coins, ERROR),
                    sampling == "shuffled"
                    and curve_refuted(claims["poisson"], scores, coins, ERROR),
                    result["accuracy"],
                    result["seconds"],
                    epsilon_if_gaussian(largest_mu(counts, CANARIES, ERROR)),
                )
            )
    return [
        Kind(
            library,
            sampling,
            noise,
            exact_epsilon(sampling, MULTIPLIER * (HALF if noise == "half" else 1.0)),
            exact_epsilon(sampling, MULTIPLIER),
            audits,
        )
        for (library, sampling, noise), audits in found.items()
    ]


def by_others(library: str, sampling: str, noise: str, first: int, count: int) -> list[Any]:
    """Bounds by other libraries of the first trainings of a part."""
    results = kept(library, sampling, noise, first, count)[:TO_OTHERS]
    return bounds_of_others(
        [
            (np.array(result["scores"]), coins_of(CANARIES, seed))
            for seed, result in enumerate(results, first)
        ]
    )
