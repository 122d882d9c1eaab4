"""Rounds of a tally: what a target of them is given, and what its reply may show."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import NumberRelease
from .replies import CallError, shown

LEAVES = ("stays", "leaves before keys", "leaves before its values", "leaves after its values")
"""When a party leaves a round, by the number that a target is given."""


@dataclass(frozen=True)
class ShownRound:
    """What a round shows.

    All but the tally may be empty.

    Attributes:
        tally: its numbers, as released.
        sent: by party, from 1, what it has sent.
        keys: by party, its public key of the round, as text.
        revealed: whose self masks ("self") and whose pairwise keys ("pair") were recovered.
        ciphertexts: by party, what it has sent encrypted, as texts.
    """

    tally: tuple[int, ...]
    sent: Mapping[int, tuple[int, ...]]
    keys: Mapping[int, str]
    revealed: Mapping[str, tuple[int, ...]]
    ciphertexts: Mapping[int, tuple[str, ...]]


_SHORTEST = 32
"""Characters of a ciphertext: as few as 128 bits have, so that none are alike by chance."""

_EXACT = 2.0**53
"""Up to which floats have every whole number."""


class _Unwrapped(np.ndarray[Any, np.dtype[np.float64]]):
    """Tallies that were read already; shown: all that their rounds have shown."""

    shown: Sequence[ShownRound] = ()


def shown_with(releases: NDArray[Any]) -> Sequence[ShownRound]:
    """What the rounds of one reply have shown beside their tallies; empty where it is not known."""
    return releases.shown if isinstance(releases, _Unwrapped) else ()


class TallyRelease(NumberRelease):
    """The `Release` of an aggregator of rounds: two arrays in, tallies (size, d) modulo m out.

    An input is a list of the values (parties, d) and, of each party, when it leaves (parties,), 0
    to 3. A round in a reply is its numbers, or an object with `tally` and, where the target can
    show it, `sent` (a row of each party, null of one that has sent nothing), `keys` (a text of
    each), `ciphertexts` (a text of each, or a list of them) and `revealed`
    (`{"self": [...], "pair": [...]}`, parties from 1).
    """

    given = "round"

    def __init__(self, parties: int, dimensions: int, modulus: int, *, signed: bool) -> None:
        super().__init__("tensors", dimensions, [[dimensions], []])
        self.parties, self.modulus = parties, modulus
        self._least = -(modulus // 2) if signed else 0

    def input_text(self, values: Any) -> str:
        """The values if they are few, and who leaves when."""
        held, leaves = (np.asarray(part) for part in values)
        text = f"{self.parties} parties" if held.size > 12 else str(held.tolist())
        gone = [f"{k + 1} {LEAVES[int(when)]}" for k, when in enumerate(leaves) if when]
        more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
        return text + ("" if not gone else f", {', '.join(gone[:3])}{more}")

    def exact(self, values: Any) -> NDArray[np.int64]:
        """The sum (d,) of the values that are sent."""
        held, leaves = (np.asarray(part) for part in values)
        return np.asarray(held[(leaves == 0) | (leaves == 3)].sum(0), dtype=np.int64)

    def shaped(self, reply: Any, values: Any, size: int) -> NDArray[Any]:
        """Float64 (size, d), of the residues those nearest to the sums."""
        if isinstance(reply, _Unwrapped):  # of the parts of a call
            return reply
        exact = self.exact(values)
        rounds = self.rounds(reply, values, size)
        found = np.array([self.unwrapped(seen.tally, exact) for seen in rounds], dtype=np.float64)
        tallies = found.reshape(size, self.dimensions).view(_Unwrapped)
        tallies.shown = rounds
        return tallies

    def unwrapped(self, residues: Sequence[int], near: NDArray[np.int64]) -> list[int]:
        """Of the numbers with these residues those nearest to `near` (d,)."""
        half = self.modulus // 2
        whole = [int(x) for x in near]
        return [
            x + (y - x + half) % self.modulus - half for y, x in zip(residues, whole, strict=True)
        ]

    def rounds(self, reply: Any, values: Any, size: int) -> list[ShownRound]:
        """What the rounds of a reply show. Raises CallError that says what is allowed."""
        call = self.text(values, size)
        if isinstance(reply, np.ndarray):
            reply = reply.tolist()
        if not isinstance(reply, Sequence) or isinstance(reply, str) or len(reply) != size:
            raise CallError(call, f"returned {shown(reply)}: expected a list of {size} rounds")
        return [self._round(found, call) for found in reply]

    def _round(self, found: Any, call: str) -> ShownRound:
        if not isinstance(found, Mapping):
            return ShownRound(self._residues(found, call, "tally", self._least), {}, {}, {}, {})
        if "tally" not in found:
            raise CallError(call, f"gave a round with {shown(list(found))}: expected its tally")
        sent = {
            number: self._residues(row, call, f"what party {number} has sent", 0)
            for number, row in self._by_party(found.get("sent"), call)
        }
        keys = {
            number: _key(key, number, call)
            for number, key in self._by_party(found.get("keys"), call)
        }
        ciphertexts = {
            number: _ciphertexts(texts, number, call)
            for number, texts in self._by_party(found.get("ciphertexts"), call)
        }
        revealed = found.get("revealed") or {}
        if not isinstance(revealed, Mapping) or {*revealed} - {"self", "pair"}:
            raise CallError(call, f"revealed {shown(revealed)}: expected self and pair")
        whose = {str(what): self._numbers(of, call) for what, of in revealed.items()}
        tally = self._residues(found["tally"], call, "tally", self._least)
        return ShownRound(tally, sent, keys, whose, ciphertexts)

    def _numbers(self, given: Any, call: str) -> tuple[int, ...]:
        rows = given.tolist() if isinstance(given, np.ndarray) else given
        if isinstance(rows, Sequence) and all(
            _is_whole(n) and 1 <= n <= self.parties for n in rows
        ):
            return tuple(int(n) for n in rows)
        allowed = f"expected numbers of parties, counted from 1, the first, to {self.parties}"
        raise CallError(call, f"revealed {shown(given)}: {allowed}")

    def _by_party(self, rows: Any, call: str) -> Iterator[tuple[int, Any]]:
        if rows is None:
            return
        if not isinstance(rows, Sequence | np.ndarray) or len(rows) != self.parties:
            raise CallError(call, f"showed {shown(rows)}: expected a row of each party, or null")
        for number, row in enumerate(rows, start=1):
            if row is not None:
                yield number, row

    def _residues(self, given: Any, call: str, what: str, least: int) -> tuple[int, ...]:
        row = given.tolist() if isinstance(given, np.ndarray) else given
        wanted = f"expected {self.dimensions} whole numbers"
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != self.dimensions:
            raise CallError(call, f"gave {shown(given)} as {what}: {wanted}")
        found = []
        for each in row:
            if not _is_whole(each):
                raise CallError(call, f"gave {shown(each)} in {what}: {wanted}")
            most = least + self.modulus - 1
            if not least <= int(each) <= most:
                allowed = f"expected {least} to {most}, modulo {self.modulus}"
                if least < 0 and most < int(each) < self.modulus:
                    allowed += '; numbers from 0 on need released = "residues" in the claim'
                raise CallError(call, f"gave {int(each)} in {what}: {allowed}")
            found.append(int(each))
        return tuple(found)


def _ciphertexts(given: Any, party: int, call: str) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str | bytes | bytearray) else given
    wanted = f"expected texts of {_SHORTEST} characters at least, as base64 or hexadecimal"
    if not isinstance(texts, Sequence) or not texts:
        raise CallError(call, f"gave {shown(given)} as ciphertexts of party {party}: {wanted}")
    found = [_text(each) for each in texts]
    for text in found:
        if not isinstance(text, str) or len(text) < _SHORTEST:
            raise CallError(call, f"gave {shown(text)} in ciphertexts of party {party}: {wanted}")
    return tuple(found)


def _key(given: Any, party: int, call: str) -> str:
    key = str(given) if is_whole_number(given) else _text(given)
    if not isinstance(key, str) or not key:
        raise CallError(call, f"gave {shown(given)} as key of party {party}: expected a text")
    return key


def _text(given: Any) -> Any:
    """Bytes as hexadecimal; all else as it is."""
    return given.hex() if isinstance(given, bytes | bytearray) else given


def _is_whole(each: Any) -> bool:
    whole = isinstance(each, float) and each.is_integer() and abs(each) <= _EXACT
    return whole or is_whole_number(each)


def is_whole_number(each: Any) -> bool:
    """Whether a value is of a type of whole numbers; a bool is none."""
    return isinstance(each, int | np.integer) and not isinstance(each, bool)


def no_text(value: Any) -> Any:
    """What JSON has no form for: bytes in hexadecimal, an object by type and text, to be refused.

    The text of an object is no ciphertext or key: it may name a type alone, alike for all.
    """
    text = _text(value)
    return text if isinstance(text, str) else {type(value).__name__: repr(value)[:60]}
