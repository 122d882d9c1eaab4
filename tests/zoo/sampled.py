"""A part of the teachers for each answer: drawn in another way, for other answers, or not."""

from typing import Any

import numpy as np

from dpassay.reference import Gaussian, SampledArgmax, Sampling
from dpassay.reference.accounting.analyses import knn_data_independent, sampled_data_independent

from .claims import mechanism
from .deployments import Accounted
from .entry import FRESH, LAW, Shelf

NOISE = 10.0
CLASSES, TEACHERS = 5, 100
POISSON, FIXED, AGAIN = "poisson:0.3", "fixed:40", "with-replacement:40"


def sampled(way: str, noise: float = NOISE) -> dict[str, Any]:
    return mechanism(f"gaussian:{noise:g}", classes=CLASSES, teachers=TEACHERS, sampled=way)


shelf = Shelf("sampled", LAW, sampled(POISSON))
correct = Shelf("none", (), sampled(POISSON))


def winners(drawn: np.ndarray, rng: np.random.Generator, noise: float = NOISE) -> Any:
    """Labels (size,) of drawn votes (size, c)."""
    return (drawn + rng.normal(0, noise, drawn.shape)).argmax(1)


@shelf.draws("all-teachers-vote", "Nobody is drawn: the votes of all teachers count.")
def all_teachers_vote(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(np.tile(histogram, (size, 1)), rng)


@shelf.draws("the-others-vote", "Those who are not drawn vote: 0.7 in place of 0.3.")
def the_others_vote(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(rng.binomial(histogram, 0.7, (size, CLASSES)), rng)


@shelf.draws("noise-of-the-share", "The noise shrinks with the share of teachers drawn.")
def noise_of_the_share(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(rng.binomial(histogram, 0.3, (size, CLASSES)), rng, 0.3 * NOISE)


@shelf.draws(
    "drawn-with-replacement",
    "Draws with replacement where different teachers are claimed.",
    claim=sampled("fixed:90", 3.0),
    source="github.com/jeremy43/Private_kNN: draws with replacement, charges as Poisson",
)
def drawn_with_replacement(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(rng.multinomial(90, histogram / histogram.sum(), size), rng, 3.0)


@shelf.draws(
    "sampled-once-per-call",
    "Draws the teachers once per call, and noise for each answer.",
    checks=(*LAW, *FRESH),
)
def sampled_once_per_call(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(np.tile(rng.binomial(histogram, 0.3), (size, 1)), rng)


@shelf.makes(
    "sampled-once",
    "Draws the teachers of a histogram once, and keeps them.",
    checks=(*LAW, *FRESH),
)
def sampled_once(seed: int) -> Any:
    rng, kept = np.random.default_rng(seed), dict[tuple[int, ...], np.ndarray]()

    def sample(histogram: np.ndarray, size: int) -> Any:
        votes = kept.setdefault(tuple(histogram.tolist()), rng.binomial(histogram, 0.3))
        return winners(np.tile(votes, (size, 1)), rng)

    return sample


@shelf.makes(
    "charged-as-poisson",
    "Draws with replacement, and charges by the theorem of Poisson sampling.",
    claim=sampled("with-replacement:50", 3.0),
    checks=("accountant-soundness",),
    source="github.com/jeremy43/Private_kNN",
)
def charged_as_poisson(seed: int) -> Any:
    right = SampledArgmax(Gaussian(3.0), Sampling.parse("with-replacement:50"))
    return Accounted(right, lambda histogram, orders: knn_data_independent(3.0, 0.5, orders), seed)


@correct.draws("sampled-poisson", "Each teacher is drawn with probability 0.3.")
def sampled_poisson(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(rng.binomial(histogram, 0.3, (size, CLASSES)), rng)


@correct.makes(
    "sampled-fixed",
    "Forty teachers of a hundred, charged as Wang, Balle and Kasiviswanathan 2019 allow.",
    claim=sampled(FIXED),
)
def sampled_fixed(seed: int) -> Any:
    right = SampledArgmax(Gaussian(NOISE), Sampling.parse(FIXED))
    return Accounted(
        right, lambda histogram, orders: sampled_data_independent(right, TEACHERS, orders), seed
    )


@correct.draws("sampled-again", "Forty draws with replacement.", claim=sampled(AGAIN))
def sampled_again(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return winners(rng.multinomial(40, histogram / histogram.sum(), size), rng)
