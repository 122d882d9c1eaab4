"""The server of a round of secure aggregation, which sees masked values alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from .masks import Masks, Residues, derived, minus, plus
from .party import Advertised
from .shamir import combine


class TooFewError(ValueError):
    """Fewer parties answer than the threshold, so that the sum stays hidden."""


@dataclass
class Server:
    """Adds what it is sent, and takes off the masks that do not cancel.

    threshold: fewest shares that recover a secret; near: of each party, those with whom it has
    masks.
    """

    masks: Masks
    threshold: int
    advertised: dict[int, Advertised]
    near: Mapping[int, frozenset[int]]

    @property
    def modulus(self) -> int:
        """Of the numbers."""
        return self.masks.modulus

    def asks_for(self, sent: Mapping[int, Residues]) -> tuple[list[int], list[int]]:
        """Whose self seeds it asks for, and whose masking keys: those who have not sent."""
        return sorted(sent), sorted({*self.advertised} - {*sent})

    def tally(
        self,
        sent: Mapping[int, Residues],
        keys: Mapping[int, Mapping[int, int]],
        seeds: Mapping[int, Mapping[int, int]],
    ) -> Residues:
        """The sum (d,) of what was sent, without masks.

        keys, seeds: shares by party and place, of masking keys and self seeds. Raises TooFewError.
        """
        size = len(next(iter(sent.values())))
        total = np.zeros(size, dtype=np.uint64)
        for values in sent.values():
            total = plus(total, values, self.modulus)
        for shares in seeds.values():
            seed = self._recovered(shares).to_bytes(32, "little")
            total = minus(total, self.masks.of_self(seed, size), self.modulus)
        for number, shares in keys.items():
            near = sorted({*sent} & self.near[number])
            total = self.without(total, number, self._recovered(shares), near)
        return total

    def without(self, total: Residues, gone: int, key: int, sent: Sequence[int]) -> Residues:
        """The total without the masks with one who is gone, of its neighbours who have sent."""
        own = X25519PrivateKey.from_private_bytes(key.to_bytes(32, "little"))
        for other in sent:
            public = X25519PublicKey.from_public_bytes(self.advertised[other].masking)
            seed = derived(own.exchange(public), self.masks.purpose)
            mask = self.masks.expanded(seed, total.size)
            total = (minus if other < gone else plus)(total, mask, self.modulus)
        return total

    def _recovered(self, shares: Mapping[int, int]) -> int:
        if len(shares) < self.threshold:
            raise TooFewError(f"{len(shares)} shares: expected {self.threshold} to unmask the sum")
        return combine(dict(list(shares.items())[: self.threshold]))
