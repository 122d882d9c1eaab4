"""How labels are asked where the search of the code has found something to ask."""

from collections.abc import Sequence
from typing import Any

from ....findings.note import Note
from ....paths.background import Searched
from ....paths.lines import code_hints
from ....paths.search import Reached, Search
from ....paths.steering import Answers, BranchAsker
from ....run.error_budget import log_threshold
from ..checks import ClassProbabilities
from ..checks.at_branches import BranchHistogram
from ..gathering.gathering import LabelsGathering
from ..planning.plan import Plan
from ..registry import SHARES
from .candidates import LabelSource

MOST_QUERIES = 3_000
"""Labels that are asked of inputs that the search has found."""

_SPARE = 40.0  # nats: of weights, and so that one run in a thousand misses half the noise
_FULL = 50_000  # planned queries from which the search runs


class LabelAsker(BranchAsker):
    """Shows the labels to `class-probabilities`."""

    after, rounds, most = 8_192, 8, MOST_QUERIES

    def __init__(self, gathering: LabelsGathering, check: ClassProbabilities, seed: int) -> None:
        self.gathering, self.check, self._seed = gathering, check, seed
        self.state, self.plan = gathering.state, gathering.plan
        self.refuses = self.plan.claim.mechanism.refuses

    def source(self) -> LabelSource:
        false_alarm = self.plan.claim.gate.false_alarm
        needed = log_threshold(SHARES[self.check.id], false_alarm) + _SPARE
        others = self.gathering.contract.serves_other_totals
        return LabelSource(self.plan, self._seed, needed, other_totals=others)

    def key(self, values: Any) -> bytes:
        found: bytes = values.tobytes()
        return found

    def told(self, searched: Searched) -> None:
        self.check.of_code = searched.words

    def begin(self, chosen: Sequence[Reached]) -> None:
        inputs = [_input_of(one) for one in chosen for _ in range(one.candidate.judged)]
        self.check.begin_branches(inputs)

    def ask(self, values: Any, size: int, place: int | None) -> Any:
        return self.gathering.asking.call(values, size)

    def show(self, answers: Answers) -> None:
        for place, labels in answers:
            if place is not None:
                self.check.observe_branch(place, labels)
        self.gathering.say_seen()

    @property
    def goes_on(self) -> bool:
        return self.gathering.goes_on

    def hints(self, search: Search) -> list[Note]:
        noise = self.plan.claim.mechanism.noise
        return code_hints(search, whole=noise.unrounded is not noise)


def steers(plan: Plan) -> bool:
    """Whether inputs may be steered: a plan of some size, of any histogram, each label fresh."""
    claim = plan.claim
    kept = claim.mechanism.caching or bool(claim.given)
    wanted = claim.gate.paths is not False and not kept
    return wanted and min(plan.queries, claim.gate.max_queries) >= _FULL


def why_not_steered(plan: Plan) -> str:
    """Why no code is searched in a run whose inputs may not be steered."""
    claim = plan.claim
    if claim.mechanism.caching or claim.given:
        return "the claim says that answers are kept, or which histograms are asked"
    return "a pass takes fewer than 50,000 queries here, from which on they are"


def _input_of(reached: Reached) -> BranchHistogram:
    decision, calls = reached.decision, reached.candidate.calls
    histogram = tuple(int(v) for v in calls[-1][0])
    place = f"{decision.file}:{decision.line}" if decision.file else ""
    return BranchHistogram(histogram, place, decision.text, reached.outcome[1], len(calls))
