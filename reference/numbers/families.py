"""The families of noise that is added to a number, by the names that claims give them."""

from .additive import Additive
from .continuous import Gaussian, Laplace
from .discrete import DiscreteGaussian, DiscreteLaplace, Whole
from .shares import Binomial, Shares, Skellam
from .tabled import Tabled

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
    "is_euclidean",
]

FAMILIES: dict[str, type[Additive]] = {
    family.family: family
    for family in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian, Skellam, Binomial)
}


def is_euclidean(family: Additive) -> bool:
    """Whether the noise is made for the L2 norm of a move, as all but Laplace's is."""
    single = family.single if isinstance(family, Shares) else type(family)
    return single not in (Laplace, DiscreteLaplace)
