"""Ciphertexts of rounds: one that is seen twice is a proof, as two new ones are never alike."""

import hashlib
from collections.abc import Mapping, Sequence

Place = tuple[int, int]
"""A party, and a round from 1."""


class Ciphertexts:
    """What parties have sent encrypted in all rounds, by digests.

    Probabilistic encryption draws a number of 128 bits or more for each ciphertext, so that the
    same values never give the same bytes, whoever has them.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, Place] = {}
        self.rounds = 0

    @property
    def number(self) -> int:
        """How many have been seen."""
        return len(self._seen)

    @property
    def parties(self) -> int:
        """Of how many parties."""
        return len({party for party, _ in self._seen.values()})

    def repeated(self, sent: Mapping[int, Sequence[str]]) -> tuple[str, Place, Place] | None:
        """A ciphertext of this round that was seen before, with where it was and where it is.

        sent: by party. Adds the round.
        """
        self.rounds += bool(sent)
        found = None
        for party, texts in sent.items():
            for text in texts:
                digest, here = hashlib.sha256(text.encode()).digest(), (party, self.rounds)
                if digest in self._seen and found is None:
                    found = text, self._seen[digest], here
                self._seen.setdefault(digest, here)
        return found
