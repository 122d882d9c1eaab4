"""Asking a deployment of labels that has a budget, call by call, and judging its account."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from .....reference import REFUSAL, BudgetExhausted, Histogram
from ....findings.note import Note
from ....run.budget import LONG_AGAIN, UNDERCHARGED, BudgetAsking, BudgetProof
from ....targets import Refused, TargetError, ask_whole, checked_labels, largest_whole
from ....text import counted
from ..claim import LabelsClaim
from .certain_cost import BudgetHistogram, Counted

SCREENINGS_UNPAID = Note(
    "screening-not-charged", "screenings are not all charged, such as those of refused queries"
)
"""The cause of an account of realised charges that is less than its screenings cost."""

NOT_ADDED_UP = Note("answers-not-added-up", "answers to several histograms are not added up")
"""The cause of charges that are claimed to be alike, and cover each histogram by itself."""

SEVERAL = (2, 3, 4, 5, 6)
"""Labels of a call, by which an account may charge as one what are several."""

_LARGE = 50  # labels, for blocks by which calls may be charged
_CALLS = 384  # about so many calls until answers to a histogram have certainly cost too much
_FEW_CALLS = 2_000  # about so many smaller calls, once larger ones are refused
_ROW, _ROW_PART = 64, 16  # equal single calls: at most so many, and this part of the limit
_IN_SEVERAL = 4  # calls for a few labels ask this part of the limit
_WHOLE = (256, 4_096, 65_536)  # sizes that overflow one byte, a likely cap, and two bytes
_BYTE = 256  # sizes of such calls are multiples of it
_PACED = 16  # labels of a call just before, which shows the pace
_LITTLE = 8  # such a call is made if it takes at most this part of the limit
_NUMBERS = 5 * 10**6  # most labels times classes of such a call, which may be drawn and refused
_MORE = 1.05  # over an earlier rise: more than accounts of discretised losses are off by

_COUNTED: dict[Counted, tuple[str, str]] = {
    "answers": ("answer to", "answers to"),
    "queries": ("query of", "queries of"),
    "screenings": ("screening of", "screenings of"),
}


class Rises:
    """By how much each of several single answers moved an account.

    One that counts queries rises by less and less: epsilon is the least of lines in their number,
    one for each order, which is concave.
    """

    def __init__(self) -> None:
        self._rises: list[float] = []

    def note(self, before: float | None, after: float | None) -> None:
        """Takes an answer; the first, from nothing spent, is not compared with others."""
        if before and after is not None:
            self._rises.append(after - before)

    @property
    def warning(self) -> Note | None:
        """Where a later answer moved it more; None where it stood still, as a block may be paid."""
        if min(self._rises, default=0.0) <= 0.0:
            return None
        for place, rise in enumerate(self._rises):
            least = min(self._rises[: place + 1])
            if rise > _MORE * least:
                return Note(
                    "budget-depends-on-votes",
                    f"spent rose by {least:.3g} for one answer and later by {rise:.3g}, so that it "
                    "depends on the votes: when the budget ends then tells of them",
                    {"rise": least, "later_rise": rise},
                )
        return None


class LabelsBudgetAsking(BudgetAsking[BudgetHistogram]):
    """Counts what was asked and answered, over all starts of a deployment, until a violation.

    Refused queries are no answers: how many there are is chance. limit: answers to the costliest
    histogram that certainly cost too much, from which sizes of calls follow; costliest: that
    histogram, None where only some may be asked; rises: of the account.
    """

    limit = 0
    costliest: BudgetHistogram | None = None

    def __init__(self, claim: LabelsClaim) -> None:
        super().__init__(claim.private)
        self.claim = claim
        self.rises = Rises()
        self.uncharged: BudgetHistogram | None = None  # what moved the account not at all

    def _values(self, one: BudgetHistogram) -> Histogram:
        return one.votes

    def _answered(self, reply: Any, one: BudgetHistogram, size: int) -> int:
        refuses, release = self.claim.mechanism.refuses, self.claim.release
        labels = checked_labels(reply, one.votes, size, refuses, release)
        if one.asked == 0:
            one.before = self.account.now
        return int((labels != REFUSAL).sum())

    def _proof(self, one: BudgetHistogram, epsilon: float, delta: float) -> BudgetProof | None:
        """By the answers to this histogram alone.

        Where the claim says that charges are data-independent, answers to others cost as much.
        """
        paid = self._to_cover(one, delta)
        found = paid.costs_more_than(epsilon)
        if found is None:
            return None
        times = paid.times(found.of)
        alike = " or others, which are charged alike as is claimed" if self._alike else ""
        return BudgetProof(
            found.epsilon,
            f"{counted(times, *_COUNTED[found.of])} {self.claim.named(paid.votes)}{alike}",
            {found.of: times},
            self.answered - paid.answered,
            f": certified, against its neighbour {self.claim.named(found.there)}, by counting "
            f"labels {list(found.labels)} ({found.least:,} or more of {times:,})",
        )

    def _why_too_low(
        self, one: BudgetHistogram, proof: BudgetProof, spent: float, delta: float
    ) -> Note:
        other = self._alike and one is not self.costliest
        if other and one.at(delta).costs_more_than(spent) is None:
            return NOT_ADDED_UP  # those to this histogram alone are charged
        if delta == self.privacy.delta and spent == one.before:
            self.uncharged = one
        return SCREENINGS_UNPAID if "screenings" in proof.counts else UNDERCHARGED

    def _judge_unchecked(self, one: BudgetHistogram) -> None:
        """Reads the account once the answers cost too much, and tells whether that stops it."""
        if self._to_cover(one, self.privacy.delta).costs_more_than(self.privacy.epsilon) is None:
            return
        self.judge(one)
        if self.account.now is None:
            return  # there was nothing to look at
        try:
            self._answered(self.target.ask(one.votes, 1), one, 1)
        except BudgetExhausted:
            message = "the budget is enforced only where spent is asked"
            self.blame(Note("enforced-only-when-read", message))
        except (Refused, TargetError):
            return  # what was found stands without it

    @property
    def _alike(self) -> bool:
        """Whether all queries are charged as those of the costliest histogram."""
        return self.claim.charges == "data-independent" and self.costliest is not None

    def _to_cover(self, one: BudgetHistogram, delta: float) -> BudgetHistogram:
        """What the account must cover at `delta`: all queries, where all are charged alike."""
        if self._alike:
            assert self.costliest is not None
            one = replace(self.costliest, asked=self.asked, answered=self.answered)
        return one if delta == self.privacy.delta else one.at(delta)

    # -- what tells the cause of an account that is too low --------------------------------------

    def diagnose(self, other: BudgetHistogram) -> None:
        """Tells answers that are free from histograms, and from calls for one label, that are."""
        free = self.uncharged
        if free is None:
            return
        with suppress(BudgetExhausted, Refused, TargetError):  # what was found stands without it
            if other is not free and self._rise(other, 1):
                kinds = "inputs" if self.claim.given else "histograms"
                of = f" to {kinds} such as {self.claim.named(free.votes)}"
            else:
                of = " to calls for one label" if self._rise(free, _LARGE) else ""
            self.blame(Note("answers-not-charged", f"answers{of} are not charged"))

    def diagnose_few(self, one: BudgetHistogram) -> None:
        """Tells calls for a few labels that are charged as one from charges that are too low."""
        found = self.violation
        if found is None or found.code != UNDERCHARGED.code or self.account.now is None:
            return
        with suppress(BudgetExhausted, Refused, TargetError):  # what was found stands without it
            single, several = (self._rise(one, size) for size in (1, SEVERAL[-1]))
            if 0.0 < several < 0.5 * SEVERAL[-1] * single:
                message = "calls for a few labels are charged as calls for fewer"
                self.blame(Note("calls-undercharged", message))

    def _rise(self, one: BudgetHistogram, size: int) -> float:
        """By how much a call moves the account, which there is."""
        before = self.account.now
        self._answered(self.target.ask(one.votes, size), one, size)
        self.account.look(self.target, self.answered)
        assert before is not None
        assert self.account.now is not None
        return self.account.now - before

    # -- in which calls a histogram is asked -------------------------------------------------------

    def ask_singly(self, kinds: list[BudgetHistogram]) -> None:
        """Asks single labels while the account is fresh, of the cheapest histograms first.

        One call each, so that the costliest histogram remains most of the cost; more where the
        account does not change, until they cost more than it says.
        """
        for kind in kinds:
            before, answered = self.account.now, kind.answered
            try:
                if self.until_moved(kind):
                    return
                if kind.answered == answered + 1:
                    self.rises.note(before, self.account.now)
            except Refused:
                kind.limit = None
                if kind is kinds[-1]:
                    raise

    def ask_in_a_row(self, worst: BudgetHistogram) -> None:
        """Makes equal single calls, which a deployment may mistake for repeats of one call.

        Where the budget is small, later calls are single ones anyway.
        """
        if self._size > 1:
            row = min(_ROW, self.limit // _ROW_PART)
            self.until_spent(worst, 1, worst.asked + row)

    def ask_unsplit(self, worst: BudgetHistogram, most: int) -> None:
        """Makes one unsplit call of each of a few sizes, most of which exceed the budget.

        One that is refused, or fails, for its size is no violation. Left out are sizes that a
        correct deployment might answer and then have little budget left. most: labels in all.
        """
        claim = self.claim
        allowed = min(_NUMBERS // claim.mechanism.classes, claim.gate.largest_call or _NUMBERS)
        few = min(_PACED, self.limit // _PACED)
        self.until_spent(worst, few, worst.asked + few)  # to learn the pace
        sizes = (largest_whole(self.target, min(size, allowed)) for size in _WHOLE)
        for size in sorted({size // _BYTE * _BYTE for size in sizes} - {0}):
            beyond = claim.mechanism.refuses and worst.asked + size > most
            if self.violation is not None or not self.in_time or beyond:
                return
            if _LITTLE * size <= self.limit or size >= self.limit:
                with suppress(Refused, TargetError):
                    self.call(worst, size, partial(ask_whole, self.target))

    def ask_several(self, worst: BudgetHistogram) -> None:
        """Makes calls for a few labels early, while an error in charging them still matters."""
        most = worst.asked + self.limit // _IN_SEVERAL
        while self.violation is None and worst.asked + sum(SEVERAL) <= most:
            for size in SEVERAL:
                if self.until_spent(worst, size, worst.asked + size):
                    return
        self.diagnose_few(worst)

    def ask_to_the_end(self, worst: BudgetHistogram, most: int) -> None:
        """Asks until the budget is spent, without reading `spent`; then smaller calls, reading it.

        A refused call may only have been too large, so the last calls are single ones.
        """
        if self.until_spent(worst, self._size, most, check_spent=False):
            few = max(1, (self.limit - worst.answered) // _FEW_CALLS)
            self.until_spent(worst, few, most)
            self.until_spent(worst, 1, most, LONG_AGAIN)

    @property
    def _size(self) -> int:
        return max(1, self.limit // _CALLS)
