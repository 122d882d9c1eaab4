"""Teachers of several weights: weights left out, applied twice, mixed up, or not paid for."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .claims import mechanism
from .entry import LAW, Shelf

NOISE, CLASSES = 60.0, 5
GROUPS = [[100, 2], [50, 5]]
WEIGHTS = np.repeat([2.0, 5.0], [100, 50])
CLAIM = mechanism(f"gaussian:{NOISE:g}", classes=CLASSES, teachers=150, weights=GROUPS) | {
    "inputs": {"form": "votes"}
}
SOURCE = "individualized PATE: github.com/fraboeni/individualized-pate"

shelf = Shelf("weights", LAW, CLAIM)
correct = Shelf("none", (), CLAIM)


def weighing(weights: np.ndarray, noise: float = NOISE) -> Callable[..., Any]:
    """An aggregator of votes (teachers,) with these weights."""

    def draw(votes: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        counts = np.bincount(votes, weights, minlength=CLASSES)
        return (counts + rng.normal(0, noise, (size, CLASSES))).argmax(1)

    return draw


class Charging:
    """The claimed labels, with an accountant of `weight`: its moved votes over the noise."""

    def __init__(self, weight: float, seed: int) -> None:
        self.weight, self.rng = weight, np.random.default_rng(seed)

    def sample(self, votes: np.ndarray, size: int) -> Any:
        return weighing(WEIGHTS)(votes, size, self.rng)

    def rdp(self, votes: np.ndarray, orders: np.ndarray) -> Any:
        return np.asarray(orders) * (self.weight / NOISE) ** 2


for _name, _effect, _weights in (
    ("weights-left-out", "Each teacher's vote counts once.", np.ones(150)),
    (
        "weights-squared",
        "Weights are applied to the votes, and to the counts of a group.",
        WEIGHTS**2,
    ),
    ("weights-to-the-mean", "Weights are divided by their mean.", WEIGHTS / WEIGHTS.mean()),
    ("groups-swapped", "The light group has the weight of the heavy one.", 7.0 - WEIGHTS),
):
    shelf.draws(_name, _effect, source=SOURCE)(weighing(_weights))


@shelf.makes(
    "heaviest-charged-as-one",
    "Charges each answer as if no teacher moved more than one vote.",
    checks=("accountant-soundness",),
    source=SOURCE,
)
def heaviest_charged_as_one(seed: int) -> Any:
    return Charging(1.0, seed)


@correct.makes("weighed", "Weights as claimed, the heaviest teacher paid for.", source=SOURCE)
def weighed(seed: int) -> Any:
    return Charging(5.0, seed)
