"""Homomorphic sums (Paillier): ciphertexts kept, slots too narrow, encrypted noise used again.

Each party packs its values with its share of the noise into one plaintext, a slot for each number.
Keys have 512 bits so that runs take seconds: they would protect nothing.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from phe import paillier

from .shelf import FIVE, Make, entry, shares


@cache
def _keys() -> Any:
    return paillier.generate_paillier_keypair(n_length=512)


@dataclass(frozen=True)
class Encrypted:
    """A deployment of rounds under one key.

    slot: bits of each number; offset: what is added to each before it is encrypted, so that none
    is negative; fresh: whether each ciphertext is made anew, or kept by its
    plaintext; noise_once: whether the server's encrypted noise is that of the first round, where
    it adds all of it.
    """

    claim: Any
    rng: Any
    slot: int = 20
    offset: int = 2**10
    fresh: bool = True
    of_server: bool = False
    noise_once: bool = False
    kept: dict[int, Any] = field(default_factory=dict)

    def __call__(self, given: Any, size: int) -> list[dict[str, Any]]:
        return [self._round(*given) for _ in range(size)]

    def _round(self, held: Any, leaves: Any) -> dict[str, Any]:
        sends = [when not in (1, 2) for when in leaves]
        if sum(sends) < self.claim.mechanism.fewest:
            raise ValueError("fewer than the quorum have sent")
        sent = {
            n: self._encrypted(held[n] + self._share()) for n, is_in in enumerate(sends) if is_in
        }
        texts = [f"{sent[n].ciphertext(False):x}" if n in sent else None for n in range(len(sends))]
        total = sum(sent.values(), self._encrypted_noise(len(sent)))
        added = self.offset * (len(sent) + 1)
        packed, width = _keys()[1].decrypt(total), self.claim.mechanism.width
        numbers = [(packed >> (self.slot * k)) % 2**self.slot - added for k in range(width)]
        return {"tally": numbers, "ciphertexts": texts}

    def _share(self) -> Any:
        width = self.claim.mechanism.width
        if self.of_server:
            return np.zeros(width, dtype=int)
        return shares(self.claim, self.rng)(width).astype(int)

    def _encrypted_noise(self, present: int) -> Any:
        draw, width = shares(self.claim, self.rng), self.claim.mechanism.width
        several = present if self.of_server else 0
        noise = sum((draw(width).astype(int) for _ in range(several)), np.zeros(width, dtype=int))
        if not self.noise_once:
            return self._encrypted(noise)
        return self.kept.setdefault(-present, self._encrypted(noise))

    def _encrypted(self, numbers: Any) -> Any:
        shifted = (int(number) + self.offset for number in numbers)
        packed = sum(number << (self.slot * k) for k, number in enumerate(shifted))
        made = _keys()[0].encrypt(packed)
        return made if self.fresh else self.kept.setdefault(packed, made)


def encrypted(**how: Any) -> Make:
    """The deployment with these parts."""
    return lambda claim, rng: Encrypted(claim, rng, **how)


_LAW = ("noise-law", "noise-scale", "location", "fresh-noise", "independence", "joint")

SHELF = [
    entry("encrypted-shares", FIVE, encrypted()),
    entry("encrypted-noise-of-the-server", FIVE, encrypted(of_server=True)),
    entry(
        "ciphertexts-made-once",
        FIVE,
        encrypted(of_server=True, fresh=False),
        ("mask-uniformity",),
        "encrypted-noise-of-the-server",
        "ciphertexts-repeat",
    ),
    entry(
        "encrypted-noise-of-the-first-round",
        FIVE,
        encrypted(of_server=True, noise_once=True),
        (*_LAW, "recovery"),
        "encrypted-noise-of-the-server",
        "noise-shared-across-releases",
    ),
    entry(
        "slots-too-narrow", FIVE, encrypted(slot=8, offset=36), ("wrap-around",), "encrypted-shares"
    ),
]
