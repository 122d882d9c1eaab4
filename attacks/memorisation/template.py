"""Canaries: a template with free symbols, and the space of strings that it spans."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Symbols = NDArray[np.int64]
"""Strings of a template as places in its alphabets, (n, m)."""


@dataclass(frozen=True)
class Template:
    """Fixed text around m free symbols, each drawn uniformly from an alphabet of its own.

    pieces: the m + 1 fixed texts before, between and after them; alphabets: of one character or
    more, each character once. `parse` reads the usual notation.
    """

    pieces: tuple[str, ...]
    alphabets: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """The template in `text`, such as `pin of eve: [0-9]{4}`.

        `[...]` is a free symbol, with ranges as in regular expressions; `{n}` after it repeats it;
        a backslash takes the character behind it as it is. Raises ValueError, with the place.
        """
        reader, pieces, alphabets = _Reader(text), [""], []
        while reader.more():
            if reader.took("["):
                for alphabet in reader.free_symbols():
                    alphabets.append(alphabet)
                    pieces.append("")
            else:
                pieces[-1] += reader.character()
        if not alphabets:
            raise ValueError(f"template {text[:60]!r}: no free symbol, expected one as [0-9]")
        return cls(tuple(pieces), tuple(alphabets))

    @property
    def size(self) -> int:
        """How many strings there are, |R|."""
        return math.prod(map(len, self.alphabets))

    @property
    def bits(self) -> float:
        """log2 |R|: the highest exposure that a canary of this template can have."""
        return math.log2(self.size)

    def begun(self, symbols: str) -> str:
        """The string up to the last of these free symbols; the whole string if they are all."""
        pieces = self.pieces[: len(symbols)]
        text = "".join(piece + symbol for piece, symbol in zip(pieces, symbols, strict=True))
        return text + self.pieces[-1] if len(symbols) == len(self.alphabets) else text

    def strings(self, symbols: Symbols) -> list[str]:
        """The strings of n rows of places in the alphabets (n, m)."""
        columns = zip(self.alphabets, symbols.T, strict=True)
        each = [[alphabet[place] for place in column] for alphabet, column in columns]
        return [self.begun("".join(row)) for row in zip(*each, strict=True)]

    def symbols_of(self, canary: str) -> Symbols:
        """The places (m,) of the canary's free symbols. Raises ValueError for another string."""
        found, at = [], 0
        for place, piece in enumerate(self.pieces):
            if not canary.startswith(piece, at):
                raise _misfit(canary, at, repr(piece[:40]))
            at += len(piece)
            if place < len(self.alphabets):
                alphabet = self.alphabets[place]
                if at == len(canary) or canary[at] not in alphabet:
                    raise _misfit(canary, at, f"one of {alphabet[:40]!r}")
                found.append(alphabet.index(canary[at]))
                at += 1
        if at != len(canary):
            raise _misfit(canary, at, "the end")
        return np.array(found, dtype=np.int64)

    def slice(self, start: int, stop: int) -> Symbols:
        """Rows (stop - start, m) of the whole space, in the order of the alphabets."""
        sizes = tuple(map(len, self.alphabets))
        return np.stack(np.unravel_index(np.arange(start, stop), sizes), axis=-1).astype(np.int64)

    def drawn(self, count: int, random: np.random.Generator) -> Symbols:
        """Rows (count, m) drawn uniformly, with replacement."""
        sizes = np.array([len(alphabet) for alphabet in self.alphabets])
        return random.integers(sizes, size=(count, len(sizes)))


class _Reader:
    """The characters of a template's text, one after the other."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def more(self) -> bool:
        return self.at < len(self.text)

    def took(self, wanted: str) -> bool:
        """Whether `wanted` comes next, which is then behind."""
        found = self.text.startswith(wanted, self.at)
        self.at += found * len(wanted)
        return found

    def character(self) -> str:
        """The next character, or the one behind a backslash."""
        self.took("\\")
        if not self.more():
            raise self.wrong("expected a character")
        self.at += 1
        return self.text[self.at - 1]

    def free_symbols(self) -> list[str]:
        """The alphabets of what follows an opening bracket."""
        alphabet = ""
        while not self.took("]"):
            first = last = self.character()
            if self.text[self.at : self.at + 2] not in ("-]", "-") and self.took("-"):
                last = self.character()
            if last < first:
                raise self.wrong(f"{first}-{last} is no range")
            alphabet += "".join(map(chr, range(ord(first), ord(last) + 1)))
        if not alphabet or len(set(alphabet)) < len(alphabet):
            raise self.wrong(f"alphabet {alphabet[:40]!r}: expected characters, each once")
        if not self.took("{"):
            return [alphabet]
        digits, closed, rest = self.text[self.at :].partition("}")
        times = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 4 else 0
        if not (times and closed):
            raise self.wrong("expected {n}, with a whole number from 1 to 999")
        self.at = len(self.text) - len(rest)
        return [alphabet] * times

    def wrong(self, message: str) -> ValueError:
        return ValueError(f"template {self.text[:60]!r}, character {self.at}: {message}")


def _misfit(canary: str, at: int, expected: str) -> ValueError:
    where = f"canary {canary[:60]!r}, character {at + 1}"
    return ValueError(f"{where}: expected {expected}, by the template")
