"""The shelves of the zoo: an aggregator and its claim, and how a file puts its own there."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from zoo_entry import Entry

from dpassay.reference.numbers import Aggregation, sample

Aggregate = Callable[[Any, int], Any]
Rng = np.random.Generator
Make = Callable[[Any, Rng], Aggregate]
Keep = Callable[[Callable[..., Any]], Make]


def entry(name: str, text: str, make: Make, *caught: str, source: str = "") -> Entry:
    """An entry; text: its claim from `[mechanism]` on, whose aggregation `make` gets."""

    def of_claim(claim: Any, rng: Rng) -> Aggregate:
        return make(claim.mechanism.law, rng)

    return Entry(name, f"[mechanism]\n{text}", of_claim, caught, source=source)


class Shelf:
    """The aggregators of one file."""

    def __init__(self) -> None:
        self.broken_ones: list[Entry] = []
        self.correct_ones: list[Entry] = []

    def broken(self, claim: str, *caught: str, source: str = "") -> Keep:
        """Puts a function among the broken ones, under its own name; see `_maker`."""

        def keep(function: Callable[..., Any]) -> Make:
            make = _maker(function)
            self.broken_ones.append(entry(_name(function), claim, make, *caught, source=source))
            return make

        return keep

    def correct(self, *claims: str) -> Keep:
        """Puts a function among the correct ones, once for each claim; see `_maker`."""

        def keep(function: Callable[..., Any]) -> Make:
            make = _maker(function)
            for number, claim in enumerate(claims):
                self.correct_ones.append(entry(f"{_name(function)}-{number}", claim, make))
            return make

        return keep


def _name(function: Callable[..., Any]) -> str:
    return function.__name__.replace("_", "-").strip("-")


def _maker(function: Callable[..., Any]) -> Make:
    """The function, if it takes (mechanism, rng) and gives an aggregator, which may keep something.

    What takes (mechanism, rng, values, size) gives releases, and keeps nothing between calls.
    """
    if len(inspect.signature(function).parameters) == 2:
        return function
    return lambda of, rng: lambda values, size: function(of, rng, values, size)


def noisy(of: Aggregation, rng: Rng, values: Any, size: int) -> Any:
    """A correct release."""
    return sample(of, values, size, rng)
