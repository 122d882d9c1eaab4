"""In which calls a deployment with a budget is asked: single ones, and ones far too large."""

from contextlib import suppress

from ....run.watched import LONG_AGAIN
from ....targets import Refused, Target, TargetError, largest_whole
from .asked_histogram import AskedHistogram
from .budget_asking import SEVERAL, BudgetAsking

_SINGLES = 32  # calls for one label of a histogram, while the account stands still
_CALLS = 384  # until answers to a histogram have certainly cost too much
_FEW_CALLS = 2_000  # for few labels each, once larger calls are refused
_ROW, _ROW_PART = 64, 16  # single calls in a row, where the other calls are larger
_IN_SEVERAL = 4  # part of the answers that cost too much that calls for a few labels ask
_WHOLE = (256, 4_096, 65_536)  # what a byte, a cap, and two bytes take for nothing, or for less
_BYTE = 256  # which such calls are multiples of
_PACED = 16  # labels of a call just before
_LITTLE = 8  # times such a call, so many answers cost too much: enough is left after it
_NUMBERS = 5 * 10**6  # labels times classes of such a call, which may be drawn before it is refused


class BudgetCalls:
    """Asks one histogram after the other, in calls of every size.

    asking: what judges each call; limit: answers to the costliest histogram that cost too much.
    """

    def __init__(self, asking: BudgetAsking, limit: int) -> None:
        self.asking, self.limit = asking, limit

    def singly(self, target: Target, kinds: list[AskedHistogram]) -> None:
        """Calls for one label, while the account is fresh: the cheapest histograms first.

        One each, so that the costliest histogram's answers remain most of what is charged; more
        where the account stands still, until they cost more than it says.
        """
        for kind in kinds:
            before, patience = self.asking.account.now, _SINGLES
            try:
                while patience and self.asking.account.now == before:
                    if self.asking.until_spent(target, kind, 1, kind.asked + 1):
                        return
                    patience = 0 if before is None else patience - 1
            except Refused:
                kind.limit = None
                if kind is kinds[-1]:
                    raise

    def in_a_row(self, target: Target, worst: AskedHistogram) -> None:
        """Single calls, one like the other, of which some may be taken for repeats of one.

        Small budgets are asked to their end in them.
        """
        if self._size > 1:
            row = min(_ROW, self.limit // _ROW_PART)
            self.asking.until_spent(target, worst, 1, worst.asked + row)

    def wholly(self, target: Target, worst: AskedHistogram, most: int) -> None:
        """One call of each of a few sizes, unsplit: most are more than is left, and are refused.

        A call that is refused for its size, or cut, is no answer, and nothing wrong. Left out are
        those that a correct one might answer, and then have little left. most: labels that may be
        asked where some are refused, and their answers prove less.
        """
        asking, claimed = self.asking, self.asking.claim
        allowed = min(_NUMBERS // claimed.mechanism.classes, claimed.gate.largest_call or _NUMBERS)
        few = min(_PACED, self.limit // _PACED)
        asking.until_spent(target, worst, few, worst.asked + few)  # whose pace says what is in time
        sizes = (largest_whole(target, min(size, allowed)) for size in _WHOLE)
        for size in sorted({size // _BYTE * _BYTE for size in sizes} - {0}):
            beyond = claimed.mechanism.refuses and worst.asked + size > most
            if asking.violation is not None or not asking.in_time or beyond:
                return
            if _LITTLE * size <= self.limit or size >= self.limit:
                with suppress(Refused, TargetError):
                    asking.ask_whole(target, worst, size)

    def severally(self, target: Target, worst: AskedHistogram) -> None:
        """Calls for a few labels each, early: a fault of theirs is then most of what is charged."""
        most = worst.asked + self.limit // _IN_SEVERAL
        while self.asking.violation is None and worst.asked + sum(SEVERAL) <= most:
            for size in SEVERAL:
                if self.asking.until_spent(target, worst, size, worst.asked + size):
                    return
        self.asking.diagnose_few(target, worst)

    def to_the_end(self, target: Target, worst: AskedHistogram, most: int) -> None:
        """Calls without a look at `spent`, then small ones with it.

        The former are single ones unless the budget is large. A call that is refused may only have
        been too large.
        """
        asking = self.asking
        if asking.until_spent(target, worst, self._size, most, unlooked=True):
            few = max(1, (self.limit - worst.answered) // _FEW_CALLS)
            asking.until_spent(target, worst, few, most)
            asking.until_spent(target, worst, 1, most, LONG_AGAIN)

    @property
    def _size(self) -> int:
        return max(1, self.limit // _CALLS)
