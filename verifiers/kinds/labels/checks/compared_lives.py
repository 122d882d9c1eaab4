"""Labels of several lives of a target, compared: a new life must not repeat an earlier one."""

import numpy as np

from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence import Recurrence, Replay, as_outcomes
from ....evidence.power import longest_round
from ..planning.stream_planner import FRESH_CALL

_KINDS = ("restarted", "replayed", "begun", "contained", "compared", "recurring")
"""Ways in which lives may give the same labels, keys of `reuse.WORDS`; the first is told.

State that is taken up again makes contained lives alike too: the narrower cause comes last.
"""


class ComparedLives:
    """An e-process over all comparisons; log_q: of the histogram (o,) asked in every life.

    recurring: another one, over the first labels of each life and those of all lives before; owed:
    labels that are still to compare lives, without which there is no verdict; why_few: why no more
    lives were compared.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_q = log_q
        self.log_e_value = 0.0
        self.recurring = Recurrence(log_q)
        self.owed = 0
        self.why_few: str | None = None
        self._begun = 0
        self._found: dict[str, float] = {}
        self._unseen: str | None = None

    def begin(self, first: Labels, *, new: bool) -> None:
        """Takes the first labels of a life; new: whether the run has begun it."""
        self.recurring.observe(as_outcomes(first, self.log_q.size))
        self._found["recurring"] = self.recurring.log_e_value
        self._begun += new

    def observe(self, earlier: Labels, again: Labels, kind: str, unseen: str | None) -> None:
        """Takes labels of earlier lives, and a new one's.

        kind: how the lives differ; unseen: what this comparison cannot show.
        """
        outcomes = self.log_q.size
        replay = Replay(as_outcomes(earlier, outcomes), as_outcomes(again, outcomes), self.log_q)
        # fair given all labels before, so that each stakes half of what the last one left
        self.log_e_value += float(np.logaddexp(0.0, replay.log_e_value) - np.log(2.0))
        if kind == "restarted" and replay.window >= FRESH_CALL:  # not of the call that opened
            kind = "replayed"
        self._found[kind] = max(replay.log_e_value, self._found.get(kind, -np.inf))
        self._unseen = unseen
        if kind != "compared":
            self.owed = 0

    def likeliest(self, sure: float) -> str:
        """The kind to tell of lives that gave the same labels; sure: log-odds that are enough."""
        enough = [kind for kind in _KINDS if self._found.get(kind, 0.0) > sure]
        return enough[0] if enough else max(self._found, key=lambda kind: self._found[kind])

    def shown(self, log_wanted: float) -> str:
        """What comparing lives has shown, and what it cannot, for a sentence that goes before.

        log_wanted: evidence that lives which come again must give.
        """
        told = ""
        if "compared" in self._found:
            told += "; the labels that the earlier report opens with were others"
        if self._found.keys() - {"compared", "recurring"}:
            told += "; after a restart the labels were new"
            told += "" if self._unseen is None else f" ({self._unseen})"
            return told + self._excluded(log_wanted)
        return told or "; the target was not restarted, so a fixed seed would not show"

    def _excluded(self, log_wanted: float) -> str:
        """How many seeds that take turns would have shown."""
        most = longest_round(self.log_q, self._begun, FRESH_CALL, log_wanted)
        told = "; seeds that take turns would not have shown"
        if most > 0:
            starts = "every start" if most == 1 else f"up to {most} starts"
            told = f"; a seed that comes again after {starts} would have shown"
        return told if self.why_few is None else f"{told}, and no other, as {self.why_few}"
