"""Compares labels of several starts of a target: a new start must not repeat an earlier one."""

import numpy as np

from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence import Recurrence, Replay, as_outcomes
from ....evidence.power import longest_round
from ..planning.streams import FRESH_CALL

_KINDS = ("restarted", "replayed", "begun", "contained", "compared", "recurring")
"""Ways in which starts may give the same labels, keys of `reuse.WORDS`, in order of preference.

Narrower causes come later: state that is restored makes contained starts alike too.
"""


class ComparedRestarts:
    """An e-process over comparisons of starts, by labels of one histogram.

    log_q: its claimed log-probabilities (o,); recurring: another e-process, on the first labels of
    each start against those of all earlier starts; owed: labels that comparing starts still needs
    for a verdict; why_few: why no more starts were compared.
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
        """Adds the first labels of a start; new: whether the run started it."""
        self.recurring.observe(as_outcomes(first, self.log_q.size))
        self._found["recurring"] = self.recurring.log_e_value
        self._begun += new

    def observe(self, earlier: Labels, again: Labels, kind: str, unseen: str | None) -> None:
        """Adds labels `again` of a new start, to compare with those of earlier starts.

        kind: how the starts differ, a key of `reuse.WORDS`; unseen: what this cannot show.
        """
        outcomes = self.log_q.size
        replay = Replay(as_outcomes(earlier, outcomes), as_outcomes(again, outcomes), self.log_q)
        # each is an e-value given all labels before, and stakes half of the wealth so far
        self.log_e_value += float(np.logaddexp(0.0, replay.log_e_value) - np.log(2.0))
        if kind == "restarted" and replay.window >= FRESH_CALL:  # beyond the opening call
            kind = "replayed"
        self._found[kind] = max(replay.log_e_value, self._found.get(kind, -np.inf))
        self._unseen = unseen
        if kind != "compared":
            self.owed = 0

    def likeliest(self, sure: float) -> str:
        """The kind of the most likely repetition; sure: log-odds from which the order decides."""
        enough = [kind for kind in _KINDS if self._found.get(kind, 0.0) > sure]
        return enough[0] if enough else max(self._found, key=lambda kind: self._found[kind])

    def shown(self, log_wanted: float) -> str:
        """What comparing starts has and has not shown, as the end of a sentence.

        log_wanted: evidence that `recurring` must give.
        """
        message = ""
        if "compared" in self._found:
            message += (
                "; the first labels did not repeat those that the earlier report opens with, which "
                "shows a fixed seed only if the target was restarted in between"
            )
        if self._found.keys() - {"compared", "recurring"}:
            message += "; the first labels after a restart did not repeat earlier ones"
            message += "" if self._unseen is None else f" ({self._unseen})"
            return message + self._excluded(log_wanted)
        return message or "; the target was not restarted, so a fixed seed would not show"

    def _excluded(self, log_wanted: float) -> str:
        """How many seeds in rotation would have shown, in words."""
        most = longest_round(self.log_q, self._begun, FRESH_CALL, log_wanted)
        message = "; seeds in rotation would not have shown"
        if most > 0:
            starts = "every start" if most == 1 else f"up to {most} starts"
            message = f"; a seed that is used again after {starts} would have shown"
        return message if self.why_few is None else f"{message}, and no other, as {self.why_few}"
