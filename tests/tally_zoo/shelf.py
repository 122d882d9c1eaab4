"""What an entry is: a deployment of rounds, its claim, and the checks that find it."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.numbers import Shares
from dpassay.reference.secure_aggregation import SecureAggregation
from dpassay.verifiers.kinds.reading import parse_claim
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

CODES = {
    "masks-of-the-round-before": "mask-kept-across-rounds",
    "one-mask-for-all-numbers": "mask-shared-by-numbers",
    "a-party-without-a-mask": "mask-missing",
    "signs-do-not-cancel": "masks-not-cancelled",
    "both-secrets-revealed": "both-masks-revealed",
    "keys-of-16-bits": "keys-repeat",
    "modulus-too-small": "modulus-too-small",
    "noise-for-all-though-one-may-leave": "noise-after-dropouts-differs",
    "a-share-forgotten": "noise-after-dropouts-differs",
    "one-draw-for-all-numbers": "noise-shared-within-release",
    "noise-after-the-modulus": "reply-malformed",
    "one-aggregator-of-two": "noise-family-differs",
    "ciphertexts-made-once": "ciphertexts-repeat",
    "encrypted-noise-of-the-first-round": "noise-shared-across-releases",
    "a-party-cuts-its-values": "modulus-too-small",
    "a-party-scales-its-values": "modulus-too-small",
}
"""Of broken entries, by their names: the code of what a check that finds them tells."""

Rounds = Callable[[Any, int], Any]
Make = Callable[[TallyClaim, np.random.Generator], Rounds]


@dataclass(frozen=True)
class Entry:
    """A deployment; caught: checks of which one must fail, none where it is correct.

    like: the correct entry that looks like this broken one.
    """

    name: str
    claim_text: str
    make: Make
    caught: tuple[str, ...] = ()
    like: str = ""

    @property
    def code(self) -> str:
        """Of what a check that finds it tells; empty where several causes explain it."""
        return CODES.get(self.name, "")

    @property
    def claim(self) -> TallyClaim:
        """Parsed."""
        table = tomllib.loads(f"[mechanism]\n{self.claim_text}{GATE}")
        claim: TallyClaim = parse_claim(table)
        return claim

    def made(self, seed: int) -> Rounds:
        """The deployment, whose noise this seed draws."""
        return self.make(self.claim, np.random.default_rng([seed, 77]))


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
