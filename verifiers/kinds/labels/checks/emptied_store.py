"""Tests whether answers are drawn anew after the store of kept answers was emptied."""

from collections.abc import Mapping

import numpy as np

from ....findings.evidence_text import power_of_ten
from ....findings.finding import Finding
from ..claim import LabelsClaim
from .asked_again import AskedAgain

ASKED = 100
"""Most histograms that are asked once more."""

_WEIGHED, _LEAST_WEIGHED = 40_000, 200  # histograms times classes whose laws are computed
_CERTAIN = 0.9  # probability of a label from which a repeat tells little


class EmptiedStore(AskedAgain):
    """Tests whether answers are draws of the claimed law once kept ones are forgotten.

    A label that is a function of the votes, as with noise seeded by their hash, repeats as a kept
    one does, and anybody can compute it. Null hypothesis: a histogram asked after the store was
    emptied gives a draw of its claimed law, independent of the label kept before.

    kept: label of each histogram answered so far; restarted: whether the target was restarted too.
    Histograms are spread over the run, among those whose labels are not nearly certain.
    """

    def __init__(
        self, claim: LabelsClaim, kept: Mapping[tuple[int, ...], int], restarted: bool
    ) -> None:
        self.restarted = restarted
        every = max(1, len(kept) // max(_LEAST_WEIGHED, _WEIGHED // claim.mechanism.classes))
        some = list(kept.items())[::every]
        votes = np.array([votes for votes, _ in some], dtype=np.float64)
        chosen = _evenly(claim.mechanism.mechanism().log_probabilities(votes))
        super().__init__(claim, [some[i][0] for i in chosen], [some[i][1] for i in chosen])

    @property
    def counted(self) -> str:
        """How many labels were repeated, and how many would be by chance, in words."""
        return (
            f"{sum(self.same)} of {self.asked} histograms gave their former label again, "
            f"where about {self.by_chance:.0f} do by chance"
        )

    def fail_finding(self) -> Finding:
        """The finding where too many labels were repeated."""
        odds = power_of_ten(self.log_e_value / np.log(10.0))
        memory = "" if self.restarted else ", in memory too"
        at = self.same.index(True)
        return Finding(
            f"after fresh_state emptied the store of kept answers, {self.counted} (odds {odds} to "
            "1 against the claim)",
            "labels are a function of the votes, which anybody can compute: noise seeded by a hash "
            "of them, without a secret; or fresh_state does not empty all that keeps answers"
            f"{memory}",
            self.histograms[at],
        )

    @property
    def unseen(self) -> str | None:
        """A warning where labels are too predictable for this test; else None."""
        if self.tells:
            return None
        return (
            "after fresh_state emptied the store, labels were too predictable to tell new ones "
            "from former ones: a label that is a function of the votes would not show"
        )


def not_emptied(claim: LabelsClaim) -> str | None:
    """A warning for a caching claim without `fresh_state`; None for other claims."""
    if not claim.mechanism.caching or claim.gate.fresh_state is not None:
        return None
    return (
        "a label that is a function of the votes, such as noise seeded by a hash of them, would "
        "not show: name the command that empties the store of kept answers as fresh_state in [gate]"
    )


def _evenly(log_q: np.ndarray) -> np.ndarray:
    """Indices of laws (n, o) to ask: uncertain ones, spread evenly, or the least certain."""
    surest = np.exp(log_q.max(-1))
    uncertain = np.flatnonzero(surest <= _CERTAIN)
    if uncertain.size < ASKED:
        return np.sort(np.argsort(surest, kind="stable")[:ASKED])
    return uncertain[np.linspace(0, uncertain.size - 1, ASKED).astype(np.int64)]
