"""Accounts that say what their charges depend on, some of which do not keep to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference import BudgetExhausted, ConfidentGNMax, Gaussian, NoisyArgmax
from dpassay.reference.accounting.conversions import ORDERS
from dpassay.reference.accounting.gnmax import gnmax_data_dependent, threshold_data_dependent

from .claims import GNMAX, METERED, SHARP_THRESHOLD, SIGMA
from .deployments import Accounted, DataDependent, Metered, metered
from .entry import Shelf

REALISED = SHARP_THRESHOLD | {"accountant": {"charges": "realised"}}
SPENDING = REALISED | {"privacy": {"epsilon": 1.0, "delta": 1e-5, "queries": 15}}
ALIKE = METERED | {"accountant": {"charges": "data-independent"}}
UP_TO_64 = GNMAX | {"accountant": {"orders": [2, 64]}}
FOR_ONE_RUN = METERED | {"gate": {"lifetime": "run"}}

shelf = Shelf("accounting", ("accountant-soundness",), REALISED)
correct = Shelf("none", (), REALISED)
sharp = ConfidentGNMax(Gaussian(100.0), 150.0, Gaussian(20.0))
gnmax = NoisyArgmax(Gaussian(SIGMA))

OutcomeCharge = Callable[[np.ndarray, np.ndarray, bool], Any]
"""From a histogram, orders and whether the query was answered to what each order is charged."""


def screen(orders: np.ndarray) -> Any:
    return orders / (2 * 20.0**2)


def answer(orders: np.ndarray) -> Any:
    return orders / 100.0**2


class ByOutcome(Accounted):
    """The claimed labels of `REALISED`, charged by whether there was an answer."""

    def rdp(self, histogram: np.ndarray, orders: np.ndarray, answered: bool = True) -> Any:
        charge: Any = self.charge
        return charge(np.asarray(histogram), np.asarray(orders), answered)


def charges(
    name: str, effect: str, shelf: Shelf = shelf, **more: Any
) -> Callable[[OutcomeCharge], OutcomeCharge]:
    """Shelves the mechanism with the decorated function as its accountant."""

    def add(charge: Any) -> Any:
        shelf.makes(name, effect, **more)(lambda seed: ByOutcome(sharp, charge, seed))
        return charge

    return add


@charges("realised-screening-unpaid", "An answer is charged as GNMax, the screening never.")
def realised_screening_unpaid(histogram: np.ndarray, orders: np.ndarray, answered: bool) -> Any:
    return answered * answer(orders)


@charges(
    "refusals-free",
    "An answer pays for its screening too, and a refusal for nothing, though it leaks.",
)
def refusals_free(histogram: np.ndarray, orders: np.ndarray, answered: bool) -> Any:
    return answered * (screen(orders) + answer(orders))


@charges("answer-at-half", "The answer is charged as if a moved vote changed one count.")
def answer_at_half(histogram: np.ndarray, orders: np.ndarray, answered: bool) -> Any:
    return screen(orders) + answered * answer(orders) / 2


@charges(
    "expected-for-realised",
    "An answer is charged times its chance beforehand, whether it is given or not.",
    source="cleverhans-lab/capc-iclr learning/analysis/rdp_cumulative.py",
)
def expected_for_realised(histogram: np.ndarray, orders: np.ndarray, answered: bool) -> Any:
    return screen(orders) + np.exp(sharp.log_screening(histogram)[..., 0]) * answer(orders)


@shelf.makes(
    "half-beyond-32", "Right up to order 32, and half of the cost at those above.", claim=UP_TO_64
)
def half_beyond_32(seed: int) -> Any:
    def charge(histogram: np.ndarray, orders: np.ndarray) -> Any:
        return np.where(orders > 32, 0.5, 1.0) * orders / SIGMA**2

    return Accounted(gnmax, charge, seed)


@shelf.makes(
    "by-votes-for-data-independent",
    "Charges are said to be the same for any votes, and are those of Theorem 6.",
    claim=GNMAX | {"accountant": {"charges": "data-independent"}},
)
def by_votes_for_data_independent(seed: int) -> Any:
    def charge(histogram: np.ndarray, orders: np.ndarray) -> Any:
        return gnmax_data_dependent(histogram, SIGMA, orders)

    return Accounted(gnmax, charge, seed)


BUDGET: dict[str, Any] = {"checks": ("budget-enforcement",)}


@shelf.makes(
    "forgets-in-mid-run",
    "After 60 answers of a run its account begins anew.",
    claim=FOR_ONE_RUN,
    **BUDGET,
)
def forgets_in_mid_run(seed: int) -> Any:
    return metered(seed, ForgetsInMidRun)


class ForgetsInMidRun(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        if self.asked > 60:
            self.asked = 0.0
        return super().cost(histogram, size)


@shelf.makes(
    "budget-for-each-histogram",
    "Each histogram has a budget of its own, and the account is that of the one asked most.",
    claim=ALIKE,
    **BUDGET,
)
def budget_for_each_histogram(seed: int) -> Any:
    return metered(seed, BudgetForEachHistogram)


class BudgetForEachHistogram(Metered):
    def __init__(self, seed: int, **more: Any) -> None:
        super().__init__(seed, **more)
        self.of: dict[bytes, float] = {}

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        key = histogram.tobytes()
        self.asked = self.of.get(key, 0.0)
        try:
            return super().sample(histogram, size)
        finally:
            self.of[key] = self.asked
            self.asked = max(self.of.values())


class Spending(ByOutcome):
    """Confident-GNMax with a budget, which runs from the first look at the account.

    refusal: whether a refused query is charged its screening. What may be answered must fit before
    it is screened, so that whether it does says nothing of the votes.
    """

    refusal = True

    def __init__(self, seed: int) -> None:
        super().__init__(sharp, realised, seed)
        self.costs, self.metered = 0.0 * ORDERS, False

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        most = self.costs + size * (screen(ORDERS) + answer(ORDERS))
        if self.metered and self.epsilon(most) > 1.0:
            raise BudgetExhausted("epsilon is spent")
        labels = super().sample(histogram, size)
        if self.metered:
            answered = int((labels >= 0).sum())
            screened = size if self.refusal else answered
            self.costs = self.costs + screened * screen(ORDERS) + answered * answer(ORDERS)
        return labels

    def epsilon(self, costs: Any, delta: float = 1e-5) -> Any:
        return DataDependent.epsilon(self, costs, delta)  # type: ignore[arg-type]

    def spent(self, delta: float) -> Any:
        self.metered = True
        return self.epsilon(self.costs, delta)


@shelf.makes(
    "spent-on-answers-alone",
    "The account adds up what answered queries cost, and leaves out refused ones.",
    claim=SPENDING,
    **BUDGET,
)
class SpentOnAnswersAlone(Spending):
    refusal = False


@charges("realised-account", "A refusal pays for the screening, an answer for both.", correct)
def realised(histogram: np.ndarray, orders: np.ndarray, answered: bool) -> Any:
    return screen(orders) + answered * answer(orders)


@charges(
    "realised-at-these-votes", "The same by Theorem 6 of each part, at the votes asked.", correct
)
def realised_at_these_votes(histogram: np.ndarray, orders: np.ndarray, answered: bool) -> Any:
    screening = threshold_data_dependent(histogram, sharp, orders)
    return screening + answered * gnmax_data_dependent(histogram, 100.0, orders)


correct.makes(
    "realised-budget", "Stops by what was realised, a refused query being charged.", claim=SPENDING
)(Spending)


@correct.makes(
    "raises-above-64",
    "Its accountant overflows above order 64, and serves the others.",
    claim=GNMAX,
)
def raises_above_64(seed: int) -> Any:
    def charge(histogram: np.ndarray, orders: np.ndarray) -> Any:
        if max(orders) > 64:
            raise OverflowError("math range error")
        return orders / SIGMA**2

    return Accounted(gnmax, charge, seed)


@correct.makes(
    "budget-of-one-run",
    "Keeps its budget in memory, for one run of a batch job.",
    claim=METERED
    | {
        "gate": {
            "lifetime": "run",
            "budget_target": f"{Path(__file__).parent / 'deployments.py'}:for_one_run",
        }
    },
)
def budget_of_one_run(seed: int) -> Any:
    return Metered(seed, sigma=SIGMA)
