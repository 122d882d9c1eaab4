"""Correct relatives of other mechanisms, and correct accountants and budgets."""

from typing import Any

import numpy as np

from dpassay.reference import ConfidentGNMax, Gaussian, Laplace, NoisyArgmax
from dpassay.reference.accounting.gnmax import gnmax_data_dependent, gnmax_data_independent
from dpassay.reference.accounting.pure import lnmax_data_independent

from .claims import (
    BUDGETED,
    CONFIDENT,
    EXPONENTIAL,
    GNMAX,
    GUMBEL,
    LNMAX,
    METERED,
    SCALE,
    SIGMA,
    SPLIT_VOTES,
    THRESHOLD,
    THRESHOLD_SIGMA,
)
from .deployments import Accounted, DataDependent, Metered, metered
from .entry import Shelf

shelf = Shelf("none", (), GNMAX)


def gnmax(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)


@shelf.draws("first-two-shuffled", "The first two labels of a call change places at random.")
def first_two_shuffled(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = gnmax(histogram, size, rng)
    labels[:2] = rng.permutation(labels[:2])
    return labels


@shelf.draws("lnmax", "Laplace noise and argmax.", claim=LNMAX)
def lnmax(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.laplace(0, SCALE, (size, histogram.size))).argmax(1)


@shelf.draws("laplace-as-difference", "Laplace noise as a difference of exponentials.", claim=LNMAX)
def laplace_as_difference(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    one, other = rng.exponential(SCALE, (2, size, histogram.size))
    return (histogram + one - other).argmax(1)


@shelf.draws("laplace-of-gammas", "Laplace noise as ten parties' gamma differences.", claim=LNMAX)
def laplace_of_gammas(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    one, other = rng.gamma(1 / 10, SCALE, (2, 10, size, histogram.size)).sum(1)
    return (histogram + one - other).argmax(1)


@shelf.draws("gumbel-noise", "Report-noisy-max with Gumbel noise.", claim=GUMBEL)
def gumbel_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.gumbel(0, SCALE, (size, histogram.size))).argmax(1)


@shelf.draws("softmax", "The exponential mechanism: Gumbel noise without the noise.", claim=GUMBEL)
def softmax(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    weights = np.exp((histogram - histogram.max()) / SCALE)
    return rng.choice(histogram.size, size, p=weights / weights.sum())


@shelf.draws("exponential-noise", "Report-noisy-max with exponential noise.", claim=EXPONENTIAL)
def exponential_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.exponential(SCALE, (size, histogram.size))).argmax(1)


@shelf.draws("permute-and-flip", "Coins in random order, in place of the noise.", claim=EXPONENTIAL)
def permute_and_flip(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    heads = rng.random((size, histogram.size)) < np.exp((histogram - histogram.max()) / SCALE)
    return np.where(heads, rng.random(heads.shape), np.inf).argmin(1)


@shelf.draws("confident", "Confident-GNMax, both noises drawn for every query.", claim=CONFIDENT)
def confident(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    screened = histogram.max() + rng.normal(0, THRESHOLD_SIGMA, size)
    return np.where(screened >= THRESHOLD, gnmax(histogram, size, rng), -1)


@shelf.draws(
    "confident-in-turn", "Confident-GNMax that draws an answer where one is due.", claim=CONFIDENT
)
def confident_in_turn(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    labels = np.full(size, -1)
    answered = histogram.max() + rng.normal(0, THRESHOLD_SIGMA, size) >= THRESHOLD
    labels[answered] = gnmax(histogram, int(answered.sum()), rng)
    return labels


def charges(name: str, effect: str, mechanism: Any, charge: Any, claim: Any) -> None:
    shelf.makes(name, effect, claim=claim)(lambda seed: Accounted(mechanism, charge, seed))


charges(
    "data-independent-accountant",
    "Charges order / sigma^2, whatever the votes.",
    NoisyArgmax(Gaussian(SIGMA)),
    lambda histogram, orders: gnmax_data_independent(SIGMA, orders),
    GNMAX,
)
charges(
    "data-dependent-accountant",
    "Charges by Theorem 6, which bounds the cost on one side only.",
    NoisyArgmax(Gaussian(SIGMA)),
    lambda histogram, orders: gnmax_data_dependent(histogram, SIGMA, orders),
    GNMAX,
)
charges(
    "lnmax-accountant",
    "Charges 2 gamma, by moments.",
    NoisyArgmax(Laplace(SCALE)),
    lambda histogram, orders: lnmax_data_independent(1 / SCALE, orders),
    LNMAX,
)
charges(
    "confident-accountant",
    "Charges screening and answer for every query.",
    ConfidentGNMax(Gaussian(SIGMA), THRESHOLD, Gaussian(THRESHOLD_SIGMA)),
    lambda histogram, orders: orders * (SIGMA**-2 + 0.5 * THRESHOLD_SIGMA**-2),
    CONFIDENT,
)


@shelf.makes("budgeted", "Stops before its budget of epsilon 1 is exceeded.", claim=BUDGETED)
def budgeted(seed: int) -> Any:
    return Metered(seed)


@shelf.makes("prepaid", "Says from the start that the whole budget is spent.", claim=METERED)
def prepaid(seed: int) -> Any:
    return metered(seed, Prepaid)


class Prepaid(Metered):
    def spent(self, delta: float) -> float:
        self.metered = True
        return self.epsilon(287, delta)


@shelf.makes(
    "budgeted-split-votes",
    "Charges in full, where three classes share the votes and answers cost less.",
    claim=METERED | SPLIT_VOTES,
)
def budgeted_split_votes(seed: int) -> Any:
    return metered(seed)


PURE = LNMAX | {"privacy": {"epsilon": 30.0, "delta": 1e-5, "queries": 300}}


@shelf.makes(
    "pure-account", "Charges 0.1 an answer, which Laplace noise costs at any delta.", claim=PURE
)
def pure_account(seed: int) -> Any:
    return PureAccount(seed, budget=30.0)


class PureAccount(Metered):
    def __init__(self, seed: int, **more: Any) -> None:
        super().__init__(seed, **more)
        self.mechanism = NoisyArgmax(Laplace(SCALE))

    def epsilon(self, queries: Any, delta: float = 1e-5) -> float:
        return float(queries * 2 / SCALE)


@shelf.makes(
    "accounts-at-one-delta",
    "Says what is spent at the claimed delta, and at no other.",
    claim=METERED,
)
def accounts_at_one_delta(seed: int) -> Any:
    return metered(seed, AccountsAtOneDelta)


class AccountsAtOneDelta(Metered):
    def spent(self, delta: float) -> float:
        if delta != 1e-5:
            raise ValueError(f"delta {delta}: the account is kept at 1e-5")
        return super().spent(delta)


@shelf.makes("charges-twice", "Charges twice what the analysis asks for.", claim=METERED)
def charges_twice(seed: int) -> Any:
    return metered(seed, charged=2.0)


@shelf.makes(
    "data-dependent-budget",
    "Charges by Theorem 6 of Papernot et al. 2018, which bounds the cost on one side only.",
    claim=METERED,
)
def data_dependent_budget(seed: int) -> Any:
    return metered(seed, DataDependent)


@shelf.makes(
    "blocks-in-advance", "Charges blocks of 25 answers before their first one.", claim=METERED
)
def blocks_in_advance(seed: int) -> Any:
    return metered(seed, BlocksInAdvance)


class BlocksInAdvance(Metered):
    given = 0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        labels = super().sample(histogram, size)
        self.given += size if self.metered else 0
        return labels

    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return -(-(self.given + size) // 25) * 25 - self.asked
