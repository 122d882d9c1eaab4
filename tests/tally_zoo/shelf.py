"""What an entry is: a deployment of rounds, its claim, and the checks that find it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from zoo_entry import Entry

from dpassay.reference.numbers import Shares
from dpassay.reference.secure_aggregation import SecureAggregation
from dpassay.verifiers.kinds.tally.claim import TallyClaim
from dpassay.verifiers.kinds.tally.reference import answering

FIVE = """
name = "secure-tally"
noise = "discrete-laplace:2;shares=5/4"
adjacency = "replace-one"
parties = 5
quorum = 4
lower = 0
upper = 10
dimensions = 16
modulus = 4096
"""
"""Five parties, of whom one may drop out: four shares make the noise."""

TEN = FIVE.replace("5/4", "10/8").replace("parties = 5", "parties = 10").replace("= 4\n", "= 8\n")
"""Ten parties, of whom two may drop out."""

ADDED = FIVE.replace("shares=5/4", "sum=2") + 'released = "residues"\n'
"""Two aggregators add the noise, and the tally is given modulo m as it is."""

GATE = "[gate]\nsmallest_effect = 0.1\ntolerance = 0.1\n"

Rounds = Callable[[Any, int], Any]
Make = Callable[[TallyClaim, np.random.Generator], Rounds]


def entry(
    name: str,
    text: str,
    make: Make,
    caught: tuple[str, ...] = (),
    like: str = "",
    code: str = "",
) -> Entry:
    """An entry; text: its claim from `[mechanism]` on, but for the gate."""
    return Entry(name, f"[mechanism]\n{text}{GATE}", make, caught, code, like=like)


def shares(claim: TallyClaim, rng: np.random.Generator, parties: int = 4) -> Any:
    """Draws a party's share, of which so many make the noise; by numpy's Polya numbers."""
    family = claim.mechanism.noise.family
    rate = -np.expm1(-1.0 / family.scale)
    if claim.mechanism.in_shares and isinstance(family, Shares) and parties == 4:
        parties = family.parties
    return lambda size: (
        rng.negative_binomial(1 / parties, rate, size)
        - rng.negative_binomial(1 / parties, rate, size)
    ).astype(float)


def deployed(claim: TallyClaim, rng: np.random.Generator, added: Any = None, **how: Any) -> Rounds:
    """Secure aggregation under this claim, with other parts where `how` says so."""
    mechanism = claim.mechanism
    if mechanism.in_shares:
        how.setdefault("noise", shares(claim, rng))
    aggregation = SecureAggregation(mechanism.parties, mechanism.fewest, mechanism.modulus, **how)
    rounds: Rounds = answering(claim, aggregation, added)
    return rounds
