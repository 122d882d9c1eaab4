"""How numbers are asked where the search of the code has found something to ask."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ....paths.background import Searched
from ....paths.left_out import LeftOut
from ....paths.search import Reached, Search
from ....paths.steering import Answers, BranchAsker
from ....run.error_budget import log_threshold
from ....targets import TargetError
from ..checks.at_branches import BranchInput
from ..checks.fresh_noise import FreshNoise
from ..checks.noise_law import NoiseLaw
from ..claim import NumbersClaim
from ..gathering import Gathering
from ..planning.asked import Asked, Batch, Draws, asked_for
from ..planning.plan import NumbersPlan
from .candidates import LEAST, MOST_RELEASES, NumberSource, nats_of_half
from .inputs import GROWS, SERVED

_SPARE = 28.0  # nats: of weights, and so that one input in a hundred misses half the noise
_INPUTS, _MOST = 40, 8_000  # inputs, and releases in all
FULL = 50_000  # queries from which the search runs
_ROLE = "made for the code"  # of an input, as messages call it
_MOST_REFUSED = 20_000  # records of a refused input that is judged: it is sent some forty times


class NumberAsker(BranchAsker):
    """Shows the releases to `noise-law`, and whether any are copies.

    gathering: of the run; law: judges; seed: of the run; releases: of a pass.
    """

    after, rounds, most_rows = 4_096, 4, 2_000_000

    def __init__(
        self, gathering: Gathering, law: NoiseLaw, seed: int, releases: Callable[[], int]
    ) -> None:
        self.gathering, self.state, self.claim = gathering, gathering.state, gathering.claim
        self.most = most_steered(self.claim)
        self._law, self._seed, self._releases = law, seed, releases
        self._inputs = dict[int, Asked]()  # by the id of their values, where these are finite

    def source(self) -> NumberSource:
        needed = self._law.log_threshold + _SPARE
        return NumberSource(self.claim, self.gathering.plan, self._seed, needed, self._releases())

    def key(self, values: Any) -> Hashable:
        return tuple((one.dtype.str, one.shape, one.tobytes()) for one in _tensors(values))

    def told(self, searched: Searched) -> None:
        self._law.of_code = searched.words
        if searched.search is not None:
            self._ask_refused(searched.search)

    def begin(self, chosen: Sequence[Reached]) -> None:
        given = {id(values): values for one in chosen for values, _ in one.candidate.calls}
        self._inputs = {
            of: self._asked(values)
            for of, values in given.items()
            if all(np.isfinite(one).all() for one in _tensors(values))
        }
        inputs = [self._input(one) for one in chosen for _ in range(one.candidate.judged)]
        self._law.begin_branches(inputs)

    def ask(self, values: Any, size: int, place: int | None) -> Batch | None:
        """Releases of what is not finite nobody can judge: it may be refused, or be an error."""
        asked, target = self._inputs.get(id(values)), self.state.target
        if asked is not None:
            return asked_for(target, self.claim.release, asked, [size])
        try:
            target.ask(values, size)
        except TargetError as error:
            raise LeftOut(str(error)) from None
        return None

    def show(self, answers: Answers) -> None:
        """Those of judged calls alone to the law.

        Releases in single precision are no copies: beside others they would be taken for finer
        floats than they are, and some are alike by chance.
        """
        gathering, coordinates = self.gathering, self.gathering.plan.coordinates
        typed = self.claim.release.typed
        fine = tuple(batch for _, batch in answers if not typed(batch.asked.values))
        for place in sorted({place for place, _ in answers if place is not None}):
            own = tuple(batch for at, batch in answers if at == place)
            self._law.observe_branch(place, Draws(own, gathering.placing, coordinates))
        self._law.refuted  # noqa: B018 - a look: evidence that refutes is kept as it is now
        for fresh in gathering.checks if fine else ():
            if isinstance(fresh, FreshNoise):
                fresh.observe(Draws(fine, gathering.placing, coordinates))
                fresh.refuted  # noqa: B018 - as above

    @property
    def goes_on(self) -> bool:
        return not self.gathering.stops()

    def _ask_refused(self, search: Search) -> None:
        """Asks what the copy did not answer although the claim serves it: the existing way."""
        contract, state = self.gathering.contract, self.state
        unanswered = [
            one for one in search.unanswered if one.way in SERVED and one.rows <= _MOST_REFUSED
        ]
        if not unanswered or contract.by_data.waits:
            return
        fewest = min(unanswered, key=lambda one: one.rows)
        typical = self.gathering.plan.inputs[0].records
        more = [one for one in unanswered if one.way == GROWS and one.rows > typical + 1]
        named = {id(fewest): fewest}
        if more:
            many = min(more, key=lambda one: one.rows)
            named[id(many)] = many
        contract.ask_more(state, [self._asked(one.calls[0][0]) for one in named.values()])

    def _asked(self, values: Any) -> Asked:
        mechanism = self.claim.mechanism
        return Asked.of(mechanism.release, values, mechanism.aggregation.exact(values), _ROLE)

    def _input(self, reached: Reached) -> BranchInput:
        return BranchInput(self._inputs[id(reached.candidate.calls[-1][0])], reached)


def steers(claim: NumbersClaim, plan: NumbersPlan) -> bool:
    """Whether inputs may be steered: a run of numbers at full breadth."""
    return claim.kind.name == "numbers" and claim.gate.max_queries >= FULL and plan.share == 1.0


def most_steered(claim: NumbersClaim) -> int:
    """Releases that are asked of what the search has found, at most."""
    share = claim.kind.checks.shares[NoiseLaw.id]
    nats = log_threshold(share, claim.gate.false_alarm) + _SPARE
    width = min(claim.mechanism.width, MOST_RELEASES)
    each = math.ceil(nats / (nats_of_half(claim.mechanism.aggregation.noise) * width))
    return min(_MOST, _INPUTS * min(max(LEAST, each), MOST_RELEASES))


def _tensors(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]
