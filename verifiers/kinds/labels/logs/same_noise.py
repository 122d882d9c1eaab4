"""Wagers that the label of a row was drawn with the noise of an earlier row."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax
from .....reference.arrays import Matrix, Vector
from ....evidence.onset import OnsetEvidence
from ....findings.note import Note
from ..mechanism import LabelsMechanism

Bits = NDArray[np.uint64]
"""Bit set (w,) of the fixed noise draws that give a row its label."""

DRAWS = 1_024
_SHARED = "noise-shared-by-parties"
LAGS = 16
"""Largest distance, in rows, from which noise may come."""

PLACES = 512
"""How many first labels of each worker, client or call are compared with those of others."""

PAIRED = 8
"""How many workers, or clients, the first to occur, are compared in pairs."""

_SHARES = np.array([0.95, 0.3])  # shares of labels with the noise of the earlier one
_MOST_BYTES = 100_000_000  # most bytes of each table
_FOLLOWED = 10_000  # most workers, clients or calls whose place is kept, the latest ones


class NoiseTable:
    """Which of `DRAWS` fixed draws of the claimed noise give a histogram an outcome.

    Any fixed draws would be valid; those of the claimed noise have power.
    """

    def __init__(self, claim: LabelsMechanism) -> None:
        rng = np.random.default_rng(0)
        self.claim, mechanism = claim, claim.mechanism()
        self._noise = mechanism.noise.unrounded.sample(rng, (DRAWS, claim.classes))
        self._screen: NDArray[np.float64] | None = None
        if isinstance(mechanism, ConfidentGNMax):
            self._screen = mechanism.threshold_noise.sample(rng, (DRAWS,)) - mechanism.threshold
        self._outcomes: dict[tuple[int, ...], NDArray[np.int16]] = {}
        self._bits: dict[tuple[tuple[int, ...], int], Bits] = {}

    def bits(self, histogram: tuple[int, ...], outcome: int) -> Bits:
        """The draws that give `histogram` (c,) this outcome."""
        found = self._bits.get((histogram, outcome))
        if found is None:
            found = np.packbits(self._drawn(histogram) == outcome).view(np.uint64)
            if len(self._bits) > _MOST_BYTES // found.nbytes:
                self._bits.clear()
            self._bits[histogram, outcome] = found
        return found

    def _drawn(self, histogram: tuple[int, ...]) -> NDArray[np.int16]:
        found = self._outcomes.get(histogram)
        if found is None:
            votes = np.array(histogram, dtype=np.float64)
            found = (votes + self._noise).argmax(-1).astype(np.int16)
            if self._screen is not None:
                found[votes.max() + self._screen < 0.0] = self.claim.classes
            if len(self._outcomes) > _MOST_BYTES // found.nbytes:
                self._outcomes.clear()
            self._outcomes[histogram] = found
        return found


def log_ratios(bits: Bits, earlier: Bits, log_q: Vector) -> Matrix:
    """Log-ratios (n, shares) of "labels have the noise of earlier ones", by `_SHARES`.

    bits, earlier: (n, w); log_q: claimed log-probabilities (n,). Given the earlier label, the law
    of the later one is its frequency among the draws that give the earlier, plus one draw of Q.
    """
    q = np.maximum(np.exp(log_q), 1e-300)
    both = np.bitwise_count(bits & earlier).sum(-1, dtype=np.float64)
    given = (both + q) / (np.bitwise_count(earlier).sum(-1, dtype=np.float64) + 1.0)
    return np.asarray(np.log1p(_SHARES * (given / q - 1.0)[:, None]))


class Lagged:
    """Wagers that labels have the noise of the row 1 to `LAGS` rows before."""

    SAVED = ("last",)

    def __init__(self) -> None:
        columns = LAGS * _SHARES.size
        self.evidence = OnsetEvidence(np.full(columns, 1.0 / columns))
        self.last: Bits = np.zeros((0, DRAWS // 64), dtype=np.uint64)
        """Bits of the last rows (at most `LAGS`, w)."""

    def observe(self, bits: Bits, log_q: Vector) -> Vector:
        """Adds labels as bits (n, w); returns the log-e-value (n,) after each of them."""
        known = np.vstack([self.last, bits])
        begins, number = len(self.last), len(bits)
        ratios = np.zeros((number, LAGS, _SHARES.size))
        for lag in range(1, LAGS + 1):
            from_row = max(lag - begins, 0)  # the first row with one so far back
            if from_row < number:
                earlier = known[begins + from_row - lag : begins + number - lag]
                ratios[from_row:, lag - 1] = log_ratios(bits[from_row:], earlier, log_q[from_row:])
        self.last = known[-LAGS:]
        return self.evidence.observe(ratios.reshape(number, -1))

    @property
    def likeliest(self) -> tuple[float, Note]:
        """The wager with most evidence: its log-ratio since its onset, and what it says."""
        at = int(np.argmax(self.evidence.recent))
        lag, share = at // _SHARES.size + 1, float(_SHARES[at % _SHARES.size])
        rows = "the row before" if lag == 1 else f"the row {lag} before"
        message = f"{_often(share)} have the noise of {rows}"
        note = Note("noise-reused", message, {"share": share, "rows_before": lag})
        return float(self.evidence.recent[at]), note


class SideBySide:
    """Wagers that the n-th labels of two parties (workers, clients or calls) share their noise.

    Each n-th label is compared with the latest n-th label of any other party and, if `paired`, the
    first few parties are compared in pairs. kind: of the parties, in a word.
    """

    SAVED = ("latest", "paired")

    def __init__(self, kind: str, *, paired: bool = True) -> None:
        self.kind, self.most = kind, PAIRED if paired else 0
        pairs = self.most * (self.most - 1) // 2
        weights = np.full(pairs + 1, 0.5 / max(pairs, 1))
        weights[0] = 0.5 if pairs else 1.0
        self.evidence = OnsetEvidence(np.repeat(weights, _SHARES.size) / _SHARES.size)
        self.value = 0.0
        """The log-e-value so far."""
        self.seen: dict[str, int] = {}
        self.names: list[str] = []
        """The first few parties, which are compared in pairs."""
        width = DRAWS // 64
        self.latest: Bits = np.zeros((0, width), dtype=np.uint64)
        """Bits (n, w) of the latest label at each place."""
        self.paired: Bits = np.zeros((self.most, 0, width), dtype=np.uint64)
        """Bits (parties, n, w) of the first few; all zero where there is no label yet."""

    def observe(self, names: Sequence[str | None], bits: Bits, log_q: Vector) -> Vector:
        """Adds labels as bits (n, w) with their party; returns the log-e-value (n,) after each."""
        met = [
            (row, column, known)
            for row, name in enumerate(names)
            if name is not None
            for column, known in self._partners(name, bits[row])
        ]
        found = np.full(len(names), np.nan)
        if met:
            rows, columns, earlier = (list(part) for part in zip(*met, strict=True))
            gained = log_ratios(bits[rows], np.array(earlier), log_q[rows])
            wagered = np.unique(rows)
            shape = wagered.size, self.evidence.log_weights.size // _SHARES.size, _SHARES.size
            ratios = np.zeros(shape)
            ratios[np.searchsorted(wagered, rows), columns] = gained
            found[wagered] = self.evidence.observe(ratios.reshape(wagered.size, -1))
        return self._carried_on(found)

    def _carried_on(self, found: Vector) -> Vector:
        """Values (n,), with nan replaced by the value before."""
        at = np.maximum.accumulate(np.where(np.isnan(found), -1, np.arange(found.size)))
        values = np.where(at < 0, self.value, found[np.maximum(at, 0)])
        if values.size:
            self.value = float(values[-1])
        return values

    def _partners(self, name: str, bits: Bits) -> list[tuple[int, Bits]]:
        """Columns of the wagers on a label, each with the bits compared; stores the label."""
        place = self._place(name)
        if place >= PLACES:
            return []
        found = []
        if place < len(self.latest):
            found.append((0, self.latest[place].copy()))
        else:
            self.latest = _longer(self.latest, 0)
        self.latest[place] = bits
        if name in self.names:
            own = self.names.index(name)
            if place >= self.paired.shape[1]:
                self.paired = _longer(self.paired, 1)
            for other in range(len(self.names)):
                if other != own and self.paired[other, place].any():
                    low, high = sorted((own, other))
                    column = 1 + high * (high - 1) // 2 + low
                    found.append((column, self.paired[other, place].copy()))
            self.paired[own, place] = bits
        return found

    def _place(self, name: str) -> int:
        """How many labels a party gave before; the least recent of too many is forgotten."""
        place = self.seen.pop(name, None)
        if place is None and len(self.names) < self.most and name not in self.names:
            self.names.append(name)
        self.seen[name] = (place or 0) + 1
        if len(self.seen) > _FOLLOWED:
            del self.seen[next(iter(self.seen))]
        return place or 0

    @property
    def likeliest(self) -> tuple[float, Note]:
        at = int(np.argmax(self.evidence.recent))
        pair, share = at // _SHARES.size, float(_SHARES[at % _SHARES.size])
        fields: dict[str, str | float] = {"share": share, "parties": self.kind}
        if not pair:
            whose = f"of another {self.kind}'s label of the same number"
            note = Note(_SHARED, f"{_often(share)} have the noise {whose}", fields)
            return float(self.evidence.recent[at]), note
        high = next(h for h in range(PAIRED) if h * (h + 1) // 2 >= pair)
        low = pair - 1 - high * (high - 1) // 2
        first, second = sorted((self.names[low][:60], self.names[high][:60]))
        both = f"{self.kind}s {first!r} and {second!r}"
        message = f"{_often(share)} of {both} have the same noise, the n-th of one and of the other"
        note = Note(_SHARED, message, {**fields, "first": first, "second": second})
        return float(self.evidence.recent[at]), note


def _longer(kept: Bits, axis: int) -> Bits:
    """`kept` with one more place along `axis`."""
    shape = [*kept.shape]
    shape[axis] = 1
    return np.concatenate([kept, np.zeros(shape, dtype=np.uint64)], axis)


def _often(share: float) -> str:
    return "nearly all labels" if share > 0.5 else f"about {share:.0%} of the labels"
