"""One round of secure aggregation: parties that mask their values, and a server that adds them.

Bonawitz et al. 2017, "Practical secure aggregation for privacy-preserving machine learning", Figure
4, with signed keys as in its setting of active adversaries, without its round of consistency
checks. Numbers are modulo m. The pairwise masks cancel in the sum. The self mask keeps a party's
values hidden where its pairwise masks are recovered although its message arrives late. Where there
are many parties, each has masks and shares with some of the others alone (`neighbours`).
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, unique

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from numpy.typing import NDArray

from .masks import Masks, Residues, combine, derived, minus, plus
from .party import Advertised, Noise, Party, verify_keys


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


def neighbours_of(parties: Sequence[int], number: int | None) -> dict[int, frozenset[int]]:
    """Of each party those with whom it has masks, from a ring in a random order.

    number: of neighbours, even; the next half of them on either side. All others where None, or
    where there are no more.
    """
    if number is None or number >= len(parties) - 1:
        return {one: frozenset(parties) - {one} for one in parties}
    ring = list(parties)
    secrets.SystemRandom().shuffle(ring)
    steps = [step for half in range(1, number // 2 + 1) for step in (half, -half)]
    return {
        one: frozenset(ring[(place + step) % len(ring)] for step in steps)
        for place, one in enumerate(ring)
    }


@unique
class Leaves(IntEnum):
    """When a party drops out of a round."""

    NEVER = 0
    BEFORE_KEYS = 1
    """It takes no part."""
    BEFORE_VALUES = 2
    """Others have its keys: its pairwise masks must be recovered."""
    AFTER_VALUES = 3
    """Its masked values are in the sum; it does not help to unmask them."""


@dataclass(frozen=True)
class Round:
    """What came of a round: the tally (d,), and what the server has seen.

    sent: of each party, (d,), by number; keys: its public masking key; revealed: whose masking keys
    ("pair") and self seeds ("self") were recovered.
    """

    tally: Residues
    sent: Mapping[int, Residues]
    keys: Mapping[int, bytes]
    revealed: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class SecureAggregation:
    """The parties of many rounds, with keys that sign; each round has new keys for masks.

    parties: how many; threshold: fewest who must answer to the end, more than half, since a server
    that splits the parties would else unmask both halves; modulus: 2 to 2^62; noise: draws a
    party's share of the noise; neighbours: with how many others each party has masks and shares,
    an even number, all others where None. party, server, masks: classes, for those that differ.
    Raises ValueError.
    """

    parties: int
    threshold: int
    modulus: int
    noise: Noise | None = None
    neighbours: int | None = None
    party: type[Party] = Party
    server: type[Server] = Server
    masks: type[Masks] = Masks
    identities: dict[int, Ed25519PrivateKey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parties / 2 < self.threshold <= self.parties:
            least = self.parties // 2 + 1
            raise ValueError(f"threshold {self.threshold}: expected {least} to {self.parties}")
        if self.neighbours is not None and (
            self.neighbours % 2 or not 2 <= self.neighbours < self.parties
        ):
            allowed = f"expected an even number, 2 to {self.parties - 1}"
            raise ValueError(f"neighbours {self.neighbours}: {allowed}")
        for number in range(1, self.parties + 1):
            self.identities[number] = Ed25519PrivateKey.generate()

    def round(self, values: NDArray[np.int64], leaves: Sequence[int]) -> Round:
        """The tally of values (parties, d), each party leaving as `Leaves` says.

        Raises TooFewError where fewer than the threshold stay to the end, or half of a party's
        neighbours.
        """
        here = [n for n in self.identities if leaves[n - 1] != Leaves.BEFORE_KEYS]
        masks, agreements = self.masks(self.modulus), dict[frozenset[bytes], bytes]()
        near, shares_needed = neighbours_of(here, self.neighbours), self.threshold
        if self.neighbours is not None:
            shares_needed = self.neighbours // 2 + 1
        parties = {
            n: self.party(n, masks, shares_needed, self.identities[n], agreements, self.noise)
            for n in here
        }
        advertised = {n: party.advertise() for n, party in parties.items()}
        for one in advertised.values():  # once for all parties, as they are in one process
            verify_keys(one, self.identities[one.number].public_key())
        self._need(len(here))
        for n, party in parties.items():
            party.meet([advertised[other] for other in sorted({n, *near[n]})])
        for sender, party in parties.items():
            for receiver, message in party.share_secrets().items():
                parties[receiver].receive(sender, message)
        sending = [n for n in here if leaves[n - 1] != Leaves.BEFORE_VALUES]
        sent = {n: parties[n].masked(np.asarray(values[n - 1])) for n in sending}
        helping = [n for n in sending if leaves[n - 1] != Leaves.AFTER_VALUES]
        self._need(len(helping))
        server = self.server(masks, shares_needed, advertised, near)
        present, gone = server.asks_for(sent)
        keys: dict[int, dict[int, int]] = {n: {} for n in gone}
        seeds: dict[int, dict[int, int]] = {n: {} for n in present}
        for place in helping:
            known = {place, *near[place]}
            of_keys, of_seeds = parties[place].reveal(
                [n for n in present if n in known], [n for n in gone if n in known]
            )
            for number, share in of_keys.items():
                keys[number][place] = share
            for number, share in of_seeds.items():
                seeds[number][place] = share
        tally = server.tally(sent, keys, seeds)
        public = {n: one.masking for n, one in advertised.items()}
        return Round(tally, sent, public, {"self": present, "pair": gone})

    def _need(self, parties: int) -> None:
        if parties < self.threshold:
            raise TooFewError(f"{parties} parties answer: expected {self.threshold} at least")
