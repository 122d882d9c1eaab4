"""Deployments with an accountant or a budget; without imports of the zoo, as one runs by path."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.gnmax import gnmax_data_dependent

Charge = Callable[..., Any]
"""From a histogram and orders to what each of them is charged."""


class Accounted:
    """A mechanism's labels, with `charge(histogram, orders)` as its accountant."""

    def __init__(self, mechanism: Any, charge: Charge, seed: int) -> None:
        self.mechanism, self.charge, self.rng = mechanism, charge, np.random.default_rng(seed)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        return self.mechanism.sample(histogram, size, self.rng)

    def rdp(self, histogram: np.ndarray, orders: np.ndarray) -> Any:
        return self.charge(np.asarray(histogram), np.asarray(orders))


class Metered:
    """GNMax with a budget that runs from the first look at the account.

    Before it, any number of queries is answered, since checks of the labels need more than a
    budget allows. charged: queries charged for each one answered; sigma: 10 for `BUDGETED`, 40
    for `METERED`.
    """

    def __init__(
        self, seed: int, charged: float = 1.0, budget: float = 1.0, sigma: float = 10.0
    ) -> None:
        self.mechanism, self.rng = NoisyArgmax(Gaussian(sigma)), np.random.default_rng(seed)
        self.charged, self.budget, self.sigma = charged, budget, sigma
        self.asked, self.metered = 0.0, False

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if self.metered:
            cost = self.cost(histogram, size)
            if self.epsilon(self.asked + cost) > self.budget:
                raise BudgetExhausted("epsilon is spent")
            self.asked += cost
        return self.mechanism.sample(histogram, size, self.rng)

    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return size * self.charged

    def epsilon(self, queries: Any, delta: float = 1e-5) -> float:
        return to_epsilon(ORDERS, queries * ORDERS / self.sigma**2, delta).epsilon if queries else 0

    def spent(self, delta: float) -> float:
        self.metered = True
        return self.epsilon(self.asked, delta)


class DataDependent(Metered):
    """Charges each query by the published bound at its votes; what `asked` holds is that sum."""

    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return size * gnmax_data_dependent(histogram, self.sigma, ORDERS)

    def epsilon(self, costs: Any, delta: float = 1e-5) -> float:
        return to_epsilon(ORDERS, costs, delta).epsilon if np.any(costs) else 0


def metered(seed: int, kind: type[Metered] = Metered, **more: Any) -> Any:
    """Of the claim `METERED`: sigma 40 and epsilon 2.65, 287 answers."""
    return kind(seed, budget=2.65, sigma=40.0, **more)


in_memory, for_one_run = Metered(0), metered(0)


class Written(Metered):
    """A ledger of answers in a file, that of the process which started this one.

    every: answers from one writing to the next; the last are written once the budget is spent.
    """

    every = 1

    def __init__(self) -> None:
        super().__init__(0, budget=2.65, sigma=40.0)
        self.rng, self.metered, self.file = np.random.default_rng(), True, ledger_of(os.getppid())
        self.asked = self.written = float(self.file.read_text()) if self.file.exists() else 0.0

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        try:
            labels = super().sample(histogram, size)
        except BudgetExhausted:
            self.write()
            raise
        if self.asked - self.written >= self.every:
            self.write()
        return labels

    def write(self) -> None:
        self.file.write_text(str(self.asked))
        self.written = self.asked


class WrittenEvery25(Written):
    every = 25


def ledger_of(process: int) -> Path:
    """The file of a ledger that belongs to a process."""
    return Path(tempfile.gettempdir()) / f"ledger-of-{process}"


def __getattr__(name: str) -> Any:
    """`written` and `written_every_25`: of the ledger's file, once they are wanted."""
    kinds = {"written": Written, "written_every_25": WrittenEvery25}
    if name in kinds:
        return kinds[name]()
    raise AttributeError(name)
