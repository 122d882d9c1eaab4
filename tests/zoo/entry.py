"""What the zoo says of each aggregator, and the shelves, one a class of fault, they stand on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.targets import InProcessTarget, Target, open_target

from .names import NAMED, Named

Make = Callable[[int], Any]
Draw = Callable[[np.ndarray, int, np.random.Generator], Any]

LAW = ("class-probabilities", "noise-scale")
"""Checks of the labels' law on single histograms."""

SYMMETRY = ("shift-invariance", "permutation-equivariance")
"""Checks that compare the laws of two histograms."""

FRESH = ("fresh-noise",)
"""The check that labels are independent; what it alone can see leaves every law as claimed."""


@dataclass(frozen=True)
class Deployed:
    """A target in a process of its own, by its spec, where what matters is how it is restarted.

    restart: the command for one that the gate does not start; end: called when all is done.
    """

    spec: str
    restart: str | None = None
    end: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Aggregator:
    """One aggregator: `make(seed)` gives it with fresh state, as a target in Python or `Deployed`.

    effect: what it does, in one sentence; claim: what it says of itself, as the TOML's tables;
    checks: those that may report it, none for a correct one; source: where it was seen in public;
    verdict: the one that it must get.
    """

    id: str
    fault: str
    effect: str
    claim: dict[str, Any]
    make: Make
    checks: tuple[str, ...]
    source: str | None
    verdict: str

    @property
    def named(self) -> Named | None:
        """What the right finding names as the cause; None where the fault has no name."""
        return NAMED.get(self.id)


@contextmanager
def opened(entry: Aggregator, seed: int) -> Iterator[Target]:
    """The aggregator as the gate asks it; ended afterwards."""
    made = entry.make(seed)
    if not isinstance(made, Deployed):
        yield InProcessTarget(made, release=parse_claim(entry.claim).release)
        return
    try:
        target = open_target(made.spec, 30.0, made.restart)
        try:
            yield target
        finally:
            target.close()
    finally:
        made.end()


class Shelf:
    """Collects the entries of one class of fault, in the order in which they are defined."""

    def __init__(self, fault: str, checks: tuple[str, ...], claim: dict[str, Any]) -> None:
        self.fault, self.checks, self.claim = fault, checks, claim
        self.entries: list[Aggregator] = []

    def makes(
        self,
        name: str,
        effect: str,
        *,
        claim: dict[str, Any] | None = None,
        checks: tuple[str, ...] | None = None,
        source: str | None = None,
        verdict: str | None = None,
    ) -> Callable[[Make], Make]:
        """For what takes a seed and gives a target: a class with `sample`, or a function."""

        def add(make: Make) -> Make:
            may_report = self.checks if checks is None else checks
            expected = verdict or ("fail" if may_report else "pass")
            told = claim or self.claim
            self.entries.append(
                Aggregator(name, self.fault, effect, told, make, may_report, source, expected)
            )
            return make

        return add

    def draws(self, name: str, effect: str, **more: Any) -> Callable[[Draw], Draw]:
        """For a function `(histogram, size, rng) -> labels` that keeps its generator alone."""

        def add(draw: Draw) -> Draw:
            self.makes(name, effect, **more)(seeded(draw))
            return draw

        return add


def seeded(draw: Draw) -> Make:
    """Gives `draw` a generator of its own for each seed."""

    def make(seed: int) -> Callable[[np.ndarray, int], Any]:
        rng = np.random.default_rng(seed)
        return lambda histogram, size: draw(histogram, size, rng)

    return make
