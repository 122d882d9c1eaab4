"""Labels that should be new draws, and that come again: what `fresh-noise` says of kept answers."""

from collections.abc import Sequence

import numpy as np

from .....reference.mechanisms import Labels
from ....evidence import as_outcomes, log_e_value_again
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES

_SPARE = 2.0  # times the evidence that refutes, which answers that all come again must give
_METHODS = 2  # what the check's share is divided among: an emptied store, and a new life


class AskedAgain:
    """Whether the labels of some histograms are new draws, or the labels foreseen for them.

    histograms: those to ask for a label each, in this order; foreseen: the label of each that would
    come again. Null hypothesis: each is a draw of its claimed law, independent of what came before.
    """

    def __init__(
        self, claim: LabelsClaim, histograms: Sequence[tuple[int, ...]], foreseen: Sequence[int]
    ) -> None:
        share = SHARES["fresh-noise"] / _METHODS
        self.log_threshold = log_threshold(share, claim.gate.false_alarm)
        self.histograms, self._foreseen = list(histograms), list(foreseen)
        laws = claim.mechanism.mechanism().log_probabilities(
            np.array(self.histograms, dtype=np.float64)
        )
        labels = np.array(self._foreseen, dtype=np.int64)
        own = np.take_along_axis(laws, as_outcomes(labels, laws.shape[1])[:, None], axis=-1)
        self._log_q = own[:, 0]
        self._again: list[int] = []

    def observe(self, label: Labels) -> None:
        """Takes the label (1,) of the next histogram."""
        self._again.append(int(label[0]))

    @property
    def asked(self) -> int:
        """Histograms that were asked so far."""
        return len(self._again)

    @property
    def same(self) -> list[bool]:
        """Of each histogram asked so far, whether its label came again."""
        return [again == label for again, label in zip(self._again, self._foreseen, strict=False)]

    @property
    def by_chance(self) -> float:
        """How many come again by chance."""
        return float(np.exp(self._log_q[: self.asked]).sum())

    @property
    def log_e_value(self) -> float:
        """Evidence that labels come again that should be new."""
        same = np.array(self.same, dtype=bool)
        return log_e_value_again(self._log_q[: same.size], same) if same.size else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the evidence has reached what refutes."""
        return self.log_e_value >= self.log_threshold

    @property
    def tells(self) -> bool:
        """Whether labels that all came again would have refuted."""
        return float(-self._log_q.sum()) >= _SPARE * self.log_threshold
