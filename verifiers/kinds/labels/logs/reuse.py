"""Wagers that rows of a log reuse earlier noise: labels that are copies, and noise that is shared.

Those of a run (`checks/fresh_noise.py`) count distances within a few histograms. A log has a law
for each row, and a fault that may set in at any of them.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax
from .....reference.arrays import Matrix, Vector
from ....evidence.kept_noise import log_ratios_given
from ....evidence.onset import OnsetEvidence
from ....findings.note import Note
from ....inputs.release_log import Row
from ..mechanism import LabelsMechanism
from .laws import EXPONENTS, Histogram

Bits = NDArray[np.uint64]
"""Bit set (w,) of the fixed noise draws that give a row its label."""

COPIED, LAGGED, SIDE_BY_SIDE = 0.5, 0.2, 0.1
"""Weights of wagers: copied labels, noise of some rows before, and, for each kind of party, noise
shared place by place."""

KEPT = 2
"""Index of the wager on kept answers: nearly all labels, of the same histogram."""

_RATES = (0.02, 0.2, 0.9)  # shares of copies among labels
_OF = {
    "histogram": "the label before of the same histogram",
    "row": "the label of the row before",
    "worker": "the label before of the same worker",
}
_SHARES = np.array([0.95, 0.3])  # shares of labels with the noise of the earlier one
_DRAWS = 1_024
_LAGS = 16  # largest distance, in rows, from which noise may come
_PLACES = 512  # first labels of each worker, client or call that are compared with others' labels
_PAIRED = 8  # workers, or clients, the first to occur, that are compared in pairs
_MOST_BYTES = 100_000_000  # most bytes of each table
_FOLLOWED = 10_000  # most workers, clients or calls whose labels are kept, the latest ones


class Reuse:
    """Wagers on one way to reuse noise, each from the row on at which it may set in."""

    SAVED: tuple[str, ...] = ("evidence",)

    def __init__(self, weights: Vector) -> None:
        self.evidence = OnsetEvidence(weights)

    @property
    def likeliest(self) -> tuple[float, Note]:
        """The wager with most evidence: its log-ratio since its onset, and what it says."""
        at = int(np.argmax(self.evidence.recent))
        return float(self.evidence.recent[at]), self.cause(at)

    def cause(self, at: int) -> Note:
        """What a wager says, by its index."""
        raise NotImplementedError


class CopiedLabels(Reuse):
    """Wagers that a label is, with probability r, a copy of an earlier one.

    Under the claim a label is a draw from Q(H) whatever came before, so that ((1 - r) Q(y) +
    r 1{y is the earlier label}) / Q(y) has expectation 1. Labels without an earlier one do not
    count. last: the latest outcome of each histogram, which this updates; None for a deployment
    that keeps answers, where each histogram is drawn for once. repeated: rows whose histogram
    occurred before; missed: `Laws.missed` of the wager on kept answers, summed over rows.
    """

    SAVED = (*Reuse.SAVED, "repeated", "missed", "before", "of_worker")

    def __init__(self, last: dict[Histogram, int] | None) -> None:
        wagers = len(_RATES) * len(_OF)
        super().__init__(np.full(wagers, 1 / wagers))
        self.repeated = 0
        self.missed = np.zeros(len(EXPONENTS))
        self.last = last
        self.of_worker: dict[str, int] = {}
        self.before = -1

    def observe(self, rows: Sequence[Row], log_law: Matrix, outcomes: NDArray[np.int64]) -> Vector:
        """Adds rows with the claimed log-laws (n, o); the log-e-value (n,) after each of them."""
        earlier = self._earlier(rows, outcomes)
        self._expect(log_law[earlier[:, 0] >= 0])
        log_q = np.take_along_axis(log_law, outcomes[:, None], 1)
        same = np.where(earlier == outcomes[:, None], 0.0, -np.inf) - log_q
        rates = np.array(_RATES)
        ratios = np.logaddexp(np.log1p(-rates), same[..., None] + np.log(rates))
        ratios = np.where((earlier < 0)[..., None], 0.0, ratios)
        return self.evidence.observe(ratios.reshape(len(rows), -1))

    def _expect(self, log_law: Matrix) -> None:
        """Adds rows with log-laws (n, o) to `missed`.

        The kept label of each is assumed to be the likeliest one, which tells least.
        """
        rate, s = _RATES[KEPT], np.array(EXPONENTS)[:, None]
        q = np.exp(log_law.max(-1))
        others = (1.0 - rate) ** (1.0 - s) * (1.0 - q)
        same = ((1.0 - rate) * q + rate) ** (1.0 - s) * q**s
        self.missed += np.log(others + same).sum(-1)

    def _earlier(self, rows: Sequence[Row], outcomes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels (n, 3) of which each could be a copy, in the order of `_OF`; -1 for none."""
        found = np.full((len(rows), len(_OF)), -1, dtype=np.int64)
        for place, (row, outcome) in enumerate(zip(rows, outcomes.tolist(), strict=True)):
            found[place, 1], self.before = self.before, outcome
            if self.last is not None:
                found[place, 0] = self.last.get(row.histogram, -1)
                self.last[row.histogram] = outcome
            if row.worker is not None:
                found[place, 2] = self.of_worker.pop(row.worker, -1)
                _add_latest(self.of_worker, row.worker, outcome)
        self.repeated += int((found[:, 0] >= 0).sum())
        return found

    def cause(self, at: int) -> Note:
        kind, rate = divmod(at, len(_RATES))
        of, words = list(_OF.items())[kind]
        message = f"about {_RATES[rate]:.0%} of the labels are copies of {words}"
        return Note("labels-copied", message, {"share": _RATES[rate], "of": of})


class NoiseTable:
    """Which of `_DRAWS` fixed draws of the claimed noise give a histogram an outcome.

    Any fixed draws would be valid; those of the claimed noise have power.
    """

    def __init__(self, claim: LabelsMechanism) -> None:
        rng = np.random.default_rng(0)
        self.claim, mechanism = claim, claim.mechanism()
        self._noise = mechanism.noise.unrounded.sample(rng, (_DRAWS, claim.classes))
        self._screen: Vector | None = None
        if isinstance(mechanism, ConfidentGNMax):
            self._screen = mechanism.threshold_noise.sample(rng, (_DRAWS,)) - mechanism.threshold
        self._outcomes_of = lru_cache(_MOST_BYTES // (2 * _DRAWS))(self._outcomes)
        self.bits = lru_cache(_MOST_BYTES // (_DRAWS // 8))(self._bits)
        """`(histogram, outcome) -> draws`: those that give a histogram (c,) this outcome."""

    def _bits(self, histogram: Histogram, outcome: int) -> Bits:
        return np.packbits(self._outcomes_of(histogram) == outcome).view(np.uint64)

    def _outcomes(self, histogram: Histogram) -> NDArray[np.int16]:
        votes = np.array(histogram, dtype=np.float64)
        found = (votes + self._noise).argmax(-1).astype(np.int16)
        if self._screen is not None:
            found[votes.max() + self._screen < 0.0] = self.claim.classes
        return np.asarray(found)


def _log_ratios(bits: Bits, earlier: Bits, log_q: Vector) -> Matrix:
    """Log-ratios (n, shares) of "labels have the noise of earlier ones", by `_SHARES`.

    bits, earlier: (n, w); log_q: claimed log-probabilities (n,).
    """
    both = np.bitwise_count(bits & earlier).sum(-1, dtype=np.float64)
    alone = np.bitwise_count(earlier).sum(-1, dtype=np.float64)
    return log_ratios_given(both, alone, np.exp(log_q), _SHARES).T


class LaggedNoise(Reuse):
    """Wagers that labels have the noise of the row 1 to `_LAGS` rows before.

    last: bits of the last rows (at most `_LAGS`, w).
    """

    SAVED = (*Reuse.SAVED, "last")

    def __init__(self) -> None:
        columns = _LAGS * _SHARES.size
        super().__init__(np.full(columns, 1.0 / columns))
        self.last: Bits = np.zeros((0, _DRAWS // 64), dtype=np.uint64)

    def observe(self, bits: Bits, log_q: Vector) -> Vector:
        """Adds labels as bits (n, w); returns the log-e-value (n,) after each of them."""
        known = np.vstack([self.last, bits])
        begins, number = len(self.last), len(bits)
        ratios = np.zeros((number, _LAGS, _SHARES.size))
        for lag in range(1, _LAGS + 1):
            from_row = max(lag - begins, 0)  # the first row with one so far back
            if from_row < number:
                earlier = known[begins + from_row - lag : begins + number - lag]
                ratios[from_row:, lag - 1] = _log_ratios(bits[from_row:], earlier, log_q[from_row:])
        self.last = known[-_LAGS:]
        return self.evidence.observe(ratios.reshape(number, -1))

    def cause(self, at: int) -> Note:
        lag, share = at // _SHARES.size + 1, float(_SHARES[at % _SHARES.size])
        rows = "the row before" if lag == 1 else f"the row {lag} before"
        message = f"{_often(share)} have the noise of {rows}"
        return Note("noise-reused", message, {"share": share, "rows_before": lag})


class NoiseOfParties(Reuse):
    """Wagers that the n-th labels of two parties (workers, clients or calls) share their noise.

    Each n-th label is compared with the latest n-th label of any other party and, if `paired`, the
    first few parties are compared in pairs. kind: of the parties, in a word; value: the log-e-value
    so far; seen: how many labels each party gave; names: the parties that are compared in pairs;
    latest: bits (n, w) of the latest label at each place; paired: bits (parties, n, w) of those of
    `names`, all zero where there is no label yet.
    """

    SAVED = (*Reuse.SAVED, "value", "seen", "names", "latest", "paired")

    def __init__(self, kind: str, *, paired: bool = True) -> None:
        self.kind, self.most = kind, _PAIRED if paired else 0
        pairs = self.most * (self.most - 1) // 2
        weights = np.full(pairs + 1, 0.5 / max(pairs, 1))
        weights[0] = 0.5 if pairs else 1.0
        super().__init__(np.repeat(weights, _SHARES.size) / _SHARES.size)
        self.value = 0.0
        self.seen: dict[str, int] = {}
        self.names: list[str] = []
        width = _DRAWS // 64
        self.latest: Bits = np.zeros((0, width), dtype=np.uint64)
        self.paired: Bits = np.zeros((self.most, 0, width), dtype=np.uint64)

    def observe(self, names: Sequence[str | None], bits: Bits, log_q: Vector) -> Vector:
        """Adds labels as bits (n, w) with their party; returns the log-e-value (n,) after each."""
        met = [
            (row, column, known)
            for row, name in enumerate(names)
            if name is not None
            for column, known in self._partners(name, bits[row])
        ]
        values = np.full(len(names), np.nan)
        if met:
            rows, columns, earlier = (list(part) for part in zip(*met, strict=True))
            wagered = np.unique(rows)
            pairs = self.evidence.log_weights.size // _SHARES.size
            ratios = np.zeros((wagered.size, pairs, _SHARES.size))
            gained = _log_ratios(bits[rows], np.array(earlier), log_q[rows])
            ratios[np.searchsorted(wagered, rows), columns] = gained
            values[wagered] = self.evidence.observe(ratios.reshape(wagered.size, -1))
        # where nothing was wagered, the value before stands
        at = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(values.size)))
        values = np.where(at < 0, self.value, values[np.maximum(at, 0)])
        if values.size:
            self.value = float(values[-1])
        return values

    def _partners(self, name: str, bits: Bits) -> list[tuple[int, Bits]]:
        """Columns of the wagers on a label, each with the bits compared; stores the label."""
        place = self._place(name)
        if place >= _PLACES:
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
        place = self.seen.pop(name, 0)
        if not place and len(self.names) < self.most and name not in self.names:
            self.names.append(name)
        _add_latest(self.seen, name, place + 1)
        return place

    def cause(self, at: int) -> Note:
        pair, share = at // _SHARES.size, float(_SHARES[at % _SHARES.size])
        fields: dict[str, str | float] = {"share": share, "parties": self.kind}
        if not pair:
            whose = f"of another {self.kind}'s label of the same number"
            message = f"{_often(share)} have the noise {whose}"
        else:
            high = next(h for h in range(_PAIRED) if h * (h + 1) // 2 >= pair)
            low = pair - 1 - high * (high - 1) // 2
            first, second = sorted((self.names[low][:60], self.names[high][:60]))
            both = f"{self.kind}s {first!r} and {second!r}"
            message = (
                f"{_often(share)} of {both} have the same noise, the n-th of one and of the other"
            )
            fields |= {"first": first, "second": second}
        return Note("noise-shared-by-parties", message, fields)


def _add_latest(latest: dict[str, int], name: str, value: int) -> None:
    """Adds a party that is not there as the most recent; the least recent one is forgotten."""
    latest[name] = value
    if len(latest) > _FOLLOWED:
        del latest[next(iter(latest))]


def _longer(kept: Bits, axis: int) -> Bits:
    """`kept` with one more place along `axis`."""
    shape = [*kept.shape]
    shape[axis] = 1
    return np.concatenate([kept, np.zeros(shape, dtype=np.uint64)], axis)


def _often(share: float) -> str:
    return "nearly all labels" if share > 0.5 else f"about {share:.0%} of the labels"
