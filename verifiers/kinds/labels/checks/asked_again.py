"""Evidence of `fresh-noise` that labels which should be new draws repeat foreseen ones."""

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from .....reference.histograms import neighbours_among
from .....reference.mechanisms import Labels
from ....evidence.outcomes import as_outcomes
from ....evidence.repetition import log_e_value_again
from ....findings.evidence_text import an_e_value
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ....run.error_budget import log_threshold
from ..claim import LabelsClaim
from ..registry import SHARES

FIRST = 100
"""Most new histograms that are asked after a restart."""

ASKED = 100
"""Most histograms that are asked once more after the store of answers was emptied."""

_SPARE = 2.0  # evidence if all answers repeat, over that needed, from which a test has power
_METHODS = 2  # that share the check's error: an emptied store, and a new start
_WEIGHED, _LEAST_WEIGHED = 40_000, 200  # histograms times classes whose laws are computed
_CERTAIN = 0.9  # probability of a label from which a repeat tells little


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

    @property
    def fields(self) -> Fields:
        """What was counted, as fields of a finding."""
        return {"same": sum(self.same), "asked": self.asked, "expected": self.by_chance}

    @property
    def against(self) -> str:
        """The evidence against the claim in words, in parentheses."""
        return f"({an_e_value(self.log_e_value / np.log(10.0))} against the claim)"


class FirstDraws(AskedAgain):
    """Tests whether the first draws of a new start repeat those of the first start.

    Kept answers are not drawn again, so neighbours of the first start's histograms are asked, in
    its order. With the same noise a neighbour nearly always gets the same label, otherwise a new
    one. answered: the first label of each histogram asked, in order.
    """

    def __init__(self, claim: LabelsClaim, answered: Mapping[tuple[int, ...], int]) -> None:
        self.of = [
            (votes, new, label)
            for (votes, label), new in zip(
                islice(answered.items(), FIRST), _neighbours(answered), strict=False
            )
        ]
        super().__init__(claim, [new for _, new, _ in self.of], [y for _, _, y in self.of])

    def fail_finding(self) -> Finding:
        """The finding where too many labels were repeated."""
        votes, new, label = self.of[self.same.index(True)]
        return Finding(
            f"after a restart {sum(self.same)} of {self.asked} new histograms, asked in the order "
            "of the run's first ones and one vote from them, gave the label of these, where about "
            f"{self.by_chance:.0f} do by chance {self.against}: {list(new)} gave {label}, as "
            f"{list(votes)} had",
            "a seed is fixed, and set anew when the deployment starts: noise comes again after "
            "every restart",
            new,
            code="seed-fixed",
            fields=self.fields,
        )


class EmptiedStore(AskedAgain):
    """Tests whether answers are draws of the claimed law once kept ones are forgotten.

    A label that is a function of the votes repeats as a kept one does. Null hypothesis: a histogram
    asked after the store was emptied gives a draw of its claimed law, independent of the label kept
    before. kept: label of each histogram answered so far; restarted: whether the target was
    restarted too.
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
        memory = "" if self.restarted else ", in memory too"
        return Finding(
            f"after fresh_state emptied the store of kept answers, {self.counted} {self.against}",
            "labels are a function of the votes, which anybody can compute: noise seeded by a hash "
            "of them, without a secret; or fresh_state does not empty all that keeps answers"
            f"{memory}",
            self.histograms[self.same.index(True)],
            code="labels-follow-votes",
            fields=self.fields,
        )

    @property
    def unseen(self) -> Note | None:
        """A warning where labels are too predictable for this test; else None."""
        if self.tells:
            return None
        return Note(
            "labels-too-predictable",
            "after fresh_state emptied the store, labels were too predictable to tell new ones "
            "from former ones: a label that is a function of the votes would not show",
        )


def not_emptied(claim: LabelsClaim) -> Note | None:
    """A warning for a caching claim without `fresh_state`; None for other claims."""
    if not claim.mechanism.caching or claim.gate.fresh_state is not None:
        return None
    return Note(
        "store-not-emptied",
        "a label that is a function of the votes, such as noise seeded by a hash of them, would "
        "not show: name the command that empties the store of kept answers as fresh_state in "
        "[gate]",
    )


def _neighbours(answered: Mapping[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    """A neighbour of each of the first histograms that was not asked, until one has none."""
    found: dict[tuple[int, ...], None] = {}
    for votes in islice(answered, FIRST):
        smallest = np.argsort(votes, kind="stable").tolist()
        moved = (tuple(v.tolist()) for v in neighbours_among(np.array(votes), smallest))
        new = next((v for v in moved if v not in answered and v not in found), None)
        if new is None:
            break
        found[new] = None
    return list(found)


def _evenly(log_q: np.ndarray) -> np.ndarray:
    """Indices of laws (n, o) to ask: uncertain ones, spread evenly, or the least certain."""
    surest = np.exp(log_q.max(-1))
    uncertain = np.flatnonzero(surest <= _CERTAIN)
    if uncertain.size < ASKED:
        return np.sort(np.argsort(surest, kind="stable")[:ASKED])
    return uncertain[np.linspace(0, uncertain.size - 1, ASKED).astype(np.int64)]
