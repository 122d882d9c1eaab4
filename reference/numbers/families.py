"""The families of noise that is added to a number, by the names that claims give them."""

from .additive import Additive
from .continuous import Gaussian, Laplace
from .discrete import DiscreteGaussian, DiscreteLaplace, Whole

__all__ = [
    "FAMILIES",
    "Additive",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "Laplace",
    "Whole",
]

FAMILIES: dict[str, type[Additive]] = {
    family.family: family for family in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian)
}
