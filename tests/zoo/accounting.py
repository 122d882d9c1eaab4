"""The claimed labels, and an accountant that charges too little or a budget that does not hold."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erfc, log_ndtr

from dpassay.reference import BudgetExhausted, ConfidentGNMax, Gaussian, Laplace, NoisyArgmax
from dpassay.reference.accounting.gnmax import gaussian_data_dependent, gnmax_data_dependent
from dpassay.reference.accounting.pure import log_q_lemma_4, pure_data_dependent

from .claims import (
    ACCOUNTED,
    BUDGETED,
    LITTLE_LAPLACE,
    LNMAX,
    METERED,
    SHARP_THRESHOLD,
    SPLIT_VOTES,
)
from .deployments import Accounted, Charge, Metered, metered
from .entry import Shelf

shelf = Shelf("accounting", ("accountant-soundness",), ACCOUNTED)
SIGMA = 10.0
gnmax = NoisyArgmax(Gaussian(SIGMA))
sharp = ConfidentGNMax(Gaussian(100), 150.0, Gaussian(20))

# A spec, so that the gate can start it, end it and start it again.
IN_MEMORY = f"{Path(__file__).parent / 'deployments.py'}:in_memory"


def charges(
    name: str, effect: str, mechanism: Any = gnmax, **more: Any
) -> Callable[[Charge], Charge]:
    """Shelves the mechanism with the decorated function `(histogram, orders)` as its accountant."""

    def add(charge: Charge) -> Charge:
        shelf.makes(name, effect, **more)(lambda seed: Accounted(mechanism, charge, seed))
        return charge

    return add


@charges(
    "charges-half", "Half of the data-independent cost: a moved vote taken to change one count."
)
def charges_half(histogram: np.ndarray, orders: np.ndarray) -> Any:
    return orders / (2 * SIGMA**2)


@charges("charges-nothing", "Queries are taken to be free once the noise is added.")
def charges_nothing(histogram: np.ndarray, orders: np.ndarray) -> Any:
    return np.zeros(orders.size)


@charges("charges-at-variance", "The variance is squared once more where it divides the order.")
def charges_at_variance(histogram: np.ndarray, orders: np.ndarray) -> Any:
    return orders / SIGMA**4


@charges("charges-one-order", "The cost at order 2 is charged at every order.")
def charges_one_order(histogram: np.ndarray, orders: np.ndarray) -> Any:
    return np.full(orders.size, 2 / SIGMA**2)


@charges(
    "labels-for-votes",
    "The accountant is fed the released labels, so that every query looks unanimous.",
)
def labels_for_votes(histogram: np.ndarray, orders: np.ndarray) -> Any:
    unanimous = np.zeros_like(histogram)
    unanimous[histogram.argmax()] = histogram.sum()
    return gnmax_data_dependent(unanimous, SIGMA, orders)


@charges(
    "last-class-for-all", "A loop keeps the last class's term where the sum over all is needed."
)
def last_class_for_all(histogram: np.ndarray, orders: np.ndarray) -> Any:
    lead = histogram.max() - histogram.min()
    return gaussian_data_dependent(log_ndtr(-lead / (2**0.5 * SIGMA)), SIGMA, orders)


@charges("votes-for-shares", "The gap between leaders is measured in per cent, the noise in votes.")
def votes_for_shares(histogram: np.ndarray, orders: np.ndarray) -> Any:
    gaps = 100 * (histogram.max() - np.sort(histogram)[:-1])
    log_q = np.logaddexp.reduce(log_ndtr(-gaps / (2**0.5 * SIGMA)))
    return gaussian_data_dependent(min(log_q, -0.1), SIGMA, orders)


@charges("unsorted-votes", "The first class is taken for the leader, as if the votes were sorted.")
def unsorted_votes(histogram: np.ndarray, orders: np.ndarray) -> Any:
    gaps = np.abs(histogram[0] - histogram[1:])
    log_q = np.logaddexp.reduce(log_ndtr(-gaps / (2**0.5 * SIGMA)))
    return gaussian_data_dependent(min(log_q, -0.1), SIGMA, orders)


def gamma_for_two_gamma(scale: float) -> Charge:
    """Laplace noise of this scale, charged as for one count where a moved vote changes two."""
    return lambda histogram, orders: np.minimum(1 / scale, orders / (2 * scale**2))


charges(
    "gamma-for-two-gamma",
    "LNMax is charged gamma a query, as for one count, where moving a vote costs 2 gamma.",
    NoisyArgmax(Laplace(2.0)),
    claim=LITTLE_LAPLACE,
)(gamma_for_two_gamma(2.0))

charges(
    "gamma-for-two-gamma-at-20",
    "The same at scale 20, where orders up to 64 are covered and those from 128 on are not.",
    NoisyArgmax(Laplace(20.0)),
    claim=LNMAX,
)(gamma_for_two_gamma(20.0))


@charges(
    "gap-at-double-gamma",
    "The data-dependent cost of LNMax with the chance of another winner read off at twice gamma.",
    NoisyArgmax(Laplace(2.0)),
    claim=LITTLE_LAPLACE,
)
def gap_at_double_gamma(histogram: np.ndarray, orders: np.ndarray) -> Any:
    return pure_data_dependent(log_q_lemma_4(histogram, 1.0), 1.0, orders)


@charges(
    "screening-uncharged",
    "Confident-GNMax charges the answer alone, and not the screening.",
    sharp,
    claim=SHARP_THRESHOLD,
)
def screening_uncharged(histogram: np.ndarray, orders: np.ndarray) -> Any:
    return orders / 100**2


@charges(
    "refusals-uncharged",
    "Confident-GNMax charges screening and answer times the chance of an answer.",
    sharp,
    claim=SHARP_THRESHOLD,
)
def refusals_uncharged(histogram: np.ndarray, orders: np.ndarray) -> Any:
    answered = np.exp(log_ndtr((histogram.max() - 150) / 20))
    return answered * orders * (1 / 100**2 + 1 / (2 * 20**2))


@charges(
    "threshold-without-root-two",
    "The chance to pass the screening is read off erfc without the root of 2.",
    sharp,
    claim=SHARP_THRESHOLD,
)
def threshold_without_root_two(histogram: np.ndarray, orders: np.ndarray) -> Any:
    rarer = 0.5 * erfc(abs(histogram.max() - 150) / 20)
    screening = gaussian_data_dependent(np.log(rarer + 1e-300), 2**0.5 * 20, orders)
    return screening + gnmax_data_dependent(histogram, 100, orders)


BUDGET: dict[str, Any] = {"claim": BUDGETED, "checks": ("budget-enforcement",)}


@shelf.makes(
    "spends-an-eighth",
    "Each query is charged what queries are expected to cost on average.",
    source="cleverhans-lab/capc-iclr learning/analysis/rdp_cumulative.py: an expected cost decides",
    **BUDGET,
)
def spends_an_eighth(seed: int) -> Any:
    return Metered(seed, charged=1 / 8)


@shelf.makes(
    "spends-nothing", "The account stays at zero, and the deployment never stops.", **BUDGET
)
def spends_nothing(seed: int) -> Any:
    return Metered(seed, charged=0.0)


@shelf.makes("never-stops", "The account is right, and nobody looks at it.", **BUDGET)
def never_stops(seed: int) -> Any:
    return Metered(seed, budget=1e9)


@shelf.makes("charges-calls", "A call is charged once, however many answers it has.", **BUDGET)
class ChargesCalls(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return 1 / 100


@shelf.makes("account-of-last-call", "The account shows the last call alone.", **BUDGET)
class AccountOfLastCall(Metered):
    def spent(self, delta: float) -> float:
        total, self.asked = super().spent(delta), 0.0
        return total


@shelf.makes("fresh-budget-every-third", "Every third call starts a new budget period.", **BUDGET)
class FreshBudgetEveryThird(Metered):
    calls = 0

    def cost(self, histogram: np.ndarray, size: int) -> Any:
        self.calls += 1
        if self.calls % 3 == 0:
            self.asked = 0.0
        return super().cost(histogram, size)


@shelf.makes("refusal-renews-budget", "Once a query is refused, the budget begins anew.", **BUDGET)
class RefusalRenewsBudget(Metered):
    def sample(self, histogram: np.ndarray, size: int) -> Any:
        try:
            return super().sample(histogram, size)
        except BudgetExhausted:
            self.asked = 0.0
            raise


@shelf.makes(
    "forgets-on-restart",
    "The account is kept in memory, and a restart begins anew.",
    claim=BUDGETED | {"gate": {"budget_target": IN_MEMORY}},
    checks=("budget-enforcement",),
)
def forgets_on_restart(seed: int) -> Any:
    return Metered(seed)


METERING: dict[str, Any] = {"claim": METERED, "checks": ("budget-enforcement",)}


def meters(name: str, effect: str) -> Callable[[type[Metered]], type[Metered]]:
    """Shelves a deployment of the claim `METERED` that keeps its account as the class does."""

    def add(kind: type[Metered]) -> type[Metered]:
        shelf.makes(name, effect, **METERING)(lambda seed: metered(seed, kind))
        return kind

    return add


@meters(
    "meters-by-25",
    "A call is charged in whole blocks of 25 answers, rounded down: single queries are free.",
)
class MetersBy25(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return size // 25 * 25


@meters("clear-leads-free", "Answers to histograms whose leader is 2 sigma ahead are not charged.")
class ClearLeadsFree(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        second, first = np.sort(histogram)[-2:]
        return 0.0 if first - second > 2 * self.sigma else float(size)


shelf.makes(
    "half-the-charge",
    "Each answer is charged half of the data-independent cost, less than the costliest pair costs.",
    **METERING,
)(lambda seed: metered(seed, charged=0.5))


shelf.makes(
    "six-tenths-of-the-charge",
    "Each answer is charged 0.6 of its cost: no analysis allows the 478 answers.",
    **METERING,
)(lambda seed: metered(seed, charged=0.6))


@shelf.makes(
    "half-the-charge-of-split-votes",
    "Half of the charge, where three classes share the votes: 574 answers cost within the claim.",
    claim=METERED | SPLIT_VOTES,
    checks=("budget-enforcement",),
)
def half_the_charge_of_split_votes(seed: int) -> Any:
    return metered(seed, charged=0.5)


@meters(
    "spent-ignores-delta",
    "The account is kept at the claimed delta, and says the same at every other.",
)
class SpentIgnoresDelta(Metered):
    def spent(self, delta: float) -> float:
        return super().spent(1e-5)


@meters(
    "spent-rises-with-delta",
    "The logarithm of delta has the wrong sign, and a constant that makes the claimed one right.",
)
class SpentRisesWithDelta(Metered):
    def spent(self, delta: float) -> float:
        return super().spent(1e-10 / delta)


@meters("ties-free", "Votes without a plurality are taken to say nothing, and are not charged.")
class TiesFree(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        second, first = np.sort(histogram)[-2:]
        return 0.0 if first == second else float(size)


@shelf.makes(
    "already-exhausted",
    "The instance with the budget has spent it before: nothing of it can be seen.",
    verdict="inconclusive",
    **METERING,
)
def already_exhausted(seed: int) -> Any:
    deployment = metered(seed)
    deployment.asked = 287.0
    return deployment
