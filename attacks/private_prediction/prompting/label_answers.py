"""Which label a language model's answer is, and which tokens spell the labels."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

_WHOLE = re.compile(r"(?<![0-9.\-])[0-9]+(?![0-9]|\.[0-9])")


def label_said(answer: str, classes: int) -> int | None:
    """The first whole number of an answer that is a label, 0 to c - 1; None where there is none.

    A part of a longer number, a decimal one or a negative one is no label.
    """
    numbers = (int(found) for found in _WHOLE.findall(answer))
    return next((number for number in numbers if number < classes), None)


@dataclass(frozen=True)
class LabelTokens:
    """The token sequences that spell a label, with or without a space before it, and the ends.

    After a whole label only an end may follow, or what makes it another label: so 1 is told from
    10, which a model that writes digit by digit begins alike.
    """

    spelt: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, encode: Callable[[str], Sequence[int]], classes: int, ends: Sequence[int]) -> Self:
        """The tokens of the labels by a tokenizer's `encode`, which adds no special tokens."""
        labels = [f"{space}{label}" for label in range(classes) for space in ("", " ")]
        return cls(tuple(dict.fromkeys(tuple(encode(label)) for label in labels)), tuple(ends))

    @property
    def longest(self) -> int:
        """The most tokens that a label takes, its end among them."""
        return max(map(len, self.spelt)) + 1

    def allowed(self, written: Sequence[int]) -> list[int]:
        """The tokens that may follow those written so far; an end after an end."""
        begun = tuple(written)
        following = {
            spelt[len(begun)]
            for spelt in self.spelt
            if len(spelt) > len(begun) and spelt[: len(begun)] == begun
        }
        if begun in self.spelt or not following:
            following.update(self.ends)
        return sorted(following)
