"""Calls for one label each, one after another, on related histograms: as production asks."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from ....findings.note import Note
from ....targets import Refused
from ..checks import Order
from ..checks.input_contract import RefusedLaterError
from ..planning.plan import Batch
from ..planning.roles import Role
from ..planning.traffic import BATCH

if TYPE_CHECKING:
    from .gathering import Gathering

AFTER = 16_384
"""Queries after which the calls in turn are made: a gross fault has shown by then."""

Places = NDArray[np.intp]

_TOLD, _TOLD_LATER = 32, 128  # calls after which the evidence is looked at
_LATER = 512  # calls


class InOrder:
    """Asks the traffic of a plan, once, and shows the labels to the check of order.

    place: of the next call. A histogram that the target refuses is left out from then on.
    """

    def __init__(self, gathering: "Gathering", check: Order) -> None:
        self.gathering, self.check, self.place = gathering, check, 0
        self.state, self.plan = gathering.state, gathering.plan

    def ask(self, planned: int, over: Callable[[], bool]) -> bool:
        """Makes the calls that are left; False where the claim's queries do not hold them.

        planned: queries of the whole run; over: looked at every few calls, whether to end here.
        """
        while self.place < len(self.plan.traffic.histograms) and not over():
            self.state.tell("asking in turn", planned)
            size = _TOLD if self.place < _LATER else _TOLD_LATER
            end = min(self.place + size, len(self.plan.traffic.histograms))
            places = np.arange(self.place, end)
            self.place = end
            if not self._ask(places):
                return False
        return True

    def _ask(self, places: Places) -> bool:
        """Makes some calls, as far as the budget goes; whether it went to the end."""
        answered, labels = [], []
        after = self.plan.traffic.after_batch
        needed = np.cumsum(1 + BATCH * after[places])
        fits = places[needed <= self.state.left]
        for place in fits:
            if after[place] and self.check.awaits(int(place)):
                # a few labels of the histogram that opened the run, in one call
                self.gathering.ask_what_is_served(Batch(self.plan.first(Role.FRESH), BATCH))
            label = self._one(int(place))
            if label is not None:
                answered.append(place)
                labels.append(label)
        if answered:
            self.check.observe_in_order(np.array(answered), np.array(labels, dtype=np.int64))
            self.gathering.say_seen()
        if fits.size < places.size:
            self.state.use_up()
        return fits.size == places.size

    def _one(self, place: int) -> int | None:
        """The label of one call, or None where nothing is drawn: refused, or kept from before."""
        votes = self.plan.traffic.histograms[place]
        if not self.check.awaits(place):
            return None
        try:
            label = self.gathering.asking.one(votes)
        except Refused as refusal:
            self._refused(votes, place, str(refusal))
            return None
        if label is None:
            self.check.pass_over(np.array([place]))
        else:
            self.state.spend(1)
        return label

    def _refused(self, votes: Histogram, place: int, why: str) -> None:
        """Goes on without a histogram. Raises TargetError where it was answered before."""
        same = np.flatnonzero((self.plan.traffic.histograms == votes).all(-1))
        if not self.plan.claim.mechanism.caching and (same < place).any():
            named = self.plan.claim.named(votes)
            message = f"{named} is refused, but was answered: {why}"
            raise RefusedLaterError(message) from None
        self.check.pass_over(same)
        self.state.outcome.warn(Note("input-refused", f"histogram refused (in turn): {why}"))
