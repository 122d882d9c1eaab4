"""The calls that a deployment with a budget is asked, from single labels to far too many."""

from contextlib import suppress

from ....run.watched import LONG_AGAIN
from ....targets import Refused, Target, TargetError, largest_whole
from .asked_histogram import AskedHistogram
from .budget_asking import SEVERAL, BudgetAsking

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


class BudgetCalls:
    """Asks histograms in calls of different sizes.

    asking: makes and checks each call; limit: answers to the costliest histogram that cost too
    much.
    """

    def __init__(self, asking: BudgetAsking, limit: int) -> None:
        self.asking, self.limit = asking, limit

    def singly(self, target: Target, kinds: list[AskedHistogram]) -> None:
        """Asks single labels while the account is fresh, of the cheapest histograms first.

        One call each, so that the costliest histogram remains most of the cost; more where the
        account does not change, until they cost more than it says.
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
        """Makes equal single calls, which a deployment may mistake for repeats of one call.

        Where the budget is small, later calls are single ones anyway.
        """
        if self._size > 1:
            row = min(_ROW, self.limit // _ROW_PART)
            self.asking.until_spent(target, worst, 1, worst.asked + row)

    def wholly(self, target: Target, worst: AskedHistogram, most: int) -> None:
        """Makes one unsplit call of each of a few sizes, most of which exceed the budget.

        A call that is refused, or fails, for its size is no violation. Sizes are left out that a
        correct deployment might answer and then have little budget left. most: total labels that
        may be asked where the mechanism refuses some.
        """
        asking, claimed = self.asking, self.asking.claim
        allowed = min(_NUMBERS // claimed.mechanism.classes, claimed.gate.largest_call or _NUMBERS)
        few = min(_PACED, self.limit // _PACED)
        asking.until_spent(target, worst, few, worst.asked + few)  # to learn the pace
        sizes = (largest_whole(target, min(size, allowed)) for size in _WHOLE)
        for size in sorted({size // _BYTE * _BYTE for size in sizes} - {0}):
            beyond = claimed.mechanism.refuses and worst.asked + size > most
            if asking.violation is not None or not asking.in_time or beyond:
                return
            if _LITTLE * size <= self.limit or size >= self.limit:
                with suppress(Refused, TargetError):
                    asking.ask_whole(target, worst, size)

    def severally(self, target: Target, worst: AskedHistogram) -> None:
        """Makes calls for a few labels early, while an error in charging them still matters."""
        most = worst.asked + self.limit // _IN_SEVERAL
        while self.asking.violation is None and worst.asked + sum(SEVERAL) <= most:
            for size in SEVERAL:
                if self.asking.until_spent(target, worst, size, worst.asked + size):
                    return
        self.asking.diagnose_few(target, worst)

    def to_the_end(self, target: Target, worst: AskedHistogram, most: int) -> None:
        """Asks until the budget is spent, without reading `spent`; then smaller calls, reading it.

        A refused call may only have been too large, so the last calls are single ones.
        """
        asking = self.asking
        if asking.until_spent(target, worst, self._size, most, unlooked=True):
            few = max(1, (self.limit - worst.answered) // _FEW_CALLS)
            asking.until_spent(target, worst, few, most)
            asking.until_spent(target, worst, 1, most, LONG_AGAIN)

    @property
    def _size(self) -> int:
        return max(1, self.limit // _CALLS)
