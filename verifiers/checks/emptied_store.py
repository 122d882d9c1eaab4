"""Kept answers drawn anew: a store of them is emptied, and their histograms are asked once more."""

from collections.abc import Iterator, Mapping

import numpy as np

from ...reference.mechanisms import Labels
from ..claim import Claim
from ..error_budget import SHARES, log_threshold
from ..evidence import as_outcomes, log_e_value_again
from ..findings.evidence_text import power_of_ten
from .base import Finding

ASKED = 100
"""Histograms that are asked once more, at most."""

_WEIGHED, _LEAST_WEIGHED = 40_000, 200  # histograms times classes whose laws are computed
_CERTAIN = 0.9  # probability of an answer from which it tells little that it comes again
_SPARE = 2.0  # times the evidence that refutes, which answers that all come again must give


class EmptiedStore:
    """Whether answers are draws of the claimed law once those that were kept are forgotten.

    A label that is a function of the votes, such as one whose noise is seeded by a hash of them,
    repeats as a kept one does, and anybody can compute it. Null hypothesis: asked after the store
    was emptied, a histogram gives a draw of its claimed law, independent of the label kept before.

    kept: the labels of the histograms answered so far; restarted: whether the target was, too.
    Histograms are taken evenly from all over the run, of those whose answers are not nearly
    certain.
    """

    def __init__(self, claim: Claim, kept: Mapping[tuple[int, ...], int], restarted: bool) -> None:
        self.restarted = restarted
        self.log_threshold = log_threshold(SHARES["fresh-noise"], claim.gate.false_alarm)
        every = max(1, len(kept) // max(_LEAST_WEIGHED, _WEIGHED // claim.mechanism.classes))
        some = list(kept.items())[::every]
        votes = np.array([votes for votes, _ in some], dtype=np.float64)
        log_q = claim.mechanism.mechanism().log_probabilities(votes)
        chosen = _evenly(log_q)
        self.kept = [some[i] for i in chosen]
        labels = np.array([label for _, label in self.kept], dtype=np.int64)
        own = np.take_along_axis(
            log_q[chosen], as_outcomes(labels, log_q.shape[1])[:, None], axis=-1
        )
        self._log_q = own[:, 0]
        self._again: list[int] = []

    @property
    def histograms(self) -> Iterator[tuple[int, ...]]:
        """Those to ask once more, for a label each, in this order."""
        return (votes for votes, _ in self.kept)

    def observe(self, label: Labels) -> None:
        """Takes the label (1,) of the next histogram."""
        self._again.append(int(label[0]))

    @property
    def _same(self) -> list[bool]:
        return [again == label for again, (_, label) in zip(self._again, self.kept, strict=False)]

    @property
    def log_e_value(self) -> float:
        """Evidence that answers come again that should be new."""
        same = np.array(self._same, dtype=bool)
        return log_e_value_again(self._log_q[: same.size], same) if same.size else 0.0

    @property
    def refuted(self) -> bool:
        """Whether the evidence has reached what refutes."""
        return self.log_e_value >= self.log_threshold

    @property
    def tells(self) -> bool:
        """Whether answers that all came again would have refuted."""
        return float(-self._log_q.sum()) >= _SPARE * self.log_threshold

    @property
    def counted(self) -> str:
        """How many answers came again, and how many do by chance, in words."""
        chance = float(np.exp(self._log_q).sum())
        return (
            f"{sum(self._same)} of {len(self._again)} histograms gave their former label again, "
            f"where about {chance:.0f} do by chance"
        )

    def violation(self) -> Finding:
        """What to say when too many came again."""
        odds = power_of_ten(self.log_e_value / np.log(10.0))
        memory = "" if self.restarted else ", in memory too"
        at = self._same.index(True)
        return Finding(
            f"after fresh_state emptied the store of kept answers, {self.counted} (odds {odds} to "
            "1 against the claim)",
            "labels are a function of the votes, which anybody can compute: noise seeded by a hash "
            "of them, without a secret; or fresh_state does not empty all that keeps answers"
            f"{memory}",
            self.kept[at][0],
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


def not_emptied(claim: Claim) -> str | None:
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
