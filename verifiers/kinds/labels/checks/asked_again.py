"""Evidence of `fresh-noise` that labels which should be new draws repeat foreseen ones."""

from collections.abc import Sequence

import numpy as np

from .....reference.mechanisms import Labels
from ....evidence import as_outcomes, log_e_value_again
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES

_SPARE = 2.0  # evidence if all answers repeat, over that needed, from which a test has power
_METHODS = 2  # that share the check's error: an emptied store, and a new start


class AskedAgain:
    """Tests whether labels of some histograms are new draws, or repeat foreseen labels.

    histograms: asked for one label each, in this order; foreseen: the label that each would repeat.
    Null hypothesis: each label is a draw of its claimed law, independent of everything before.
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
        """Adds the label (1,) of the next histogram."""
        self._again.append(int(label[0]))

    @property
    def asked(self) -> int:
        """How many histograms have been asked."""
        return len(self._again)

    @property
    def same(self) -> list[bool]:
        """For each histogram asked so far, whether its label is the foreseen one."""
        return [again == label for again, label in zip(self._again, self._foreseen, strict=False)]

    @property
    def by_chance(self) -> float:
        """Expected number of foreseen labels under the null."""
        return float(np.exp(self._log_q[: self.asked]).sum())

    @property
    def log_e_value(self) -> float:
        """Log e-value against new draws."""
        same = np.array(self.same, dtype=bool)
        return log_e_value_again(self._log_q[: same.size], same) if same.size else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the evidence has reached the threshold."""
        return self.log_e_value >= self.log_threshold

    @property
    def tells(self) -> bool:
        """Whether the test has power: repeating all labels would have refuted."""
        return float(-self._log_q.sum()) >= _SPARE * self.log_threshold
