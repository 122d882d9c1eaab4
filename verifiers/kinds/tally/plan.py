"""Which rounds a run asks: those to which all parties send their values."""

from collections.abc import Iterator
from enum import StrEnum, unique
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...targets.tally import LEAVES
from ..numbers.planning.asked import MOST_COORDINATES, Asked
from ..numbers.planning.plan import NumbersPlan
from .claim import TallyClaim

_LARGEST = 4
"""Rounds of a call at most: each is work for all parties."""


@unique
class RoundRole(StrEnum):
    """Why a round is asked; the value is how messages call it."""

    TYPICAL = "typical"
    REVERSED = "parties in another order"
    SAME = "all parties alike"
    LOW = "low values"


def make_tally_plan(claim: TallyClaim, seed: int) -> NumbersPlan:
    """Rounds without dropouts; single checks ask for those with them, and for largest values."""
    rng, mechanism = np.random.default_rng([seed, 0]), claim.mechanism
    of = mechanism.aggregation
    typical = drawn_values(claim, np.random.default_rng(0))  # the same in every run, to be compared
    middle = (of.lower + of.upper) // 2
    made: list[tuple[RoundRole, NDArray[np.int64]]] = [
        (RoundRole.TYPICAL, typical),
        (RoundRole.REVERSED, typical[::-1].copy()),
        (RoundRole.SAME, np.full_like(typical, middle)),
        (RoundRole.LOW, np.minimum(drawn_values(claim, rng), middle)),
    ]
    inputs = tuple(asked(claim, values, role) for role, values in made)
    coordinates = np.arange(mechanism.width)
    if mechanism.width > MOST_COORDINATES:
        coordinates = np.sort(rng.choice(mechanism.width, MOST_COORDINATES, replace=False))
    return NumbersPlan(inputs, coordinates, largest_call=_LARGEST)


def asked(
    claim: TallyClaim, held: NDArray[np.int64], role: str, leaves: NDArray[np.int64] | None = None
) -> Asked:
    """A round of these values (parties, d), each party leaving so (parties,), none by default."""
    gone = np.zeros(claim.mechanism.parties, dtype=np.int64) if leaves is None else leaves
    values: Any = [held, gone]
    exact = claim.mechanism.aggregation.exact(values)
    return Asked.of(claim.release, values, exact, role)


def drawn_values(claim: TallyClaim, rng: np.random.Generator) -> NDArray[np.int64]:
    """Values (parties, d) within the bounds."""
    of = claim.mechanism.aggregation
    return rng.integers(of.lower, of.upper + 1, (of.parties, of.width))


def patterns(claim: TallyClaim) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Who leaves when, in words and as numbers (parties,): one party, and as many as may."""
    parties, most = claim.mechanism.parties, claim.mechanism.parties - claim.mechanism.fewest
    for when in (2, 1, 3) if most else ():
        for some in sorted({1, most}):
            leaves = np.zeros(parties, dtype=np.int64)
            leaves[np.linspace(0, parties - 1, some + 2).astype(int)[1:-1]] = when
            gone = int((leaves > 0).sum())
            who = "a party" if gone == 1 else f"each of {gone} parties"
            yield f"{who} {LEAVES[when]}", leaves
    if most >= 2:
        mixed = np.zeros(parties, dtype=np.int64)
        mixed[0], mixed[-1] = 2, 3
        yield "one party leaves before its values, one after", mixed


def mixed_patterns(claim: TallyClaim) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """As many parties as may leave, in several ways at once; none where one may leave at most."""
    most = claim.mechanism.parties - claim.mechanism.fewest
    if most < 2:
        return
    made = [(0, 1, most - 1), (0, most - 1, 1), (1, 0, most - 1)]
    if most > 2:
        made.append((1, 1, most - 2))
    for each in dict.fromkeys(made):
        yield _leaving(claim, each)


def patterns_below_quorum(claim: TallyClaim) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """To whose rounds one party too few sends its values, by when the others leave.

    None where nothing depends on the quorum: the claim names none, and the noise is of others. Who
    leaves after its values has brought them, with its noise, and is no party too few.
    """
    mechanism = claim.mechanism
    gone = mechanism.parties - mechanism.fewest + 1
    if mechanism.fewest < 2 or (mechanism.quorum is None and not mechanism.in_shares):
        return
    made = [(0, gone, 0), (gone, 0, 0), (0, gone, 1)]
    if gone > 1:
        made.append((gone - gone // 2, gone // 2, 0))
    for each in made:
        yield _leaving(claim, each)


def _leaving(claim: TallyClaim, ways: tuple[int, int, int]) -> tuple[str, NDArray[np.int64]]:
    """Who leaves, in words and as numbers (parties,), so many at 1, 2 and 3, spread over all."""
    parties, total = claim.mechanism.parties, sum(ways)
    places = np.linspace(0, parties - 1, total).astype(int)
    leaves = np.zeros(parties, dtype=np.int64)
    leaves[places] = np.repeat((1, 2, 3), ways)
    each = zip(ways, LEAVES[1:], strict=True)
    told = (f"{n} {'party' if n == 1 else 'parties'} {_of_several(n, how)}" for n, how in each if n)
    return ", ".join(told), leaves


def _of_several(number: int, how: str) -> str:
    """How parties leave, in words."""
    return how if number == 1 else how.replace("leaves", "leave").replace("its", "their")
