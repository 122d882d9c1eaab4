"""The noise of the services in `entries.py`, as a worker draws it; KIND says which."""

import os
import secrets
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCALE, CLASSES = 40.0, 10
_POOLED = 4096

Noise = NDArray[np.float64]
Client = tuple[str, int]
"""Address and port of a client: new with each connection."""


def drawn(rng: np.random.Generator, size: int) -> Noise:
    return rng.normal(0.0, SCALE, (size, CLASSES))


class Kept:
    """A generator that is kept for all calls, of a seed made of the worker's number.

    once: it is made before the fork and left as it is.
    """

    def __init__(self, seed: Callable[[int], int | None], *, once: bool = False) -> None:
        self.seed, self.once = seed, once
        self.rng = np.random.default_rng(seed(0))

    def begin(self, number: int) -> None:
        """Called in each worker; its number is 1 for the first of a start."""
        if not self.once:
            self.rng = np.random.default_rng(self.seed(number))

    def draw(self, size: int, client: Client) -> Noise:
        """Noise (size, classes); client: the other end of the connection."""
        return drawn(self.rng, size)


class Raced(Kept):
    """Draws with a copy of the state that all threads share, which is then put in its place."""

    def draw(self, size: int, client: Client) -> Noise:
        mine = np.random.Generator(np.random.PCG64())
        mine.bit_generator.state = self.rng.bit_generator.state
        found = drawn(mine, size)
        self.rng.bit_generator.state = mine.bit_generator.state
        return found


class Anew:
    """Noise that is drawn for each call by itself."""

    def __init__(self, draw: Callable[[int], Noise]) -> None:
        self._draw = draw

    def draw(self, size: int, client: Client) -> Noise:
        return self._draw(size)

    def begin(self, number: int) -> None:
        """All workers draw alike."""


class OfConnections(Kept):
    """Keeps a generator for each connection, and perhaps what it has drawn first.

    once: whether every answer over a connection has the same noise.
    """

    def __init__(self, *, once: bool) -> None:
        super().__init__(lambda number: None, once=once)
        self.generators: dict[Client, np.random.Generator] = {}
        self.first: dict[Client, Noise] = {}

    def draw(self, size: int, client: Client) -> Noise:
        rng = self.generators.setdefault(client, np.random.default_rng())
        if not self.once or size > 1:
            return drawn(rng, size)
        return self.first.setdefault(client, drawn(rng, 1))


def seeded(seed: Callable[[], int]) -> Anew:
    """A generator for each call."""
    return Anew(lambda size: drawn(np.random.default_rng(seed()), size))


def pooled() -> Anew:
    """Rows of noise that were drawn once, in their order from a place at random on."""
    pool = drawn(np.random.default_rng(), _POOLED)

    def draw(size: int) -> Noise:
        first = secrets.randbelow(_POOLED)
        return pool.take(np.arange(first, first + size), 0, mode="wrap")

    return Anew(draw)


KINDS: dict[str, Callable[[], Kept | Anew]] = {
    "own": lambda: Kept(lambda number: None),
    "one": lambda: Kept(lambda number: None, once=True),
    "seven": lambda: Kept(lambda number: 7),
    "number": lambda: Kept(lambda number: number),
    "second": lambda: Kept(lambda number: int(time.time())),
    "race": lambda: Raced(lambda number: None),
    "millisecond": lambda: seeded(lambda: int(1000 * time.time())),
    "16 bits": lambda: seeded(lambda: secrets.randbits(16)),
    "pool": pooled,
    "connection": lambda: OfConnections(once=True),
    "own of connection": lambda: OfConnections(once=False),
}

noise = KINDS[os.environ.get("KIND", "own")]()


def labels(asked: dict[str, Any], client: Client) -> list[int]:
    """The reply's labels to a request's histogram and size, over the connection of a client."""
    found = (np.array(asked["histogram"]) + noise.draw(asked["size"], client)).argmax(1)
    return [int(label) for label in found]
