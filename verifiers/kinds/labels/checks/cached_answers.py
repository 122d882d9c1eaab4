"""`fresh-noise` under `caching = true`: a histogram asked again gets the same label."""

import math
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Self

import numpy as np

from .....reference.mechanisms import Labels
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....run.checks import Reason, RunContext, Setting
from ....run.phase import Phase
from ....targets import Refused, Target, begin_anew, checked_labels
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Role, Stream
from .asked_again import ASKED, FIRST, EmptiedStore, FirstDraws
from .base import LabelsCheck, LabelsSetting, refuting
from .input_contract import RefusedLaterError

REPEATED = 100
_SIZES = (1, 2)
_OFTEN, _TIMES = 2, (1,) * 40 + (24,)
"""How many histograms are asked more often, and the sizes of these calls, for answers that are
forgotten after some dozen lookups."""

MOST_QUERIES = REPEATED * sum(_SIZES) + _OFTEN * sum(_TIMES) + REPEATED + FIRST
"""Labels that asking again takes, before and after a restart, unless the store is emptied."""


class CachedAnswers(LabelsCheck):
    """Asks histograms again, also after a restart; one different label is a violation.

    A new draw of an answer that should be kept leaks more than the claim admits. answered: the
    first label of each histogram, in the order asked, which grows during the run; before: those of
    earlier calls. After a restart neighbours come first, whose draws must be new, then the earliest
    and the latest. With `fresh_state` the store is emptied last, and answers must be drawn anew.
    """

    id = "fresh-noise"
    phase = Phase.RESTARTED
    sees_labels = True

    @classmethod
    def make(cls, setting: Setting) -> Self:
        assert isinstance(setting, LabelsSetting)
        return cls(setting.kept, setting.claim, setting.before)

    @classmethod
    def not_applicable_to(cls, claim: LabelsClaim) -> Reason:
        """`LabelsFreshNoise` stands in."""
        return None if claim.mechanism.caching else _DRAWN_ANEW

    @classmethod
    def needs(cls, plan: Plan, at: int, stream: Stream) -> bool:
        """They are asked again."""
        return stream.role is Role.PROBE

    def __init__(
        self,
        answered: Mapping[tuple[int, ...], int],
        claim: LabelsClaim,
        before: Mapping[tuple[int, ...], int] | None = None,
    ) -> None:
        self.answered, self.claim, self.before = answered, claim, before or {}
        self.emptied: EmptiedStore | None = None
        self.drawn: FirstDraws | None = None
        self.changed: tuple[tuple[int, ...], int, int] | None = None
        self.repeated = 0
        self.restarted = False

    @cached_property
    def kept(self) -> dict[tuple[int, ...], int]:
        """The histograms that are asked again, with their labels."""
        return dict(islice(self.answered.items(), REPEATED))

    @cached_property
    def often(self) -> dict[tuple[int, ...], int]:
        """The histograms that are asked more often, with their labels."""
        return dict(islice(self.kept.items(), _OFTEN))

    @cached_property
    def ends(self) -> dict[tuple[int, ...], int]:
        """The histograms that are asked again after a restart, with their labels."""
        asked, half = list(self.answered.items()), REPEATED // 2
        return dict([*asked[:half], *asked[-half:]])

    def conclude(self, context: RunContext) -> Outcome | None:
        empties = self.claim.gate.fresh_state is not None
        restarts = context.target.no_restart is None
        needed = self.queries + empties * min(ASKED, len(self.answered))
        if context.left < needed + restarts * self.queries_after_restart:
            context.use_up()
            return None
        try:
            self.run(context.target)
            if self.changed is None and restarts:
                context.tell("restarting the target")
                context.target.restart()
                self.run_after_restart(context.target)
                context.note_restart()
            if self.changed is None and empties:
                context.tell("emptying the store of kept answers")
                self.run_emptied(context.target)
        finally:
            context.spend(self.repeated)
        return Outcome(refuting(self.refuted), self.finding(), self.repeated)

    @property
    def refuted(self) -> bool:
        """Whether an answer was not kept, or too many repeat what should be drawn anew."""
        asked = [again for again in (self.emptied, self.drawn) if again is not None]
        return self.changed is not None or any(again.refuted for again in asked)

    @property
    def queries(self) -> int:
        """Most labels that asking again takes."""
        return sum(_SIZES) * len(self.kept) + sum(_TIMES) * len(self.often)

    @property
    def queries_after_restart(self) -> int:
        """Most labels that asking after a restart takes."""
        new = 0 if self.claim.given else min(FIRST, len(self.answered) + len(self.before))
        return len(self.ends) + new

    def run(self, target: Target) -> None:
        """Asks again, in calls for one and two labels, and some often. Raises as the target."""
        self._ask(target, self.kept, _SIZES)
        if self.changed is None:
            self._ask(target, self.often, _TIMES)

    def run_after_restart(self, target: Target) -> None:
        """Asks again after a restart. Raises as the target does."""
        self.restarted = True
        if not self.claim.given:  # new ones first, so that their draws are the first of this start
            self.drawn = FirstDraws(self.claim, {**self.before, **self.answered})
            with suppress(Refused):  # it may refuse a histogram not asked before
                for votes in self.drawn.histograms:
                    self.drawn.observe(self._ask_once(target, votes, 1))
        self._ask(target, self.ends, (1,))

    def run_emptied(self, target: Target) -> None:
        """Empties the store, restarts the target if it can, and asks histograms again.

        Raises TargetError if the command fails, else as the target does.
        """
        assert self.claim.fresh_target is not None
        begin_anew(target, self.claim.fresh_target)
        restarts = target.no_restart is None
        emptied = self.emptied = EmptiedStore(self.claim, self.answered, restarts)
        for votes in emptied.histograms:
            emptied.observe(self._labels(target, votes, 1))

    def _labels(self, target: Target, votes: tuple[int, ...], size: int) -> Labels:
        try:
            return self._ask_once(target, votes, size)
        except Refused as refusal:
            message = f"{list(votes)} is refused, but was answered: {refusal}"
            raise RefusedLaterError(message) from None

    def _ask_once(self, target: Target, votes: tuple[int, ...], size: int) -> Labels:
        asked = np.array(votes, dtype=np.int64)
        reply = target.ask(asked, size)
        self.repeated += size
        return checked_labels(reply, asked, size, self.claim.mechanism.refuses)

    def _ask(
        self,
        target: Target,
        kept: Mapping[tuple[int, ...], int],
        sizes: tuple[int, ...],
    ) -> None:
        for votes, label in kept.items():
            for size in sizes:
                again = self._labels(target, votes, size)
                other = again[again != label]
                if other.size:
                    self.changed = (votes, label, int(other[0]))
                    return

    def finding(self) -> Finding:
        """The finding, after all that was asked."""
        if self.changed is None:
            return self._kept_finding()
        votes, first, other = self.changed
        when = "after a restart" if self.restarted else "when asked again"
        return Finding(
            f"{list(votes)} was answered {first} at first and {other} {when}, although "
            "the claim says caching = true",
            "answers are kept in memory, and lost in a restart: keep them on disk"
            if self.restarted
            else "answers are drawn anew: claim caching = false, or keep the first answer",
            votes,
            code="kept-answers-lost" if self.restarted else "answers-drawn-anew",
            fields={"first": first, "again": other},
        )

    def _kept_finding(self) -> Finding:
        """The finding where every answer was kept, as claimed."""
        emptied, drawn = self.emptied, self.drawn
        if drawn is not None and drawn.refuted:
            return drawn.fail_finding()
        if emptied is not None and emptied.refuted:
            return emptied.fail_finding()
        message = f"{len(self.kept)} histograms asked again gave the label of their first answer"
        if self.restarted:
            message += f", and after a restart {len(self.ends)} did"
            if drawn is not None and drawn.tells:
                message += f"; {drawn.asked} new histograms got new labels"
        else:
            message += "; the target was not restarted, so answers kept in memory would not show"
        if emptied is None:
            return Finding(message, excludes=self.excluded)
        again = f"{message}; after fresh_state emptied the store, {emptied.counted}"
        warnings = tuple(filter(None, [emptied.unseen]))
        return Finding(again, warnings=warnings, excludes=self.excluded)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What a pass excludes: that all answers are drawn anew, of the histograms asked again.

        Two draws of one law agree with the sum of the squares of its probabilities.
        """
        if not self.kept:
            return ()
        law = self.claim.mechanism.mechanism().log_probabilities(
            np.array([*self.kept], dtype=float)
        )
        alike = float(np.log(np.exp(2.0 * law).sum(-1)).sum())
        return (
            Excluded(
                code="answers-drawn-anew",
                size={},
                where=("asked again",),
                queries=len(self.kept),
                probability=-math.expm1(min(alike, 0.0)),
                false_alarm=0.0,  # it proves, although its id has a share
                method="the claimed law of two draws for each histogram that is asked again",
            ),
        )


_DRAWN_ANEW = Note("no-answers-kept", "answers are drawn anew")
