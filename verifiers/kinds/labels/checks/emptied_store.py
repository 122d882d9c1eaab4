"""Kept answers drawn anew: a store of them is emptied, and their histograms are asked once more."""

from collections.abc import Mapping

import numpy as np

from ....findings.evidence_text import power_of_ten
from ....findings.finding import Finding
from ..claim import LabelsClaim
from .asked_again import AskedAgain

ASKED = 100
"""Histograms that are asked once more, at most."""

_WEIGHED, _LEAST_WEIGHED = 40_000, 200  # histograms times classes whose laws are computed
_CERTAIN = 0.9  # probability of an answer from which it tells little that it comes again


class EmptiedStore(AskedAgain):
    """Whether answers are draws of the claimed law once those that were kept are forgotten.

    A label that is a function of the votes, such as one whose noise is seeded by a hash of them,
    repeats as a kept one does, and anybody can compute it. Null hypothesis: asked after the store
    was emptied, a histogram gives a draw of its claimed law, independent of the label kept before.

    kept: the labels of the histograms answered so far; restarted: whether the target was, too.
    Histograms are taken evenly from all over the run, of those whose answers are not nearly
    certain.
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
        """How many answers came again, and how many do by chance, in words."""
        return (
            f"{sum(self.same)} of {self.asked} histograms gave their former label again, "
            f"where about {self.by_chance:.0f} do by chance"
        )

    def violation(self) -> Finding:
        """What to say when too many came again."""
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
        """The warning where no labels could have told."""
        if self.tells:
            return None
        return (
            "after fresh_state emptied the store, labels were too predictable to tell new ones "
            "from former ones: a label that is a function of the votes would not show"
        )


def not_emptied(claim: LabelsClaim) -> str | None:
    """The warning of a claim of kept answers that does not say how they are forgotten."""
    if not claim.mechanism.caching or claim.gate.fresh_state is not None:
        return None
    return (
        "a label that is a function of the votes, such as noise seeded by a hash of them, would "
        "not show: name the command that empties the store of kept answers as fresh_state in [gate]"
    )


def _evenly(log_q: np.ndarray) -> np.ndarray:
    """Places of those to ask, of laws (n, outcomes): the uncertain ones, or the least certain."""
    surest = np.exp(log_q.max(-1))
    uncertain = np.flatnonzero(surest <= _CERTAIN)
    if uncertain.size < ASKED:
        return np.sort(np.argsort(surest, kind="stable")[:ASKED])
    return uncertain[np.linspace(0, uncertain.size - 1, ASKED).astype(np.int64)]
