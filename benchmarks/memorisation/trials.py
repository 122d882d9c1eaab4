"""Trials of the extrapolation: spaces whose every score is known, and canaries below the sample."""

import math
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.memorisation import How, Template, exposures
from dpassay.attacks.memorisation.skew_normal import LOWEST
from dpassay.reference.arrays import Vector
from dpassay.reference.parallel.workers import stream

SYMBOLS = "sums of symbols' costs"
DRAWN = ("skew-normal", "normal", "gamma", "logistic")
LAWS = (*DRAWN, SYMBOLS)
SAMPLES = (2_000, 10_000)
"""Strings that are drawn for the fit."""


@dataclass(frozen=True)
class Trial:
    """One canary: the law of its space's scores, its exact exposure, and what was found."""

    law: str
    sample: int
    exact: float
    value: float
    low: float
    high: float
    refuted: bool

    @property
    def covered(self) -> bool:
        """Whether the exact exposure lies in the interval, but for rounding."""
        return self.low - 1e-9 <= self.exact <= self.high + 1e-9


def trial(number: int, seed: int) -> Trial:
    """The trial of this number: every other one is of symbols, the rest of the other laws in turn.

    The canary is the string at a rank that is drawn so that its exposure is uniform between what
    the sample still shows and all the bits of the space.
    """
    random = stream([seed, 7], number)
    law = SYMBOLS if number % 2 else DRAWN[number // 2 % len(DRAWN)]
    digits = 5 + number // 8 % 2
    sample = SAMPLES[number // 16 % len(SAMPLES)]
    space = _sums(digits, random) if law == SYMBOLS else _drawn(law, 10**digits, random)
    bits = math.log2(len(space))
    rank = math.ceil(2.0 ** (bits - random.uniform(math.log2(sample / LOWEST), bits)))
    canary = int(np.argsort(space)[rank - 1])

    def scorer(strings: list[str]) -> Vector:
        return space[[int(string) for string in strings]]

    template = Template.parse(f"[0-9]{{{digits}}}")
    found = exposures(scorer, template, [f"{canary:0{digits}}"], sample, number)[0]
    exact = bits - math.log2(int((space <= space[canary]).sum()))
    refuted = found.how is How.EXTRAPOLATED and found.p_value is not None and found.p_value < 0.05
    return Trial(law, sample, exact, found.value, found.low, found.high, refuted)


def _drawn(law: str, size: int, random: np.random.Generator) -> Vector:
    """Scores of all strings, independent draws of one law."""
    if law == "skew-normal":
        skewed = random.uniform(-4.0, 4.0)
        common = np.abs(random.normal(size=size))
        return skewed * common + random.normal(size=size)
    if law == "normal":
        return random.normal(size=size)
    return random.gamma(30.0, size=size) if law == "gamma" else random.logistic(size=size)


def _sums(digits: int, random: np.random.Generator) -> Vector:
    """Scores of all strings of a model that sees one digit back, its probabilities Dirichlet."""
    concentration = random.choice([3.0, 10.0, 30.0])
    costs = -np.log2(random.dirichlet([concentration] * 10, size=(digits, 10)))
    total = costs[0, 0]
    for place in range(1, digits):
        last = np.tile(np.arange(10), len(total) // 10)
        total = (total[:, None] + costs[place][last]).ravel()
    return np.asarray(total)
