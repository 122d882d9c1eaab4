"""Labels of a plan's streams and traffic, asked for and shown to every check that sees labels."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.mechanisms import Labels
from ....findings.note import Note
from ....run.events import ReleasesSeen
from ....run.selection import Selection
from ....run.state import RunState
from ....targets import Refused
from ..checks import LabelsInputContract, Order
from ..checks.base import Circumstances, LabelsSetting, streams_asked
from ..checks.input_contract import RefusedLaterError
from ..planning.plan import Plan
from ..planning.schedule import LARGEST_BATCH, AdaptiveSampling, Schedule
from ..planning.streams import LabelBatch, Role
from ..planning.traffic import BATCH
from .asking import StreamAsking, UsedUp
from .observers import Observers

LEAST_INFORMATION = 1e-6  # about the log of the scale, per label
_IN_ORDER_AFTER = 16_384  # queries before the calls in turn: a gross fault has shown by then
_TOLD, _TOLD_LATER = 32, 128  # calls in turn after which the evidence is looked at
_LATER = 512  # calls
_UNTOLD = Note("cannot-be-seen-here", "no histogram that the target serves tells the noise scale")
_ALL_KEPT = Note("inputs-used-up", "an answer is kept, and no more histograms have this law")


class LabelsGathering:
    """Spends a run's queries on the streams of its plan.

    contract: has asked the first call of all; opened: labels of the histogram that opens the run,
    in order; without: streams that cannot be asked.
    """

    def __init__(
        self, state: RunState, plan: Plan, seed: int, contract: LabelsInputContract, only: Selection
    ) -> None:
        self.state, self.plan, self.contract = state, plan, contract
        self.asking = StreamAsking(state.target, plan, contract.serves_other_totals, seed)
        self.setting = LabelsSetting(plan.claim, seed, plan, self.asking.kept, contract.drawn)
        self.observers = Observers(self.setting, only)
        self.opened: list[Labels] = []
        self.without: set[int] = set()
        order = self.observers.order
        self._in_order = None if order is None else InOrder(self, order)
        self._wanted = streams_asked(only, plan, self.observers.lacking)
        self._caching = plan.claim.mechanism.caching
        self.before_batch: Callable[[], bool] = lambda: True
        """What is asked between two batches of the sweeps; False when the run should end."""

    @property
    def goes_on(self) -> bool:
        """Whether there is no failure that ends the run."""
        return self.state.outcome.finished or not self.observers.refuted

    def sweep(self) -> None:
        """Sweeps over all streams in growing batches, then on where a check is not yet sure."""
        scale, outcome = self.observers.scale, self.state.outcome
        if scale is not None and self._telling() is None:
            outcome.hopeless[scale.id] = _UNTOLD
        for batch in self._batches():
            late = self.state.queries >= _IN_ORDER_AFTER
            if not self.before_batch() or (late and not self._ask_in_order()):
                return
            if not self.goes_on or (self._wanted[batch.stream] and not self.ask_batch(batch)):
                return
        if not self._ask_in_order():
            return
        while scale is not None and not scale.refuted:
            missing = scale.samples_needed()
            if missing == 0:
                return
            telling = self._telling()
            if telling is None:
                outcome.hopeless[scale.id] = _UNTOLD
                outcome.stopped = outcome.stopped or _UNTOLD
                return
            if not self.ask_batch(LabelBatch(telling, min(LARGEST_BATCH, max(1000, missing)))):
                return

    def _ask_in_order(self) -> bool:
        """Makes the calls in turn, unless they have been made; False when the run should end."""
        if self._in_order is None:
            return True
        return self._in_order.ask(self._planned, lambda: not self.goes_on) and self.goes_on

    def ask_more_in_order(self, calls: int) -> None:
        """Goes on with the calls in turn, about so many, once they have shown a fault."""
        in_order = self._in_order
        if in_order is not None:
            enough = in_order.place + calls
            in_order.ask(self._planned, lambda: in_order.place >= enough)

    @property
    def _planned(self) -> int:
        """Queries of the plan that any check of the run needs."""
        streams = zip(self.plan.streams, self._wanted, strict=True)
        in_turn = 0 if self._in_order is None else self.plan.traffic.labels
        return in_turn + sum(stream.queries for stream, asked in streams if asked)

    def _batches(self) -> Iterator[LabelBatch]:
        """The batches of the plan; where known faults are followed, what shows them comes first."""
        labels, schedule = self.observers.labels, Schedule(self.plan)
        if labels is None:
            return schedule.sweeps()
        pooled = labels.pooled

        def can_ask(stream: int) -> bool:
            return self._wanted[stream] and stream not in self.without

        return AdaptiveSampling(schedule, lambda: pooled.capital, can_ask).batches()

    def show_opening(self) -> None:
        """Shows all checks the labels of the run's first call, and which were drawn after it."""
        if self._caching:
            return
        calls, opened = self.contract.calls, self.contract.opened
        first = np.concatenate([labels for _, labels in calls[:opened]])
        sizes = tuple(labels.size for _, labels in calls[:opened])
        self.asking.calls += calls
        self.show(self.plan.first(Role.FRESH), first, Circumstances(calls=sizes))
        if self.observers.fresh is not None:
            for asked, labels in calls[opened:]:
                self.observers.fresh.places.pass_over(int(asked.sum()), labels.size)

    def ask_batch(self, batch: LabelBatch) -> bool:
        """Feeds fresh labels of a stream to all checks; False when the run should end."""
        left, size = self.state.left, batch.labels
        fits = batch.size if size <= left else left * batch.size // size
        if fits > 0:  # of two streams in turn, one query left asks neither
            self.ask_what_is_served(replace(batch, size=fits))
        self.state.tell("asking", self._planned)
        if size > left:
            self.state.use_up()
        return size <= left and self.goes_on

    def ask_what_is_served(self, batch: LabelBatch) -> None:
        """Feeds fresh labels of a stream to all checks, or does without a stream from now on."""
        stream = batch.stream
        if stream in self.without:
            return
        try:
            self.ask(batch)
        except Refused as refusal:
            if self.observers.answered[stream] and not self._caching:
                named = self.plan.claim.named(self.plan.streams[stream].histogram)
                message = f"{named} is refused, but was answered: {refusal}"
                raise RefusedLaterError(message) from None
            self._drop(stream, str(refusal))
        except UsedUp:
            self.without.add(stream)
            self.state.outcome.stopped = _ALL_KEPT

    def ask(self, batch: LabelBatch) -> Labels:
        """Fresh labels of a stream, seen by all checks."""
        if batch.other is not None:
            return self._ask_in_turn(batch, batch.other)
        labels, calls = self.asking.labels(batch)
        self.state.spend(labels.size)
        self.show(batch.stream, labels, Circumstances(batch.rotation, calls))
        return labels

    def _ask_in_turn(self, batch: LabelBatch, other: int) -> Labels:
        """Fresh labels of a stream and of another, in calls for one label, in turn."""
        labels, others = self.asking.in_turn(batch)
        self.state.spend(2 * batch.size)
        if self.observers.fresh is not None:
            self.observers.fresh.observe_in_turn(batch.stream, other, labels, others)
        singly = (1,) * batch.size
        self.show(batch.stream, labels, Circumstances(calls=singly, goes_on=True))
        self.show(other, others, Circumstances(calls=singly))
        return labels

    def show(self, stream: int, labels: Labels, how: Circumstances) -> None:
        """Shows all checks fresh labels of a stream, and how they were asked."""
        if stream == self.plan.first(Role.FRESH):
            self.opened.append(labels)
        if self.observers.fresh is not None:
            self.observers.fresh.observe_calls(self.asking.calls)
        self.asking.calls.clear()
        self.observers.observe(stream, labels, how)
        self.say_seen()

    def say_seen(self) -> None:
        """Publishes that checks have seen labels."""
        self.state.publish(ReleasesSeen(self.state.queries, self.observers.checks))

    def _telling(self) -> int | None:
        """The stream whose labels tell most of the noise scale, if those of any do."""
        order = (int(i) for i in np.argsort(-self.plan.information))
        best = next((i for i in order if i not in self.without), None)
        tells = best is not None and self.plan.information[best] >= LEAST_INFORMATION
        return best if tells else None

    def _drop(self, stream: int, refusal: str) -> None:
        """Goes on without a histogram that the target refuses."""
        self.without.add(stream)
        self.observers.drop(stream)
        message = f"histogram refused ({self.plan.streams[stream].kind}): {refusal}"
        self.state.outcome.warn(Note("input-refused", message))


class InOrder:
    """Asks the traffic of a plan, once, call after call, and shows the check of order the labels.

    place: of the next call. A histogram that the target refuses is left out from then on.
    """

    def __init__(self, gathering: LabelsGathering, check: Order) -> None:
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

    def _ask(self, places: NDArray[np.intp]) -> bool:
        """Makes some calls, as far as the budget goes; whether it went to the end."""
        answered, labels = [], []
        after = self.plan.traffic.after_batch
        needed = np.cumsum(1 + BATCH * after[places])
        fits = places[needed <= self.state.left]
        for place in fits:
            if after[place] and self.check.awaits(int(place)):
                # a few labels of the histogram that opened the run, in one call
                self.gathering.ask_what_is_served(LabelBatch(self.plan.first(Role.FRESH), BATCH))
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
