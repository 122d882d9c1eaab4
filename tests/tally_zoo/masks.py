"""Masks: reused, left out, not taken off, or given away; and correct ones that look alike."""

import hashlib
from itertools import count
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dpassay.reference.secure_aggregation import Party, Server
from dpassay.reference.secure_aggregation.masks import Masks, derived, minus, plus, residues

from .shelf import FIVE, TEN, Make, deployed, entry

MASKS, RECOVERY = "mask-uniformity", "recovery"


def using(**how: Any) -> Make:
    """The deployment with these parts, its classes made anew by functions that take the rng."""
    return lambda claim, rng: deployed(
        claim, rng, **{key: value(rng) if key == "kept" else value for key, value in how.items()}
    )


def kept_keys(claim: Any, rng: Any, *, fresh: bool) -> Any:
    """Keys and self seeds that each party keeps; fresh: masks are derived for each round."""
    keys: dict[int, X25519PrivateKey] = {}
    seeds: dict[int, bytes] = {}
    rounds = count()

    class Kept(Masks):
        def __init__(self, modulus: int) -> None:
            super().__init__(modulus)
            object.__setattr__(self, "purpose", f"mask {next(rounds)}" if fresh else "mask")

        def of_self(self, seed: bytes, size: int) -> Any:
            return self.expanded(derived(seed, self.purpose), size)

    class Keeps(Party):
        def new_key(self) -> X25519PrivateKey:
            # the channel's key comes first, the masking key is kept
            if not hasattr(self, "channel_key") and self.__dict__.setdefault("asked", 0) == 0:
                self.__dict__["asked"] = 1
                return super().new_key()
            return keys.setdefault(self.number, super().new_key())

        def new_seed(self) -> bytes:
            return seeds.setdefault(self.number, super().new_seed())

    return deployed(claim, rng, party=Keeps, masks=Kept)


class OneForAll(Masks):
    """The first number of each mask serves all coordinates."""

    def expanded(self, seed: bytes, size: int) -> Any:
        return np.repeat(super().expanded(seed, 1), size)


class SeedForEach(Masks):
    """Each coordinate has a seed of its own."""

    def expanded(self, seed: bytes, size: int) -> Any:
        each = (super(SeedForEach, self).expanded(derived(seed, str(k)), 1) for k in range(size))
        return np.concatenate(list(each))


class PairsAlone(Masks):
    """No self masks: those of pairs hide all but the sum."""

    def of_self(self, seed: bytes, size: int) -> Any:
        return np.zeros(size, dtype=np.uint64)


def without_a_mask(claim: Any, rng: Any) -> Any:
    """The second party's values are sent beside what hides them."""
    rounds = deployed(claim, rng)

    def shown(values: Any, size: int) -> Any:
        found = rounds(values, size)
        for one in found:
            if one["sent"][1] is not None:
                one["sent"][1] = residues(values[0][1], claim.mechanism.modulus).tolist()
        return found

    return shown


class WrongSigns(Server):
    """The masks of one who is gone are taken off with the signs of the others."""

    def without(self, total: Any, gone: int, key: int, sent: Any) -> Any:
        right = super().without(total, gone, key, sent)
        return plus(total, minus(total, right, self.modulus), self.modulus)


class OtherSigns(Party):
    """The higher of two parties adds, the lower takes off: as good as the other way round."""

    def masked(self, values: Any) -> Any:
        usual = super().masked(values)
        for other in self.peers:
            if other != self.number:
                change = minus if self.number < other else plus
                twice = self.pair_mask(other, values.size)
                usual = change(change(usual, twice, self.modulus), twice, self.modulus)
        return usual


class OtherSignsOff(Server):
    """Takes off what `OtherSigns` adds."""

    def without(self, total: Any, gone: int, key: int, sent: Any) -> Any:
        usual = super().without(total, gone, key, sent)
        return plus(total, minus(total, usual, self.modulus), self.modulus)


class AsksForBoth(Server):
    """Asks for the self seeds of all, of those too whose masking keys it asks for."""

    def asks_for(self, sent: Any) -> Any:
        return sorted(self.advertised), sorted({*self.advertised} - {*sent})

    def tally(self, sent: Any, keys: Any, seeds: Any) -> Any:
        return super().tally(sent, keys, {n: seeds[n] for n in sent})


class TellsBoth(Party):
    """Gives its shares of both secrets of a party."""

    def reveal(self, present: Any, gone: Any) -> Any:
        keys, _ = super().reveal([], gone)
        _, seeds = super().reveal(present, [])
        return keys, seeds


class FewKeys(Party):
    """Keys from a generator of 16 bits."""

    def new_key(self) -> X25519PrivateKey:
        state = int(np.random.default_rng().integers(2**16))
        return X25519PrivateKey.from_private_bytes(hashlib.sha256(str(state).encode()).digest())


class ManyKeys(Party):
    """Keys from hashes of 256 random bits."""

    def new_key(self) -> X25519PrivateKey:
        state = np.random.default_rng().bytes(32)
        return X25519PrivateKey.from_private_bytes(hashlib.sha256(state).digest())


SHELF = [
    entry(
        "masks-of-the-round-before",
        FIVE,
        lambda claim, rng: kept_keys(claim, rng, fresh=False),
        (MASKS,),
        "kept-keys-new-masks",
        "mask-kept-across-rounds",
    ),
    entry("kept-keys-new-masks", FIVE, lambda claim, rng: kept_keys(claim, rng, fresh=True)),
    entry(
        "one-mask-for-all-numbers",
        FIVE,
        using(masks=OneForAll),
        (MASKS,),
        "a-seed-a-number",
        "mask-shared-by-numbers",
    ),
    entry("a-seed-a-number", FIVE, using(masks=SeedForEach)),
    entry(
        "a-party-without-a-mask",
        FIVE,
        without_a_mask,
        (MASKS,),
        "pairwise-masks-alone",
        "mask-missing",
    ),
    entry("pairwise-masks-alone", FIVE, using(masks=PairsAlone)),
    entry(
        "signs-do-not-cancel",
        FIVE,
        using(server=WrongSigns),
        (RECOVERY,),
        "other-signs",
        "masks-not-cancelled",
    ),
    entry("other-signs", FIVE, using(party=OtherSigns, server=OtherSignsOff)),
    entry(
        "both-secrets-revealed",
        FIVE,
        using(party=TellsBoth, server=AsksForBoth),
        (RECOVERY,),
        "the-reference",
        "both-masks-revealed",
    ),
    entry("the-reference", FIVE, using()),
    entry(
        "keys-of-16-bits", TEN, using(party=FewKeys), (MASKS,), "keys-of-256-bits", "keys-repeat"
    ),
    entry("keys-of-256-bits", TEN, using(party=ManyKeys)),
]
