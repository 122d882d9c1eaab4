"""The families of noise that is added to a number, by the names that claims give them."""

from typing import Any

from ..entry_points import NOISE, added_names, load_added
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
    "family_names",
    "family_of",
]


FAMILIES: dict[str, type[Additive]] = {
    family.family: family
    for family in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian, Skellam, Binomial)
}


def family_names() -> list[str]:
    """Our own families, then those that installed packages add."""
    return [*FAMILIES, *added_names(NOISE)]


def family_of(name: str) -> type[Additive] | None:
    """The family of this name, our own or one that an installed package adds; None for none.

    Raises ValueError with one line that names package and entry point for what is no family.
    """
    if name in FAMILIES:
        return FAMILIES[name]
    added = load_added(NOISE, name, FAMILIES)
    return None if added is None else _checked(*added, name)


def _checked(family: Any, words: str, name: str) -> type[Additive]:
    if not (isinstance(family, type) and issubclass(family, Additive)):
        raise ValueError(f"{words}: it is no subclass of dpassay.reference.numbers.Additive")
    lacking = set(family.__abstractmethods__)
    if not family.whole and family.exceeded is Additive.exceeded:
        lacking.add("exceeded")
    if lacking:
        raise ValueError(f"{words}: the class lacks {', '.join(sorted(lacking))}")
    if getattr(family, "family", None) != name:
        raise ValueError(f'{words}: the class lacks family = "{name}", its name in claims')
    return family
