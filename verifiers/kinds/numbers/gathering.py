"""Releases that all checks share: asked for, call by call, and shown to each of them."""

from collections.abc import Callable, Sequence

import numpy as np

from ...findings.note import Note
from ...run.request import RunRequest
from ...run.state import RunState
from ...targets import Refused, at_once
from ...targets.replies import CallError
from .checks.base import NumberCheck
from .checks.fresh_noise import FreshNoise
from .checks.input_contract import InputContract
from .evidence.bins import Placing
from .planning.asked import Asked, Batch, Draws, asked_for, asked_together
from .planning.plan import NumbersPlan, changed_in_one, turns
from .recorder import Recorder

_PART = 16
"""Releases of a call from which on several in flight share what one would ask for."""

_TOGETHER = 64
"""Calls for one release of each of two inputs that are in flight together."""

_NEAR, _FAR = 2.0, 20.0
"""Scales of the noise, in all, below which inputs tell nothing; most that a number counts for."""

_PATIENCE = 0.3
"""Share of the timeout within which the long call must fit; else it is not asked for."""


class Gathering:
    """Spends a run's queries on its inputs.

    contract: has asked the first calls; checks: those that see every release; plan: the inputs that
    are served, once these are known; recorder: follows what is shown.
    """

    def __init__(
        self,
        state: RunState,
        request: RunRequest,
        plan: NumbersPlan,
        contract: InputContract,
        checks: Sequence[NumberCheck],
        *,
        recorder: Recorder,
    ) -> None:
        self.state, self.request, self.plan = state, request, plan
        self.contract, self.checks, self._long_call = contract, checks, plan.long_call
        self.claim = state.claim
        rng = np.random.default_rng([request.seed, 2])
        self.placing = Placing(self.claim.mechanism.added, rng)
        self.recorder = recorder
        self.after_look: Callable[[], bool] = lambda: True
        """What is asked between two looks; False when the run should end."""

    def gather(self) -> None:
        """Asks input after input until every check has seen enough, or one has failed."""
        self._show_contract()
        if not self.checks or self.stops():
            return
        self._ask_two_at_once()
        if self.stops():
            return
        pending: list[Batch] = []
        for asked, wanted, look in self.plan.paced(self.request.seed, self.contract.queries):
            size = min(wanted, self.state.left)
            if size < 1:
                if pending:
                    self.show(pending)
                self.state.use_up()
                return
            batch = self._batch(asked, size)
            pending.append(batch)
            if not look:
                continue
            self.show(pending)
            pending = []
            if not self.after_look():
                return
            self._ask_long_call()
            if self._done():
                self._ask_in_turn()
                return

    def ask_some(self, releases: int) -> None:
        """Shows about so many releases, whatever they refute: they tell the cause of a failure."""
        self._show_contract()
        left = min(releases, self.state.left) if self.checks else 0
        for asked, wanted, _ in self.plan.paced(self.request.seed, self.contract.queries):
            enough = all(check.refuted or check.samples_needed() == 0 for check in self.checks)
            if left < 1 or enough:
                return
            size = min(wanted, left)
            left -= size
            self.show([self._batch(asked, size)])

    def _ask_two_at_once(self) -> None:
        """Asks two inputs far apart in calls that are in flight together, where several may be."""
        wanted, (first, *others) = 2 * _TOGETHER, self.plan.inputs
        if at_once(self.state.target) < 2 or not others or self.state.left < wanted:
            return
        scale = self.claim.mechanism.added.family.scale
        off = [np.abs(other.exact - first.exact) / scale for other in others]
        apart = [np.nansum(np.minimum(each, _FAR)) for each in off]  # some numbers have no law
        if max(apart) < _NEAR:
            return
        pair = first, others[int(np.argmax(apart))]
        try:
            batches = asked_together(self.state.target, self.claim.release, pair, _TOGETHER)
        except Refused as refusal:
            call = self.claim.release.text(first.values, 1)
            raise CallError(
                call, f"was refused in flight beside another input: {refusal}", code="refused-later"
            ) from None
        self.state.spend(wanted)
        self.show(batches)

    def _ask_in_turn(self) -> None:
        """Asks the typical input and one that differs in one number by turns, for `fresh-noise`.

        Its noise is compared number by number with that of the release before. Late, as it is.
        """
        state, calls, typical = self.state, turns(self.claim, self.plan), self.plan.inputs[0]
        fresh = [check for check in self.checks if isinstance(check, FreshNoise)]
        if not calls or not fresh or state.left < calls or self.stops():
            return
        pair = typical, changed_in_one(self.claim, typical)
        batches = []
        for turn in range(calls):
            try:
                batch = asked_for(state.target, self.claim.release, pair[turn % 2], (1,))
            except Refused:
                return  # other checks judge what is refused by the data
            state.spend(1)
            batches.append(batch)
        draws = Draws(tuple(batches), self.placing, self.plan.coordinates)
        for check in fresh:
            check.observe_in_turn(draws)
            check.refuted  # noqa: B018 - a look
        self.stops()

    def _ask_long_call(self) -> None:
        """Asks once for more than 1,000 releases, which a service may answer in another way.

        Late: a fault that few releases show is not paid for by so many.
        """
        state, size, left = self.state, self._long_call, self._left()
        due = left == 0 or (left <= size <= state.queries)
        needed = state.seconds / max(1, state.queries) * size
        if not size or not due or state.left < size or needed > _PATIENCE * self.claim.gate.timeout:
            return
        if self.stops():
            return
        asked, self._long_call = self.plan.inputs[0], 0
        try:
            reply = state.target.ask(asked.values, size)
        except Refused as refusal:
            message = f"a call for {size:,} releases is refused: {refusal}"
            state.outcome.warn(Note("long-call-refused", message, {"releases": size}))
            return
        state.spend(size)
        released = self.claim.release.shaped(reply, asked.values, size)
        self.show([Batch(asked, released, (size,))])

    def _batch(self, asked: Asked, size: int) -> Batch:
        """Fresh releases of an input that was answered before. Raises TargetError."""
        target, release, sizes = self.state.target, self.claim.release, self._together(size)
        try:
            batch = asked_for(target, release, asked, sizes)
        except Refused as refusal:
            raise CallError(
                release.text(asked.values, sizes[0]),
                f"was refused, although this input was answered before: {refusal}",
                code="refused-later",
            ) from None
        self.state.spend(len(batch.releases))
        return batch

    def _together(self, size: int) -> list[int]:
        """Sizes of the calls in flight that take the place of one: as large, or parts of it."""
        several = self.claim.gate.concurrency
        each = max(min(size, _PART), -(-size // several))
        fits = max(1, min(several, self.state.left // each))
        return [each] * fits if fits > 1 else [size]

    def _show_contract(self) -> None:
        """Shows what the contract was given reply by reply, to know which of them was the proof."""
        seen, outcome = 0, self.state.outcome
        for batch in self.contract.seen:
            self.show([batch])
            seen += len(batch.releases)
            if outcome.found_after is None and any(check.refuted for check in self.checks):
                outcome.found_after = seen

    def show(self, batches: Sequence[Batch]) -> None:
        """Shows the releases of some calls to the checks at once: a look has its price."""
        draws = Draws(tuple(batches), self.placing, self.plan.coordinates)
        for check in self.checks:
            check.observe(draws)
            check.refuted  # noqa: B018 - a look: evidence that refutes is kept as it is now
        self.recorder.observe(draws, self.checks)

    def stops(self) -> bool:
        """Whether a check has failed, and the run ends with it."""
        failed = any(check.refuted for check in self.checks)
        if failed and self.state.outcome.found_after is None:
            self.state.outcome.found_after = self.state.queries
        enough = self.state.queries >= self.plan.few
        return failed and not self.request.keeps_going and enough

    def _done(self) -> bool:
        """Whether there is nothing left to ask for."""
        self.state.tell("asking", self.state.queries + self._left())
        if self.stops():
            return True
        return all(check.refuted or check.samples_needed() == 0 for check in self.checks)

    def _left(self) -> int:
        """Releases that the checks still need."""
        width = max(1, self.plan.coordinates.size)
        return max((check.samples_needed() for check in self.checks), default=0) // width
