"""Noise of the claimed family and of another scale."""

from typing import Any

from dpassay.reference.numbers import Aggregation

from .claims import GAUSSIAN, GRADIENT, HISTOGRAM, MEAN, SUM
from .shelf import Aggregate, Make, Rng, Shelf, entry, noisy

SHELF = Shelf()
broken = SHELF.broken


def scaled(factor: float) -> Make:
    """The claimed noise times a factor."""

    def make(of: Aggregation, rng: Rng) -> Aggregate:
        def aggregate(values: Any, size: int) -> Any:
            exact = of.exact(values)
            return exact + factor * (noisy(of, rng, values, size) - exact)

        return aggregate

    return make


LAW = ("noise-law", "noise-scale")
FACTORS = {
    "half": (0.5, "Google's Java tests; many"),
    "twice": (2.0, "jax examples: one draw too many"),
    "nine-tenths": (0.9, ""),
    "sqrt-two-too-small": (0.7071, "Laplace of sensitivity 1 for replaced records"),
    "divided-by-n": (1 / 24, "DataSynthesizer #34"),
    "fifty-times-low": (0.02, "smartnoise-sdk #203: bounds of a variance not squared"),
}
SHELF.broken_ones += [
    entry(f"{family}scale-{name}", text, scaled(factor), *LAW, source=source)
    for name, (factor, source) in FACTORS.items()
    for family, text in (("", HISTOGRAM), ("gaussian-", GAUSSIAN))
]
SHELF.broken_ones += [
    entry("sum-scale-half", SUM, scaled(0.5), *LAW),
    entry("gradient-scale-half", GRADIENT, scaled(0.5), *LAW),
]


@broken(HISTOGRAM, *LAW, source="Fed-BioMed #1443")
def noise_added_twice(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return noisy(of, rng, values, size) + rng.laplace(scale=2.0, size=10)[None]


@broken(MEAN, *LAW, source="jax-privacy #383")
def noise_of_a_sum_added_to_a_mean(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.laplace(scale=12.0, size=(size, 2))


@broken(GRADIENT, *LAW, source="opacus 1.6.0 #571: the divisor gives the number of records away")
def noise_divided_by_the_true_batch(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    return of.exact(values) + rng.normal(scale=1.1 / len(values[0]), size=(size, 15))
