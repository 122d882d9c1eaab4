"""Features of text that need no package and no training: counts of short runs of characters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....reference.arrays import Integers, Matrix

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: Knuth's multiplicative hash


@dataclass(frozen=True)
class HashedRuns:
    """Runs of bytes of a text in lower case, counted in bins by their hash; rows of length one.

    bits: 2^bits bins, 4 to 20; run: bytes in a run, 1 to 8. The hash is the same in every process,
    unlike Python's own. Call it with texts for a matrix (texts, 2^bits).
    """

    bits: int = 10
    run: int = 3

    def __post_init__(self) -> None:
        if not 4 <= self.bits <= 20:
            raise ValueError(f"bits {self.bits}: expected 4 to 20")
        if not 1 <= self.run <= 8:
            raise ValueError(f"run {self.run}: expected 1 to 8 bytes")

    def __call__(self, texts: Sequence[str] | Matrix) -> Matrix:
        """Features (texts, 2^bits); ValueError for what is not text."""
        found = np.zeros((len(texts), 1 << self.bits))
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"a query of type {type(text).__name__}: expected text")
            counts = np.bincount(self._bins(text), minlength=1 << self.bits)
            found[place] = counts / np.linalg.norm(counts)
        return found

    def _bins(self, text: str) -> Integers:
        margin = " " * self.run  # so that the shortest text has a run, and words have their ends
        raw = (margin + text.lower() + margin).encode("utf-8", "surrogatepass")
        runs = np.lib.stride_tricks.sliding_window_view(np.frombuffer(raw, np.uint8), self.run)
        codes = runs.astype(np.uint64) @ (np.uint64(1) << 8 * np.arange(self.run, dtype=np.uint64))
        return ((codes + np.uint64(1)) * _ODD >> np.uint64(64 - self.bits)).astype(np.int64)
