"""Mechanisms under a claimed trade-off curve, as Kutta et al. audit them, and what they report.

Kutta, Dunsche, Wei and Zikas 2026 (arXiv 2602.06518), written after the experiments that they
published (github.com/martindunsche/sequential_fdp_auditing, 4be62e4): ten records, of which one is
0 or 1; a sum with Gaussian or Laplace noise of scale 1; ten steps of noisy gradient descent on
halves of the records; scores of canaries in one training on CIFAR-10. The scores are theirs:
DPASSAY_SCORES names the folder that has them, in_scores_000200.csv and out_scores_000200.csv of
their experiments_log; without it they are left out.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from dpassay.attacks.auditing.coin import Curve, Guarantee

Draw = Callable[[int, int, np.random.Generator], Any]

STEPS, HALF, RATE, NOISE = 10, 5, 0.2, 0.2
_ROWS = 2_001


@dataclass(frozen=True)
class Curved:
    """A mechanism and a claim of it.

    draw: outputs (n, 1) of a world; claimed: the curve's parameter; kept: whether the curve is;
    theirs: in how many of their runs it was refuted, in percent, and the median of draws in both
    worlds together, at an error of 0.05.
    """

    name: str
    draw: Draw
    lines: Callable[[], list[Guarantee]]
    claimed: str
    kept: bool
    theirs: str


def gaussian_sum(world: int, size: int, rng: np.random.Generator) -> Any:
    """The sum of ten records with Gaussian noise."""
    return world + rng.standard_normal((size, 1))


def laplace_sum(world: int, size: int, rng: np.random.Generator) -> Any:
    """The sum of ten records with Laplace noise."""
    return world + rng.laplace(size=(size, 1))


def descent(world: int, size: int, rng: np.random.Generator) -> Any:
    """Where ten steps of noisy gradient descent end, each on five of ten records."""
    at = np.zeros(size)
    for _ in range(STEPS):
        there = world * (rng.random(size) < HALF / 10)
        at -= RATE * (at - there / HALF + NOISE * rng.standard_normal(size))
    return at[:, None]


SCORES = os.environ.get("DPASSAY_SCORES")


@lru_cache(maxsize=1)
def _scores(folder: str) -> tuple[Any, Any]:
    names = "out_scores_000200.csv", "in_scores_000200.csv"
    out, inside = (np.loadtxt(Path(folder) / name) for name in names)
    return out, inside


def training(world: int, size: int, rng: np.random.Generator) -> Any:
    """Scores of canaries that were out or in, drawn with replacement, as they do."""
    assert SCORES is not None
    return rng.choice(_scores(SCORES)[world], (size, 1))


def _alphas() -> Any:
    inner = norm.cdf(np.linspace(-5.0, 5.0, _ROWS - 2))
    return np.concatenate([[0.0], inner, [1.0]])


def _gaussian_curve(mus: Any) -> list[Guarantee]:
    """Of a mixture of shifts whose draw is seen, as their claims are."""
    alpha = _alphas()
    betas = np.mean([norm.cdf(norm.isf(alpha) - mu) for mu in mus], axis=0)
    return Curve(alpha, np.clip(betas, 0.0, 1.0 - alpha)).lines


def _laplace_curve(epsilon: float) -> list[Guarantee]:
    alpha, grown = _alphas(), math.exp(epsilon)
    with np.errstate(divide="ignore"):
        bent = np.where(alpha <= 0.5, 1.0 / (4.0 * grown * alpha), (1.0 - alpha) / grown)
    betas = np.where(alpha < 0.5 / grown, 1.0 - grown * alpha, bent)
    return Curve(alpha, np.clip(betas, 0.0, 1.0 - alpha)).lines


def _descent_curve(claimed: float) -> list[Guarantee]:
    """Of fewer steps than were taken: a shift for each choice of steps that saw the record."""
    steps = int(claimed)
    each = RATE * (1.0 - RATE) ** (steps - 1 - np.arange(steps)) / HALF
    spread = RATE * NOISE * math.sqrt(sum((1.0 - RATE) ** (2 * k) for k in range(steps)))
    seen = np.array(list(product((0.0, 1.0), repeat=steps)))
    return _gaussian_curve(np.sort(seen @ each) / spread)


_TRAINING = (
    "one training",
    training,
    lambda mu: _gaussian_curve([mu]),
    "mu",
    (
        (0.8, False, "340, 100 %"),
        (0.9, False, "620, 100 %"),
        (1.0, False, "1,140, 100 %"),
        (1.1, False, "3,640, 99.6 %"),
        (1.2, False, "34 %"),
    ),
)

CURVED = tuple(
    Curved(name, draw, partial(lines, claimed), f"{word} {claimed}", kept, theirs)
    for name, draw, lines, word, cases in (
        (
            "Gaussian noise",
            gaussian_sum,
            lambda mu: _gaussian_curve([mu]),
            "mu",
            ((0.5, False, "320, 100 %"), (0.8, False, "2,780, 100 %"), (1.0, True, "1.1 %")),
        ),
        (
            "Laplace noise",
            laplace_sum,
            _laplace_curve,
            "epsilon",
            ((0.5, False, "380, 100 %"), (0.8, False, "2,990, 100 %"), (1.0, True, "3.3 %")),
        ),
        (
            "noisy descent",
            descent,
            _descent_curve,
            "steps",
            ((5, False, "1,560, 100 %"), (7, False, "9,320, 92.7 %"), (10, True, "2.7 %")),
        ),
        *([_TRAINING] if SCORES else []),
    )
    for claimed, kept, theirs in cases
)
