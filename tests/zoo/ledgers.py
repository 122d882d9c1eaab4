"""Ledgers that look right while they are asked in one way only, and correct ones beside them."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference import BudgetExhausted

from .claims import METERED
from .deployments import Metered, ledger_of, metered
from .entry import Shelf

shelf = Shelf("accounting", ("budget-enforcement",), METERED)
correct = Shelf("none", (), METERED)
WRITTEN = f"{Path(__file__).parent / 'deployments.py'}:{{}}"


class OnceAsked(Metered):
    polled = True

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if self.polled:
            labels = super().sample(histogram, size)
        else:
            labels, self.asked = self.mechanism.sample(histogram, size, self.rng), self.asked + size
        self.polled = False
        return labels

    def spent(self, delta: float) -> float:
        self.polled = True
        return super().spent(delta)


class InAByte(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return size & 255


class AtMost64(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return min(size, 64)


class WholeCalls(Metered):
    """Answers while anything is left, and charges what is left."""

    def cost(self, histogram: np.ndarray, size: int) -> Any:
        while size > 1 and self.epsilon(self.asked + size) > self.budget:
            size -= 1
        return size


class RepeatsFree(Metered):
    last, repeats = b"", 0

    def cost(self, histogram: np.ndarray, size: int) -> Any:
        if size == 1 and histogram.tobytes() == self.last and self.repeats < 5:
            self.repeats += 1
            return 0
        self.last, self.repeats = histogram.tobytes() if size == 1 else b"", 0
        return size


class MissingFree(Metered):
    def cost(self, histogram: np.ndarray, size: int) -> Any:
        return size if histogram.sum() == 250 else 0


class Closing(Metered):
    """Correct: whoever asks for more than is left has ended it."""

    closed = False

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if self.closed:
            raise BudgetExhausted("closed")
        try:
            return super().sample(histogram, size)
        except BudgetExhausted:
            self.closed = True
            raise


class ChargesAttempts(Metered):
    """Correct: charges a call before it looks whether that is too much, and refuses it then."""

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        if self.metered:
            self.asked += self.cost(histogram, size)
            if self.epsilon(self.asked) > self.budget:
                raise BudgetExhausted("epsilon is spent")
        return self.mechanism.sample(histogram, size, self.rng)


def kept(name: str, kind: type[Metered], effect: str, shelf: Shelf = shelf) -> None:
    """One that runs within the process."""
    shelf.makes(name, effect)(lambda seed: metered(seed, kind))


def written(name: str, attribute: str, effect: str, shelf: Shelf) -> None:
    """One whose instance with the budget is restarted, and finds its ledger in a file."""
    claim = METERED | {"gate": {"budget_target": WRITTEN.format(attribute)}}

    def make(seed: int) -> Any:
        ledger_of(os.getpid()).unlink(missing_ok=True)
        return Metered(seed, sigma=40.0)

    shelf.makes(name, effect, claim=claim)(make)


kept("stops-when-asked-for-spent", OnceAsked, "The ledger is looked at where spent was just asked.")
kept("charge-in-a-byte", InAByte, "The charge of a call is a byte: 256 labels are free.")
kept("charge-of-64-at-most", AtMost64, "A call is charged 64 labels at most.")
kept("whole-calls-while-any-is-left", WholeCalls, "A call is answered whole while 1 is left.")
kept("repeats-free", RepeatsFree, "Five repeats of a single call are taken for retries, and free.")
kept("missing-teachers-free", MissingFree, "Queries on which a teacher is missing are free.")
written(
    "ledger-written-every-25",
    "written_every_25",
    "The ledger is written every 25 answers, and when the budget is spent.",
    shelf,
)
kept("closes-when-refused", Closing, "Ends with the first call that is refused.", correct)
kept("charges-attempts", ChargesAttempts, "Charges calls that it then refuses.", correct)
written("ledger-written", "written", "The ledger is written before every answer.", correct)
