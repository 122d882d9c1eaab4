"""The families of noise that is added to a number, by the names that claims give them."""

from .additive import Additive
from .continuous import Gaussian, Laplace
from .discrete import DiscreteGaussian, DiscreteLaplace
from .shares import Binomial, Shares, Skellam
from .tabled import Tabled
from .whole import Whole

__all__ = [
    "FAMILIES",
    "Additive",
    "Binomial",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "Laplace",
    "Shares",
    "Skellam",
    "Tabled",
    "Whole",
]

FAMILIES: dict[str, type[Additive]] = {
    family.family: family
    for family in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian, Skellam, Binomial)
}
