"""A party in a round: its keys, its masks, and its shares of the secrets of others."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from numpy.typing import NDArray

from .masks import Masks, Residues, derived, minus, plus, residues, split

Noise = Callable[[int], NDArray[np.float64]]
"""Draws a party's share of the noise, so many numbers."""

_BYTES = 66  # of a share in a message


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

    number: from 1; masks: how they are made; threshold: fewest shares that recover its secrets;
    identity: signs its keys; agreements: secrets by the public keys of two parties, worked out once
    for both, as they are in one process; noise: its share of the noise, none where None.
    """

    number: int
    masks: Masks
    threshold: int
    identity: Ed25519PrivateKey
    agreements: dict[frozenset[bytes], bytes]
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
        both = frozenset((key.public_key().public_bytes_raw(), other))
        if both not in self.agreements:
            self.agreements[both] = key.exchange(X25519PublicKey.from_public_bytes(other))
        return derived(self.agreements[both], purpose)

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


def _nonce(sender: int) -> bytes:
    """Of a message: two parties have one key for both ways, and send one message each."""
    return sender.to_bytes(12, "little")
