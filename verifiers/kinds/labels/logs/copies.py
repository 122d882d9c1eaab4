"""The wager that labels of a log are copies of earlier ones."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.onset import OnsetEvidence
from ....findings.note import Note
from ....inputs.release_log import Row
from .laws import EXPONENTS

_RATES = (0.02, 0.2, 0.9)  # shares of copies among labels
_OF = {
    "histogram": "the label before of the same histogram",
    "row": "the label of the row before",
    "worker": "the label before of the same worker",
}
_WORKERS = 10_000
_KEPT = len(_RATES) - 1  # index of the wager on kept answers: nearly all, of the same histogram


class Copies:
    """Wagers that a label is, with probability r, a copy of an earlier one.

    Under the claim a label is a draw from Q(H) whatever came before, so that ((1 - r) Q(y) +
    r 1{y is the earlier label}) / Q(y) has expectation 1. Labels without an earlier one do not
    count. last: the latest outcome of each histogram, which this updates; None for a deployment
    that keeps answers, where each histogram is drawn for once.
    """

    SAVED = ("repeated", "missed", "before")
    """Attributes that a saved state holds, beside the evidence and the labels of workers."""

    def __init__(self, last: dict[tuple[int, ...], int] | None) -> None:
        self.evidence = OnsetEvidence(np.full(len(_RATES) * len(_OF), 1 / (len(_RATES) * len(_OF))))
        self.repeated = 0
        """Rows whose histogram occurred before."""
        self.missed = np.zeros(len(EXPONENTS))
        """`Laws.missed` of the wager on kept answers, summed over rows."""
        self.last = last
        self.of_worker: dict[str, int] = {}
        self.before = -1

    def observe(self, rows: Sequence[Row], log_law: Matrix, outcomes: NDArray[np.int64]) -> Vector:
        """Adds rows with the claimed log-laws (n, o); the log-e-value (n,) after each of them."""
        earlier = self._earlier(rows, outcomes)
        self._expect(log_law[earlier[:, 0] >= 0])
        log_q = np.take_along_axis(log_law, outcomes[:, None], 1)[:, 0]
        return self.evidence.observe(self._ratios(earlier, log_q, outcomes))

    def _expect(self, log_law: Matrix) -> None:
        """Adds rows with log-laws (n, o) to `missed`.

        The kept label of each is assumed to be the likeliest one, which tells least.
        """
        rate, s = _RATES[_KEPT], np.array(EXPONENTS)[:, None]
        q = np.exp(log_law.max(-1))
        others = (1.0 - rate) ** (1.0 - s) * (1.0 - q)
        same = ((1.0 - rate) * q + rate) ** (1.0 - s) * q**s
        self.missed += np.log(others + same).sum(-1)

    def _earlier(self, rows: Sequence[Row], outcomes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels (n, 3) of which each could be a copy, in the order of `_OF`; -1 for none."""
        found = np.full((len(rows), len(_OF)), -1, dtype=np.int64)
        for place, (row, outcome) in enumerate(zip(rows, outcomes.tolist(), strict=True)):
            before = -1 if self.last is None else self.last.get(row.histogram, -1)
            self.repeated += before >= 0
            of_worker = -1 if row.worker is None else self.of_worker.get(row.worker, -1)
            found[place] = (before, self.before, of_worker)
            self.before = outcome
            if self.last is not None:
                self.last[row.histogram] = outcome
            if row.worker is not None:
                self.of_worker.pop(row.worker, None)
                self.of_worker[row.worker] = outcome
                if len(self.of_worker) > _WORKERS:  # the least recent one is forgotten
                    del self.of_worker[next(iter(self.of_worker))]
        return found

    @staticmethod
    def _ratios(earlier: NDArray[np.int64], log_q: Vector, outcomes: NDArray[np.int64]) -> Matrix:
        """Log-ratios (n, a) of each kind of copy, at each rate."""
        same = np.where(earlier == outcomes[:, None], 0.0, -np.inf) - log_q[:, None]
        rates = np.array(_RATES)
        found = np.logaddexp(np.log1p(-rates), same[..., None] + np.log(rates))
        found = np.where((earlier < 0)[..., None], 0.0, found)
        return np.asarray(found.reshape(earlier.shape[0], -1))

    @property
    def likeliest(self) -> tuple[float, Note]:
        """The wager with most evidence: its log-ratio since its onset, and what it says."""
        at = int(np.argmax(self.evidence.recent))
        kind, rate = divmod(at, len(_RATES))
        of, words = list(_OF.items())[kind]
        message = f"about {_RATES[rate]:.0%} of the labels are copies of {words}"
        note = Note("labels-copied", message, {"share": _RATES[rate], "of": of})
        return float(self.evidence.recent[at]), note

    @property
    def log_kept_weight(self) -> float:
        """Log-weight of the wager on kept answers."""
        return float(self.evidence.log_weights[_KEPT])
