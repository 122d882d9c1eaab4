"""Masks that come again once parties have left, or after a restart; and correct ones alike."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dpassay.reference.secure_aggregation import Party

from .shelf import FIVE, Make, deployed, entry

MASKS = ("mask-uniformity",)


@dataclass
class Service:
    """Rounds whose parties make their keys and seeds of a text.

    text: of a round, by this service before the round; start: a text of this start; rounds: of it
    so far; leave: whether a party leaves this round, left: the round before; last: the text of the
    round before; shows_keys: whether replies have public keys.
    """

    claim: Any
    rng: Any
    text: Callable[["Service"], str]
    shows_keys: bool = True
    start: str = field(default_factory=lambda: secrets.token_hex(16))
    rounds: int = 0
    leave: bool = False
    left: bool = False
    last: str = ""
    _played: Any = field(init=False)

    def __post_init__(self) -> None:
        service = self

        class Seeded(Party):
            def new_seed(self) -> bytes:
                self.__dict__["asked"] = self.__dict__.get("asked", 0) + 1
                text = f"{service.last} {self.number} {self.__dict__['asked']}"
                return hashlib.sha256(text.encode()).digest()

            def new_key(self) -> X25519PrivateKey:
                return X25519PrivateKey.from_private_bytes(self.new_seed())

        self._played = deployed(self.claim, self.rng, party=Seeded)

    def __call__(self, values: Any, size: int) -> list[Any]:
        return [self._one(values) for _ in range(size)]

    def _one(self, values: Any) -> Any:
        self.leave, self.left = bool(np.any(values[1])), self.leave
        self.last, self.rounds = self.text(self), self.rounds + 1
        (found,) = self._played(values, 1)
        return found if self.shows_keys else {**found, "keys": None}

    def again(self) -> "Service":
        """The service after a restart."""
        return Service(self.claim, self.rng, self.text, self.shows_keys)


def new(service: Service | None = None) -> str:
    """A text that no other round has."""
    return secrets.token_hex(16)


def served(text: Callable[[Service], str], *, shows_keys: bool = True) -> Make:
    return lambda claim, rng: Service(claim, rng, text, shows_keys)


@dataclass
class OneAgain:
    """A party whose rows are masked by itself: by the mask of the round before, where `when` says.

    when: given whether parties left the round before, and whether the service has just started.
    """

    claim: Any
    rng: Any
    when: Callable[[bool, bool], bool]
    first: Any = None
    left: bool = False
    started: bool = True
    mask: Any = None

    def __post_init__(self) -> None:
        self._played = deployed(self.claim, self.rng)

    def __call__(self, values: Any, size: int) -> list[Any]:
        return [self._one(values) for _ in range(size)]

    def _one(self, values: Any) -> Any:
        (found,) = self._played(values, 1)
        if found["sent"][1] is not None:
            modulus = self.claim.mechanism.modulus
            if self.when(self.left, self.started) and self.mask is not None:
                found["sent"][1] = ((values[0][1] + self.mask) % modulus).tolist()
            self.mask = (np.array(found["sent"][1]) - values[0][1]) % modulus
            self.first = self.mask if self.first is None else self.first
            self.started = False
        self.left = bool(np.any(values[1]))
        return found

    def again(self) -> "OneAgain":
        """The service after a restart: the party has its first mask at hand."""
        return OneAgain(self.claim, self.rng, self.when, self.first, mask=self.first)


def one_again(when: Callable[[bool, bool], bool]) -> Make:
    return lambda claim, rng: OneAgain(claim, rng, when)


AGAIN = "mask-kept-across-rounds"

SHELF = [
    entry(
        "keys-of-the-round-with-dropouts",
        FIVE,
        served(lambda now: now.last if now.left else new()),
        MASKS,
        "new-keys-after-dropouts",
        AGAIN,
    ),
    entry(
        "one-seed-for-rounds-with-dropouts",
        FIVE,
        served(lambda now: f"recovery {now.claim}" if now.leave else new(), shows_keys=False),
        MASKS,
        "new-keys-after-dropouts",
        AGAIN,
    ),
    entry(
        "full-rounds-after-dropouts-share-a-seed",
        FIVE,
        served(lambda now: "retry" if now.left and not now.leave else new(), shows_keys=False),
        MASKS,
        "new-keys-after-dropouts",
        AGAIN,
    ),
    entry(
        "a-party-keeps-its-mask-after-dropouts",
        FIVE,
        one_again(lambda left, _: left),
        MASKS,
        "new-keys-after-dropouts",
        AGAIN,
    ),
    entry("new-keys-after-dropouts", FIVE, served(lambda now: f"{now.left} {new()}")),
    entry(
        "seeds-of-the-start",
        FIVE,
        served(lambda now: str(now.rounds), shows_keys=False),
        MASKS,
        "seeds-of-start-and-round",
        AGAIN,
    ),
    entry(
        "keys-of-the-start",
        FIVE,
        served(lambda now: str(now.rounds)),
        MASKS,
        "seeds-of-start-and-round",
        "keys-repeat",
    ),
    entry(
        "seeds-of-the-first-round-of-a-start",
        FIVE,
        served(lambda now: new() if now.rounds else "first", shows_keys=False),
        MASKS,
        "seeds-of-start-and-round",
        AGAIN,
    ),
    entry(
        "a-party-has-its-first-mask-after-a-restart",
        FIVE,
        one_again(lambda _, started: started),
        MASKS,
        "seeds-of-start-and-round",
        AGAIN,
    ),
    entry("seeds-of-start-and-round", FIVE, served(lambda now: f"{now.start}/{now.rounds}")),
]
