"""The shelves of the zoo: an aggregator and its claim, and how a file puts its own there."""

import inspect
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.numbers import Aggregation, sample
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.reading import parse_claim

Aggregate = Callable[[Any, int], Any]
Rng = np.random.Generator
Make = Callable[[Any, Rng], Aggregate]
Keep = Callable[[Callable[..., Any]], Make]


@dataclass(frozen=True)
class Entry:
    """An aggregator and its claim; caught: checks of which one must fail, none if it is correct."""

    name: str
    claim_text: str
    make: Make
    caught: tuple[str, ...] = ()
    source: str = ""

    @property
    def claim(self) -> NumbersClaim:
        """Parsed."""
        claim: NumbersClaim = parse_claim(tomllib.loads(f"[mechanism]\n{self.claim_text}"))
        return claim

    def made(self, rng: Rng) -> Aggregate:
        """The aggregator, of the mechanism that its claim names."""
        return self.make(self.claim.mechanism.law, rng)


class Shelf:
    """The aggregators of one file."""

    def __init__(self) -> None:
        self.broken_ones: list[Entry] = []
        self.correct_ones: list[Entry] = []

    def broken(self, claim: str, *caught: str, source: str = "") -> Keep:
        """Puts a function among the broken ones, under its own name; see `_maker`."""

        def keep(function: Callable[..., Any]) -> Make:
            make = _maker(function)
            self.broken_ones.append(Entry(_name(function), claim, make, caught, source))
            return make

        return keep

    def correct(self, *claims: str) -> Keep:
        """Puts a function among the correct ones, once for each claim; see `_maker`."""

        def keep(function: Callable[..., Any]) -> Make:
            make = _maker(function)
            for number, claim in enumerate(claims):
                self.correct_ones.append(Entry(f"{_name(function)}-{number}", claim, make))
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
