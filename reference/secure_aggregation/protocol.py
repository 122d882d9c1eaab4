"""One round of secure aggregation: parties that mask their values, and a server that adds them.

Bonawitz et al. 2017, "Practical secure aggregation for privacy-preserving machine learning", Figure
4, with signed keys as in its setting of active adversaries, without its round of consistency
checks. Numbers are modulo m. The pairwise masks cancel in the sum. The self mask keeps a party's
values hidden where its pairwise masks are recovered although its message arrives late.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, unique

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from numpy.typing import NDArray

from .masks import Masks, Residues, derived, minus, plus, residues
from .shamir import combine, split

Noise = Callable[[int], NDArray[np.float64]]
"""Draws a party's share of the noise, so many numbers."""

_BYTES = 66  # of a share in a message


class TooFewError(ValueError):
    """Fewer parties answer than the threshold, so that the sum stays hidden."""


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
class Advertised:
    """The public keys of a party: for messages and for masks, with a signature over both."""

    number: int
    channel: bytes
    masking: bytes
    signature: bytes


def verify_keys(advertised: Advertised, known: Ed25519PublicKey) -> None:
    """Raises InvalidSignature for keys that are not of the party whose signing key this is."""
    known.verify(advertised.signature, advertised.channel + advertised.masking)


@dataclass
class Party:
    """One party in one round.

    number: from 1; masks: how they are made; identity: signs its keys; noise: its share of the
    noise, none where None.
    """

    number: int
    masks: Masks
    threshold: int
    identity: Ed25519PrivateKey
    noise: Noise | None = None
    peers: dict[int, Advertised] = field(default_factory=dict)
    kept: dict[int, bytes] = field(default_factory=dict)

    @property
    def modulus(self) -> int:
        """Of the numbers."""
        return self.masks.modulus

    def __post_init__(self) -> None:
        self._channels: dict[int, bytes] = {}
        self.channel_key, self.masking_key = self.new_key(), self.new_key()
        self.self_seed = self.new_seed()

    def new_key(self) -> X25519PrivateKey:
        """A key pair for this round."""
        return X25519PrivateKey.generate()

    def new_seed(self) -> bytes:
        """The seed of the self mask."""
        return secrets.token_bytes(32)

    def advertise(self) -> Advertised:
        """Its public keys, signed."""
        keys = (k.public_key().public_bytes_raw() for k in (self.channel_key, self.masking_key))
        channel, masking = keys
        return Advertised(self.number, channel, masking, self.identity.sign(channel + masking))

    def meet(self, others: Sequence[Advertised]) -> None:
        """Takes the keys of the others, whose signatures were looked at."""
        self.peers = {other.number: other for other in others}

    def agreed(self, key: X25519PrivateKey, other: bytes, purpose: str) -> bytes:
        """What two parties derive from their keys, each from its own and the other's."""
        return derived(key.exchange(X25519PublicKey.from_public_bytes(other)), purpose)

    def share_secrets(self) -> dict[int, bytes]:
        """To each party, itself too, a share of its masking key and self seed, encrypted."""
        places = sorted(self.peers)
        key = int.from_bytes(self.masking_key.private_bytes_raw(), "little")
        of_key = split(key, self.threshold, places)
        of_seed = split(int.from_bytes(self.self_seed, "little"), self.threshold, places)
        messages = {}
        for place in places:
            both = b"".join(s[place].to_bytes(_BYTES, "little") for s in (of_key, of_seed))
            if place == self.number:
                self.kept[place] = both
                continue
            cipher = ChaCha20Poly1305(self._channel(place))
            messages[place] = cipher.encrypt(_nonce(self.number), both, None)
        return messages

    def receive(self, sender: int, message: bytes) -> None:
        """Keeps the shares that another party has sent it."""
        cipher = ChaCha20Poly1305(self._channel(sender))
        self.kept[sender] = cipher.decrypt(_nonce(sender), message, None)

    def _channel(self, other: int) -> bytes:
        if other not in self._channels:
            public = self.peers[other].channel
            self._channels[other] = self.agreed(self.channel_key, public, "channel")
        return self._channels[other]

    def pair_mask(self, other: int, size: int) -> Residues:
        """The mask that it has in common with another party."""
        seed = self.agreed(self.masking_key, self.peers[other].masking, self.masks.purpose)
        return self.masks.expanded(seed, size)

    def self_mask(self, size: int) -> Residues:
        """The mask of its own."""
        return self.masks.of_self(self.self_seed, size)

    def counted(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Its values (d,) with its share of the noise."""
        if self.noise is None:
            return values
        return np.asarray(values + self.noise(values.size).astype(np.int64))

    def masked(self, values: NDArray[np.int64]) -> Residues:
        """What it sends: its values (d,), hidden by the masks with all who have its keys."""
        sent = residues(self.counted(values), self.modulus)
        sent = plus(sent, self.self_mask(values.size), self.modulus)
        for other in sorted(self.peers):
            if other != self.number:
                add = plus if self.number < other else minus
                sent = add(sent, self.pair_mask(other, values.size), self.modulus)
        return sent

    def reveal(self, present: Sequence[int], gone: Sequence[int]) -> tuple[dict[int, int], ...]:
        """Its shares of the masking keys of those who are gone, and of the others' self seeds.

        Raises ValueError where a party is in both: the two would show its values.
        """
        both = sorted({*present} & {*gone})
        if both:
            raise ValueError(f"party {both[0]} is both present and gone: expected one of them")
        keys = {n: int.from_bytes(self.kept[n][:_BYTES], "little") for n in gone}
        seeds = {n: int.from_bytes(self.kept[n][_BYTES:], "little") for n in present}
        return keys, seeds


@dataclass
class Server:
    """Adds what it is sent, and takes off the masks that do not cancel."""

    masks: Masks
    threshold: int
    advertised: dict[int, Advertised]

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
            total = self.without(total, number, self._recovered(shares), sorted(sent))
        return total

    def without(self, total: Residues, gone: int, key: int, sent: Sequence[int]) -> Residues:
        """The total without the masks that those who have sent share with one who is gone."""
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
    party's share of the noise. party, server, masks: classes, for those that
    differ. Raises ValueError.
    """

    parties: int
    threshold: int
    modulus: int
    noise: Noise | None = None
    party: type[Party] = Party
    server: type[Server] = Server
    masks: type[Masks] = Masks
    identities: dict[int, Ed25519PrivateKey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parties / 2 < self.threshold <= self.parties:
            least = self.parties // 2 + 1
            raise ValueError(f"threshold {self.threshold}: expected {least} to {self.parties}")
        for number in range(1, self.parties + 1):
            self.identities[number] = Ed25519PrivateKey.generate()

    def round(self, values: NDArray[np.int64], leaves: Sequence[int]) -> Round:
        """The tally of values (parties, d), each party leaving as `Leaves` says.

        Raises TooFewError where fewer than the threshold stay to the end.
        """
        here = [n for n in self.identities if leaves[n - 1] != Leaves.BEFORE_KEYS]
        masks = self.masks(self.modulus)
        parties = {n: self._party(n, masks) for n in here}
        advertised = {n: party.advertise() for n, party in parties.items()}
        for one in advertised.values():  # once for all parties, as they are in one process
            verify_keys(one, self.identities[one.number].public_key())
        self._need(len(here))
        for party in parties.values():
            party.meet(list(advertised.values()))
        for sender, party in parties.items():
            for receiver, message in party.share_secrets().items():
                parties[receiver].receive(sender, message)
        sending = [n for n in here if leaves[n - 1] != Leaves.BEFORE_VALUES]
        sent = {n: parties[n].masked(np.asarray(values[n - 1])) for n in sending}
        helping = [n for n in sending if leaves[n - 1] != Leaves.AFTER_VALUES]
        self._need(len(helping))
        server = self.server(masks, self.threshold, advertised)
        present, gone = server.asks_for(sent)
        keys: dict[int, dict[int, int]] = {n: {} for n in gone}
        seeds: dict[int, dict[int, int]] = {n: {} for n in present}
        for place in helping:
            of_keys, of_seeds = parties[place].reveal(present, gone)
            for number, share in of_keys.items():
                keys[number][place] = share
            for number, share in of_seeds.items():
                seeds[number][place] = share
        tally = server.tally(sent, keys, seeds)
        public = {n: one.masking for n, one in advertised.items()}
        return Round(tally, sent, public, {"self": present, "pair": gone})

    def _party(self, number: int, masks: Masks) -> Party:
        return self.party(number, masks, self.threshold, self.identities[number], self.noise)

    def _need(self, parties: int) -> None:
        if parties < self.threshold:
            raise TooFewError(f"{parties} parties answer: expected {self.threshold} at least")


def _nonce(sender: int) -> bytes:
    """Of a message: two parties have one key for both ways, and send one message each."""
    return sender.to_bytes(12, "little")
