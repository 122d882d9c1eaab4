"""What hides a party's values: numbers modulo m from a seed, each uniform and exactly so.

Seeds are shared after Shamir 1979, "How to share a secret": the secret is the value at 0 of a
random polynomial of degree threshold - 1 over a prime field, a share its value elsewhere.
"""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

Residues = NDArray[np.uint64]

PRIME = 2**521 - 1
"""Of the field: secrets of 64 bytes are below it."""


def split(secret: int, threshold: int, places: Sequence[int]) -> dict[int, int]:
    """Shares by place, which are distinct numbers from 1 on.

    Raises ValueError for a secret that is not in the field, for fewer places than the threshold,
    for a threshold below 1, and for places that are not distinct or not positive.
    """
    if not 0 <= secret < PRIME:
        raise ValueError("the secret is not in the field: expected 0 to 2^521 - 2")
    if not 1 <= threshold <= len(places):
        raise ValueError(f"threshold {threshold}: expected 1 to {len(places)}, a share for each")
    if len(set(places)) < len(places) or not all(0 < place < PRIME for place in places):
        raise ValueError(f"places {list(places)[:10]}: expected distinct numbers from 1 on")
    coefficients = [secret, *(secrets.randbelow(PRIME) for _ in range(threshold - 1))]
    shares = {}
    for place in places:
        value = 0
        for coefficient in reversed(coefficients):
            value = (value * place + coefficient) % PRIME
        shares[place] = value
    return shares


def combine(shares: Mapping[int, int]) -> int:
    """The secret behind shares by place, by Lagrange's formula at 0; wrong if they are too few.

    Raises ValueError where there is none.
    """
    if not shares:
        raise ValueError("no shares: expected as many as the threshold")
    weights = lagrange(tuple(shares))
    return sum(w * s for w, s in zip(weights, shares.values(), strict=True)) % PRIME


@lru_cache(maxsize=8)
def lagrange(places: tuple[int, ...]) -> list[int]:
    """The weights of shares at these places in the secret."""
    weights = []
    for place in places:
        above, below = 1, 1
        for other in places:
            if other != place:
                above, below = above * other % PRIME, below * (other - place) % PRIME
        weights.append(above * pow(below, -1, PRIME) % PRIME)
    return weights


_WORD = 2**64


def derived(secret: bytes, purpose: str) -> bytes:
    """32 bytes for one purpose, of an agreed secret (HKDF with SHA-256, RFC 5869)."""
    return HKDF(hashes.SHA256(), 32, None, purpose.encode()).derive(secret)


def expanded(seed: bytes, size: int, modulus: int) -> Residues:
    """So many numbers from 0 to modulus - 1 of a seed of 32 bytes, by ChaCha20 (RFC 8439).

    Words of 64 bits at or beyond the last multiple of the modulus are left out, so that each number
    is equally likely. Raises ValueError for a modulus beyond 2^62, to which sums of two fit.
    """
    if not 2 <= modulus <= 2**62:
        raise ValueError(f"modulus {modulus}: expected 2 to 2^62")
    stream = Cipher(ChaCha20(seed, bytes(16)), mode=None).encryptor()
    first_beyond = _WORD - _WORD % modulus
    found = np.empty(0, dtype=np.uint64)
    while found.size < size:
        wanted = math.ceil((size - found.size) * _WORD / first_beyond) + 8
        words = np.frombuffer(stream.update(bytes(8 * wanted)), dtype="<u8").astype(np.uint64)
        kept = words if first_beyond == _WORD else words[words < np.uint64(first_beyond)]
        found = np.concatenate([found, kept % np.uint64(modulus)])
    return found[:size]


@dataclass(frozen=True)
class Masks:
    """How masks modulo the modulus are made of seeds, by parties and by the server alike.

    purpose: for which a seed is derived of the secret of two parties.
    """

    modulus: int
    purpose: ClassVar[str] = "mask"

    def expanded(self, seed: bytes, size: int) -> Residues:
        """The mask (size,) of a seed."""
        return expanded(seed, size, self.modulus)

    def of_self(self, seed: bytes, size: int) -> Residues:
        """The self mask (size,) of a seed."""
        return self.expanded(seed, size)


def plus(one: Residues, other: Residues, modulus: int) -> Residues:
    """The sum of residues (...), modulo the modulus."""
    return (one + other) % np.uint64(modulus)


def minus(one: Residues, other: Residues, modulus: int) -> Residues:
    """The difference of residues (...), modulo the modulus."""
    return (one + (np.uint64(modulus) - other)) % np.uint64(modulus)


def residues(numbers: NDArray[np.int64], modulus: int) -> Residues:
    """Whole numbers (...) modulo the modulus."""
    return np.asarray(np.mod(numbers, np.int64(modulus))).astype(np.uint64)
