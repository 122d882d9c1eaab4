"""`same-law`: which of two replies is the target's is predicted from earlier ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...findings.excluded import Excluded
from ...findings.finding import Finding
from ...findings.note import Note
from ...run.checks import EvidenceCheck
from .claim import SameAsClaim
from .difference import told_by
from .faults import HALF, Shown, shown_faults
from .planned import CALLS, DIFFERS, LIVES, excluded_by
from .units import BothReplies, Units


class SameLaw(EvidenceCheck):
    """Wagers that the target's reply can be told from the reference's.

    settled: whether faults in the reference's own replies were looked for, and any shown; shown:
    these; confirmed: whether the reference, put against itself, does not look as different;
    withheld: the first call that a side has withheld, in words, by the side.
    """

    id, unit = "same-law", "draws"
    adds_up = False  # the reference is put against itself before each failure

    def __init__(self, claim: SameAsClaim, asked: Sequence[Any], wanted: int) -> None:
        self.claim, self.asked, self.wanted = claim, asked, wanted
        self.calls = claim.mechanism.lives or 1
        self.units = Units(len(asked), self.calls)
        self.shown: list[Shown] = []
        self.settled = self.confirmed = False
        self.withheld: Mapping[str, str] = {}

    def observe(self, units: list[list[BothReplies]]) -> None:
        """Adds units."""
        self.units.observe(units)

    @property
    def queries(self) -> int:
        return len(self.units) * self.calls

    @property
    def left(self) -> int:
        """Units that are still to be asked for."""
        return max(0, self.wanted - len(self.units))

    @property
    def log_e_value(self) -> float:
        return self.units.evidence.log_e_value

    @property
    def tells_apart(self) -> bool:
        """Whether the evidence is as high as a failure takes."""
        return self.log_e_value >= self.log_threshold

    @property
    def refuted(self) -> bool:
        """As of any check, but that the reference must not look as different from itself."""
        return self.confirmed and super().refuted

    def samples_needed(self) -> int:
        return max(self.left * self.calls, 0 if self.settled else 1)

    def settle(self, rng: np.random.Generator) -> Note | None:
        """Puts faults into the reference's own replies; why there is no pass if too few show.

        Half the noise must, or, where that changes no reply, or of few kinds, any of them.
        """
        self.shown = shown_faults(self.units, self.log_threshold, rng)
        least = [one for one in self.shown if one.fault == HALF and one.changes] or self.shown
        self.settled = any(one.units is not None for one in least)
        if self.settled:
            return None
        units = f"{len(self.units):,} {self._word}"
        if not self.shown:
            why = (
                f"of {units} the reference answered too few, or its own replies change as the run "
                "goes on, so that no fault could be put into them: a pass would mean nothing"
            )
            return Note("no-fault-would-show", why, {"units": len(self.units)})
        enough = min((one.enough for one in least if one.enough is not None), default=None)
        queries = None if enough is None else len(self.asked) + enough * self.calls
        most = CALLS if self.calls == 1 else LIVES * self.calls
        more = f"; how many would be is not foreseen from these: a run asks {most:,} unless told"
        if queries is not None:
            more = f"; about {queries:,} queries would be enough"
        fields = {"units": len(self.units)} | ({} if queries is None else {"queries": queries})
        if any(one.units is not None for one in self.shown):
            why = f"{units} would not have shown {HALF}, so that a pass would mean little{more}"
            return Note("too-few-queries", why, fields)
        faults = ", ".join(one.fault for one in self.shown)
        return Note(
            "no-fault-would-show",
            f"{units} would not have shown any fault that was put into the reference's own replies "
            f"({faults}): a pass would mean nothing{more}",
            fields,
        )

    @property
    def _word(self) -> str:
        return "pairs of calls" if self.calls == 1 else f"lives of {self.calls} calls"

    def fail_finding(self) -> Finding:
        units, told = len(self.units), told_by(self.units)
        words, fields = f"the target follows another law: {told.words}", dict(told.fields)
        if told.place is not None:
            fields["input"] = self.claim.release.input_text(self.asked[told.place])
            words += f", on {fields['input']}"
            words += ", which alone of the inputs shows it" if told.alone else ""
        if "withheld" in told.fields:
            words = "; ".join((words, *self.withheld.values()))
        return Finding.caused(
            f"replies of the target can be told from the reference's, by {units:,} {self._word}",
            Note(DIFFERS, words, fields),
            self.log_e_value,
            units=units,
        )

    def pass_finding(self) -> Finding:
        seen = [f"{one.fault} ({one.units:,})" for one in self.shown if one.units is not None]
        not_seen = [one.fault for one in self.shown if one.units is None]
        message = (
            f"{len(self.units):,} {self._word} do not tell the target's replies from the "
            f"reference's; put into the reference's own answers, so many would have shown: "
            f"{', '.join(seen)}"
        )
        message += f"; and not: {', '.join(not_seen)}" if not_seen else ""
        if self.calls == 1:
            message += "; noise that comes again after a start is looked for where lives are named"
        return Finding(message, excludes=self.excluded)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        return excluded_by(self.claim, self.asked, min(self.wanted, len(self.units)))
