"""Asking a deployment that has a budget, call by call, and judging its account after each."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from .....reference import REFUSAL, BudgetExhausted, Histogram
from .....reference.mechanisms import Labels
from ....run.watched import AGAIN, IGNORES_DELTA, LONG_AGAIN, UNDERCHARGED, Watched
from ....targets import (
    Refused,
    Target,
    TargetError,
    ask_whole,
    checked_labels,
    largest_whole,
)
from ....text import counted
from ..claim import LabelsClaim
from .certain_cost import AskedHistogram, Counted
from .rises import Rises

SCREENINGS_UNPAID = "screenings are not all charged, such as those of refused queries"
"""The diagnosis of an account of realised charges that is less than its screenings cost."""

NOT_ADDED_UP = "answers to several histograms are not added up"
"""The diagnosis of charges that are claimed to be alike, and cover each histogram by itself."""

SEVERAL = (2, 3, 4, 5, 6)
"""Labels of a call, by which an account may charge as one what are several."""

_LARGE = 50  # labels, for blocks by which calls may be charged
_SINGLES = 32  # calls for one label of a histogram, while the account does not change
_CALLS = 384  # about so many calls until answers to a histogram have certainly cost too much
_FEW_CALLS = 2_000  # about so many smaller calls, once larger ones are refused
_ROW, _ROW_PART = 64, 16  # equal single calls: at most so many, and this part of the limit
_IN_SEVERAL = 4  # calls for a few labels ask this part of the limit
_WHOLE = (256, 4_096, 65_536)  # sizes that overflow one byte, a likely cap, and two bytes
_BYTE = 256  # sizes of such calls are multiples of it
_PACED = 16  # labels of a call just before, which shows the pace
_LITTLE = 8  # such a call is made if it takes at most this part of the limit
_NUMBERS = 5 * 10**6  # most labels times classes of such a call, which may be drawn and refused


_COUNTED: dict[Counted, tuple[str, str]] = {
    "answers": ("answer to", "answers to"),
    "queries": ("query of", "queries of"),
    "screenings": ("screening of", "screenings of"),
}
_DID: dict[Counted, str] = {
    "answers": "answered",
    "queries": "was asked",
    "screenings": "screened",
}


class BudgetAsking(Watched):
    """Counts what was asked and answered, over all starts of a deployment, until a violation.

    Refused queries are not counted as answers: how many there are is chance, and their cost may
    be too. limit: answers to the costliest histogram that certainly cost too much, from which sizes
    of calls follow; costliest: that histogram, None where only some may be asked; rises: of the
    account, by answers to histograms from those that cost least on.
    """

    limit = 0
    costliest: AskedHistogram | None = None

    def __init__(self, claim: LabelsClaim) -> None:
        assert claim.privacy is not None
        super().__init__(claim.privacy)
        self.claim = claim
        self.asked = 0
        self.rises = Rises()
        self.uncharged: AskedHistogram | None = None  # what moved the account not at all

    def until_spent(
        self,
        target: Target,
        kind: AskedHistogram,
        size: int,
        most: int,
        again: int = AGAIN,
        *,
        unlooked: bool = False,
    ) -> bool:
        """Calls for `size` until `most` labels were asked; True where the budget was spent.

        again: calls in a row that must be refused; unlooked: whether `spent` is not asked until
        then, as one that is asked after every call may be what stops it.
        """
        kind.before = self.account.now if kind.asked == 0 else kind.before
        refused = self.until_refused(
            lambda: self._ask(target, kind, min(size, most - kind.asked), unlooked=unlooked),
            lambda: kind.asked < most,
            again,
        )
        if unlooked and self.violation is None and kind.answered:
            self._judge(target, kind, refused=refused > 0)
        if self.violation is None and kind.answered and self.in_time:
            self._judge_at_other_deltas(target, kind)
        return refused >= min(AGAIN, again)

    def diagnose(self, target: Target, other: AskedHistogram) -> None:
        """Tells answers that are free from histograms, and from calls for one label, that are."""
        free = self.uncharged
        if free is None:
            return
        try:
            if other is not free and self._moves(target, other, 1):
                kinds = "inputs" if self.claim.given else "histograms"
                of = f" to {kinds} such as {self.claim.named(free.votes)}"
            else:
                of = " to calls for one label" if self._moves(target, free, _LARGE) else ""
        except (BudgetExhausted, Refused, TargetError):
            return  # what was found stands without it
        self.diagnosis, self.code = f"answers{of} are not charged", "answers-not-charged"

    def diagnose_few(self, target: Target, kind: AskedHistogram) -> None:
        """Tells calls for a few labels that are charged as one from charges that are too low."""
        if self.diagnosis != UNDERCHARGED or self.account.now is None:
            return
        spent = [self.account.now]
        try:
            for size in (1, SEVERAL[-1]):
                self._labels(target.ask(kind.votes, size), kind, size)
                self.account.look(target, self.answered)
                spent.append(self.account.now)
        except (BudgetExhausted, Refused, TargetError):
            return  # what was found stands without it
        one, several = spent[1] - spent[0], spent[2] - spent[1]
        if 0.0 < several < 0.5 * SEVERAL[-1] * one:
            self.diagnosis = "calls for a few labels are charged as calls for fewer"
            self.code = "calls-undercharged"

    def _moves(self, target: Target, kind: AskedHistogram, size: int) -> bool:
        """Whether a call moves the account."""
        before = self.account.now
        self._labels(target.ask(kind.votes, size), kind, size)
        self.account.look(target, self.answered)
        return self.account.now != before

    def _labels(self, reply: Any, kind: AskedHistogram, size: int) -> Labels:
        """The labels of a reply; raises as `checked_labels`."""
        refuses, release = self.claim.mechanism.refuses, self.claim.release
        return checked_labels(reply, kind.votes, size, refuses, release)

    def _ask(
        self,
        target: Target,
        kind: AskedHistogram,
        size: int,
        *,
        unlooked: bool = False,
        ask: Callable[[Histogram, int], Any] | None = None,
    ) -> bool:
        """One call and a look; False where the budget is spent. Raises as `ask` does."""
        try:
            reply = (ask or target.ask)(kind.votes, size)
        except BudgetExhausted:
            return False
        labels = self._labels(reply, kind, size)
        answered = int((labels != REFUSAL).sum())
        kind.asked, kind.answered = kind.asked + size, kind.answered + answered
        self.asked, self.answered = self.asked + size, self.answered + answered
        if unlooked:
            self._judge_unlooked(target, kind)
        else:
            self._judge(target, kind)
        return True

    def _judge_unlooked(self, target: Target, kind: AskedHistogram) -> None:
        """Looks at the account once the answers cost too much, and whether that stops it."""
        if self._paid(kind, self.privacy.delta).costs_more_than(self.privacy.epsilon) is None:
            return
        self._judge(target, kind)
        if self.account.now is None:
            return  # there was nothing to look at
        try:
            self._labels(target.ask(kind.votes, 1), kind, 1)
        except BudgetExhausted:
            self.diagnosis = "the budget is enforced only where spent is asked"
            self.code = "enforced-only-when-read"
        except (Refused, TargetError):
            return  # what was found stands without it

    def _judge(self, target: Target, kind: AskedHistogram, *, refused: bool = False) -> None:
        self.looked(target, refused=refused)
        if self.violation is not None:
            return
        claimed = self.privacy
        paid = self._paid(kind, claimed.delta)
        if (proof := paid.costs_more_than(claimed.epsilon)) is not None:
            times = self._times(paid, proof.of)
            self.fields = {proof.of: times, "cost": proof.epsilon, "epsilon": claimed.epsilon}
            self.violation = (
                f"it {_DID[proof.of]} {times:,} queries of "
                f"{self._named(paid)}, which cost more than "
                f"({claimed.epsilon:g}, {claimed.delta:g}), namely epsilon {proof.epsilon:.4g} or "
                f"more: certified, against {self.claim.named(proof.there)}"
            )
        elif self.account.now is not None:
            self._hold_to_account(kind, self.account.now, claimed.delta)

    def _judge_at_other_deltas(self, target: Target, kind: AskedHistogram) -> None:
        """What it says of another delta than the claimed one must hold there."""
        small = self.looked_over_deltas(target)
        if small is None:
            return
        delta, spent = small
        self._hold_to_account(kind, spent, delta)
        if self.violation is not None and self.constant:
            self.diagnosis, self.code = IGNORES_DELTA, "account-ignores-delta"

    def _paid(self, kind: AskedHistogram, delta: float) -> AskedHistogram:
        """What the account must cover at `delta`: all queries, where all are charged alike."""
        if self.claim.charges == "data-independent" and self.costliest is not None:
            kind = replace(self.costliest, asked=self.asked, answered=self.answered)
        return kind if delta == self.privacy.delta else kind.at(delta)

    def _named(self, paid: AskedHistogram) -> str:
        """The histogram that an account must cover, in words."""
        alike = self.claim.charges == "data-independent" and self.costliest is not None
        others = " or others, which are charged alike as is claimed" if alike else ""
        return f"{self.claim.named(paid.votes)}{others}"

    @staticmethod
    def _times(paid: AskedHistogram, of: Counted) -> int:
        return paid.answered if of == "answers" else paid.asked

    def _hold_to_account(self, kind: AskedHistogram, spent: float, delta: float) -> None:
        """What it says must be at least what the answers to this histogram alone cost.

        Where the claim says that charges are data-independent, answers to others cost as much.
        """
        paid = self._paid(kind, delta)
        proof = paid.costs_more_than(spent)
        if proof is None:
            return
        named = self.claim.named
        times = self._times(paid, proof.of)
        self.undercharged(
            f"{counted(times, *_COUNTED[proof.of])} {self._named(paid)}",
            others=self.answered - paid.answered,
            spent=spent,
            cost=proof.epsilon,
            delta=delta,
            proof=f": certified, against its neighbour {named(proof.there)}, by counting labels "
            f"{list(proof.labels)} ({proof.least:,} or more of {proof.times:,})",
        )
        self.fields = {**self.fields, proof.of: times, "others": self.answered - paid.answered}
        if proof.of == "screenings":
            self.diagnosis, self.code = SCREENINGS_UNPAID, "screening-not-charged"
        if paid.votes is not kind.votes and kind.at(delta).costs_more_than(spent) is None:
            # those to this histogram alone are charged
            self.diagnosis, self.code = NOT_ADDED_UP, "answers-not-added-up"
            return
        claimed = delta == self.privacy.delta
        self.uncharged = kind if claimed and spent == kind.before else None

    # -- in which calls a histogram is asked -------------------------------------------------------

    def singly(self, target: Target, kinds: list[AskedHistogram]) -> None:
        """Asks single labels while the account is fresh, of the cheapest histograms first.

        One call each, so that the costliest histogram remains most of the cost; more where the
        account does not change, until they cost more than it says.
        """
        for kind in kinds:
            before, patience, answered = self.account.now, _SINGLES, kind.answered
            try:
                while patience and self.account.now == before:
                    if self.until_spent(target, kind, 1, kind.asked + 1):
                        return
                    patience = 0 if before is None else patience - 1
                if kind.answered == answered + 1:
                    self.rises.note(before, self.account.now)
            except Refused:
                kind.limit = None
                if kind is kinds[-1]:
                    raise

    def in_a_row(self, target: Target, worst: AskedHistogram) -> None:
        """Makes equal single calls, which a deployment may mistake for repeats of one call.

        Where the budget is small, later calls are single ones anyway.
        """
        if self._size > 1:
            row = min(_ROW, self.limit // _ROW_PART)
            self.until_spent(target, worst, 1, worst.asked + row)

    def wholly(self, target: Target, worst: AskedHistogram, most: int) -> None:
        """Makes one unsplit call of each of a few sizes, most of which exceed the budget.

        A call that is refused, or fails, for its size is no violation. Sizes are left out that a
        correct deployment might answer and then have little budget left. most: total labels that
        may be asked where the mechanism refuses some.
        """
        claimed = self.claim
        allowed = min(_NUMBERS // claimed.mechanism.classes, claimed.gate.largest_call or _NUMBERS)
        few = min(_PACED, self.limit // _PACED)
        self.until_spent(target, worst, few, worst.asked + few)  # to learn the pace
        sizes = (largest_whole(target, min(size, allowed)) for size in _WHOLE)
        for size in sorted({size // _BYTE * _BYTE for size in sizes} - {0}):
            beyond = claimed.mechanism.refuses and worst.asked + size > most
            if self.violation is not None or not self.in_time or beyond:
                return
            if _LITTLE * size <= self.limit or size >= self.limit:
                with suppress(Refused, TargetError):
                    self._ask(target, worst, size, ask=partial(ask_whole, target))

    def severally(self, target: Target, worst: AskedHistogram) -> None:
        """Makes calls for a few labels early, while an error in charging them still matters."""
        most = worst.asked + self.limit // _IN_SEVERAL
        while self.violation is None and worst.asked + sum(SEVERAL) <= most:
            for size in SEVERAL:
                if self.until_spent(target, worst, size, worst.asked + size):
                    return
        self.diagnose_few(target, worst)

    def to_the_end(self, target: Target, worst: AskedHistogram, most: int) -> None:
        """Asks until the budget is spent, without reading `spent`; then smaller calls, reading it.

        A refused call may only have been too large, so the last calls are single ones.
        """
        if self.until_spent(target, worst, self._size, most, unlooked=True):
            few = max(1, (self.limit - worst.answered) // _FEW_CALLS)
            self.until_spent(target, worst, few, most)
            self.until_spent(target, worst, 1, most, LONG_AGAIN)

    @property
    def _size(self) -> int:
        return max(1, self.limit // _CALLS)
