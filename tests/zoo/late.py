"""Right at first, or in some calls only: faults that depend on when and how one asks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .claims import GNMAX, SIGMA
from .entry import FRESH, LAW, Shelf

Factor = Callable[[np.ndarray, int], Any]

shelf = Shelf("late", (*LAW, *FRESH), GNMAX)


class Ageing:
    """Claimed noise times `factor(queries before each answer, calls before this one)`."""

    def __init__(self, factor: Factor, seed: int) -> None:
        self.factor, self.rng, self.asked, self.calls = factor, np.random.default_rng(seed), 0, 0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        factor = self.factor(self.asked + np.arange(size), self.calls)
        self.asked, self.calls = self.asked + size, self.calls + 1
        noise = self.rng.normal(0, SIGMA, (size, histogram.size))
        return (histogram + noise * np.broadcast_to(factor, size)[:, None]).argmax(1)


def ages(name: str, effect: str) -> Callable[[Factor], Factor]:
    """Shelves a deployment that ages as the decorated factor says."""

    def add(factor: Factor) -> Factor:
        shelf.makes(name, effect)(lambda seed: Ageing(factor, seed))
        return factor

    return add


@ages("none-after-5000", "No noise once 5,000 queries are answered.")
def none_after_5000(asked: np.ndarray, calls: int) -> Any:
    return asked < 5000


@ages("half-after-20000", "Half the noise once 20,000 queries are answered.")
def half_after_20000(asked: np.ndarray, calls: int) -> Any:
    return np.where(asked < 20_000, 1.0, 0.5)


@ages("half-after-60000", "Half the noise once 60,000 queries are answered.")
def half_after_60000(asked: np.ndarray, calls: int) -> Any:
    return np.where(asked < 60_000, 1.0, 0.5)


@ages("tenth-less-after-140000", "0.9 of the noise once 140,000 queries are answered.")
def tenth_less_after_140000(asked: np.ndarray, calls: int) -> Any:
    return np.where(asked < 140_000, 1.0, 0.9)


@ages("none-after-500-calls", "No noise after 500 calls.")
def none_after_500_calls(asked: np.ndarray, calls: int) -> Any:
    return float(calls < 500)


@ages("drifts", "The noise decays to three quarters over 50,000 queries.")
def drifts(asked: np.ndarray, calls: int) -> Any:
    return 1.0 - 0.25 * np.minimum(asked / 50_000, 1.0)


@ages("none-among-first-2000", "No noise among the first 2,000 answers, then as claimed.")
def none_among_first_2000(asked: np.ndarray, calls: int) -> Any:
    return asked >= 2000


@ages("one-in-twenty-bare", "Every twentieth answer has no noise.")
def one_in_twenty_bare(asked: np.ndarray, calls: int) -> Any:
    return asked % 20 != 19


@shelf.draws("first-of-call-bare", "The first answer of each call has no noise.")
def first_of_call_bare(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size))
    noise[:1] = 0
    return (histogram + noise).argmax(1)


@shelf.draws("single-answers-bare", "Calls for one answer take a path of their own, without noise.")
def single_answers_bare(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size)) * (size > 1)
    return (histogram + noise).argmax(1)


@shelf.draws("large-calls-half-scale", "Calls for 1,000 answers or more get half the noise.")
def large_calls_half_scale(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    sigma = SIGMA if size < 1000 else SIGMA / 2
    return (histogram + rng.normal(0, sigma, (size, histogram.size))).argmax(1)
