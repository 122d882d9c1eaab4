"""Evidence that what parties send is not uniform modulo m, or not independent."""

import math

import numpy as np
from numpy.typing import NDArray

from ....evidence.mixture import log_mean_of
from ....findings.note import Note
from ...numbers.evidence.uniform import LEAVES, UniformEvidence, leaves
from .alike import AlikeResidues

Rows = NDArray[np.int64] | NDArray[np.object_]
"""Residues (parties, d): beyond 2^62 as whole numbers of Python."""

_OWN = 16
"""Parties that are a group of their own, at most."""

_NEARLY_ALL, _FILLED = 0.99, 0.95  # of the masks, and of the modulus
_HEAPED = 5.0  # times what masks that fill their part evenly have around 0

_ROUNDS, _NUMBERS, _PARTIES = (
    "mask-kept-across-rounds",
    "mask-shared-by-numbers",
    "mask-shared-by-parties",
)

BETWEEN = {
    "next": Note(_ROUNDS, "a party's masks are those of its round before", {"of": "before"}),
    "first": Note(_ROUNDS, "a party's masks are those of its first round", {"of": "first"}),
    "coordinates": Note(_NUMBERS, "a party's numbers share one mask", {"all": True}),
    "parties": Note(_PARTIES, "parties share their masks", {"all": True}),
    "some coordinates": Note(
        _NUMBERS, "some of a party's numbers share their masks", {"all": False}
    ),
    "some parties": Note(_PARTIES, "some parties share their masks", {"all": False}),
    "any coordinates": Note(
        _NUMBERS, "a party's masks come again in other numbers of the round", {"all": False}
    ),
    "any parties": Note(
        _PARTIES, "a party's masks come again in numbers of other parties", {"all": False}
    ),
}
"""Ways to reuse masks, and the cause that each shows."""

_ANYWHERE = ("any coordinates", "any parties")
_SURE = 15.0  # nats of a more special way, which is then told in place of one of these


class MaskEvidence:
    """The mean of wagers on rows that parties send, each round with all of them.

    modulus: of the numbers; parties: in a round; rng: draws where in its step of 1/m a residue
    lies; width: within which noise leaves two numbers of one mask. Under the null all rows but the
    last of a round are independent and uniform, whatever the values: where only pairs mask, the
    last row follows from the others and the tally. A wager is on the residues, of all parties or of
    one, or on differences: of next rounds, of a round and the first one, of next coordinates, of
    next parties, and of both in an order drawn for the round, so that any two come to be compared.
    The values are taken off before, so that masks that are used again leave 0 and noise.
    Differences of uniform independent residues are such residues too. Two wagers are on masks that
    are there before in a party's own numbers, or in any of the round, wherever that is.
    """

    def __init__(
        self, modulus: int, parties: int, rng: np.random.Generator, width: int = 1
    ) -> None:
        self.modulus, self._rng = modulus, rng
        self.own = sorted({round(k) for k in np.linspace(0, parties - 2, min(_OWN, parties - 1))})
        self.names = ["all", *(f"party {k + 1}" for k in self.own), *BETWEEN]
        self._alike = {name: AlikeResidues(modulus, width) for name in _ANYWHERE}
        self.wagers: dict[str, UniformEvidence | AlikeResidues] = {
            name: self._alike.get(name) or UniformEvidence() for name in self.names
        }
        # by where in the modulus they lie: for diagnoses alone
        self._where = {name: np.zeros(LEAVES) for name in self.names}
        self._before: Rows | None = None
        self._first: Rows | None = None

    def observe(self, sent: Rows, values: Rows) -> None:
        """Adds a round: what parties sent (parties, d), and the values (parties, d) behind it."""
        rows, masks = sent[:-1], ((sent - values) % self.modulus)[:-1]
        self._add("all", rows)
        for k in self.own:
            self._add(f"party {k + 1}", rows[k])
        if self._before is not None and self._first is not None:
            self._add("next", masks - self._before)
            if self._first is not self._before:
                self._add("first", masks - self._first)
        else:
            self._first = masks
        self._before = masks
        self._add("coordinates", masks[:, :-1] - masks[:, 1:])
        self._add("parties", masks[:-1] - masks[1:])
        across = masks[:, self._rng.permutation(masks.shape[1])]
        self._add("some coordinates", across[:, :-1] - across[:, 1:])
        down = masks[self._rng.permutation(len(masks))]
        self._add("some parties", down[:-1] - down[1:])
        for row in masks:
            self._alike["any coordinates"].observe(row)
        self._alike["any parties"].observe(masks.T.ravel())

    def _add(self, name: str, residues: Rows) -> None:
        held = (residues % self.modulus).astype(np.float64).ravel()
        if held.size:
            # around 0, so that small differences of either sign lie together
            uniform = ((held + self._rng.random(held.size)) / self.modulus + 0.5) % 1.0
            counts = np.bincount(leaves(uniform), minlength=LEAVES).astype(np.float64)
            wager = self.wagers[name]
            assert isinstance(wager, UniformEvidence)
            wager.observe(counts)
            self._where[name] += counts

    def narrow(self, name: str, noise: float) -> float | None:
        """The share of the modulus, in one piece, that what a wager looks at nearly always fills.

        None where that is all of it, or where most of it lies at 0 but for noise of this share of
        the modulus, as where a mask is used again, or there is none.
        """
        counts = self._where[name]
        sums = np.concatenate([[0.0], np.cumsum(np.tile(counts, 2))])
        ends = np.searchsorted(sums, sums[:LEAVES] + _NEARLY_ALL * counts.sum())
        filled = float((ends - np.arange(LEAVES)).min()) / LEAVES
        near = max(2, math.ceil(noise * LEAVES))
        middle = slice(LEAVES // 2 - near, LEAVES // 2 + near)
        at_zero = float(counts[middle].sum() / max(1.0, counts.sum()))
        evenly = 2.0 * near / LEAVES / filled
        if filled >= _FILLED or at_zero > min(0.5, _HEAPED * evenly):
            return None
        return filled

    @property
    def log_e_value(self) -> float:
        """Natural log of the mean of all wagers."""
        return log_mean_of(np.array([wager.parts for wager in self.wagers.values()]))

    @property
    def likeliest(self) -> str:
        """The name of the wager that shows most; one party alone only if all do not show it."""
        logs = {name: log_mean_of(np.array(w.parts)) for name, w in self.wagers.items()}
        special = max(value for name, value in logs.items() if name not in _ANYWHERE)
        best = special if special >= _SURE else max(logs.values())
        return next(name for name in self.names if logs[name] >= 0.9 * best)


class Keys:
    """Public keys of rounds; a repeat is a proof, as two new keys are never alike."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}
        self._seen: dict[str, tuple[int, int]] = {}
        self._own: dict[int, set[str]] = {}
        self._starting = False
        self.rounds = 0

    def start_anew(self) -> None:
        """Says that the next round is the first of another start.

        A party may take up a key there that it had before, as one that is kept on disk.
        """
        self._starting = True

    def repeated(self, keys: dict[int, str]) -> tuple[str, tuple[int, int], tuple[int, int]] | None:
        """A key that another party has, or one party again; with party and round of both.

        A party that keeps its key from round to round repeats nothing.
        """
        self.rounds += bool(keys)
        found = None
        for party, key in keys.items():
            before = self._seen.get(key)
            kept = self._last.get(party) == key
            kept |= self._starting and key in self._own.get(party, ())
            if before is not None and not kept and found is None:
                found = key, before, (party, self.rounds)
            self._seen.setdefault(key, (party, self.rounds))
            self._own.setdefault(party, set()).add(key)
        self._starting = self._starting and not keys
        self._last.update(keys)
        return found
