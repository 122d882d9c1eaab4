"""What a session does in the phases of a run for which its kind has nothing to do."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..findings.figures import CheckFigures
from ..findings.finding import Outcome
from ..findings.note import Note
from ..findings.report import CheckResult, Slow
from .cause import Explanation
from .checks import Check, EvidenceCheck, RunContext
from .phase import Phase
from .session import Notes
from .state import RunState


class PlainSession:
    """A `Session` that concludes its contract itself, and asks for draws alone."""

    state: RunState
    checks: list[EvidenceCheck]
    refusals: Sequence[Note] = ()
    lacking: Mapping[str, Note] = {}
    opening = None
    slow: Slow = MappingProxyType({})

    @property
    def goes_on(self) -> bool:
        return self.state.outcome.finished or not self.state.failed

    def open(self, context: RunContext) -> Outcome:
        """What `input-contract` comes to."""
        raise NotImplementedError

    def prepare(self) -> None:
        """What is asked stands in the claim."""

    def compare(self, earlier: Any) -> None:
        """Nothing is kept of a run to compare."""

    def explain(self) -> None:
        """The evidence itself says it."""

    def restart(self) -> None:
        """Nothing is compared across one."""

    def ask_restarted(self) -> None:
        pass

    def concluding(self, phase: Phase) -> Iterator[Check]:
        if phase is Phase.OPENING:
            yield OpeningCheck(self)

    def explanations(self) -> Sequence[Explanation]:
        peaks = [(check, check.peak.finding) for check in self.checks if check.peak is not None]
        return [Explanation(check, found, found.log_odds or 0.0) for check, found in peaks]

    def end(self, found: Sequence[CheckResult]) -> Notes:
        return Notes()

    def figures(self, found: Sequence[CheckResult]) -> Mapping[str, CheckFigures]:
        """Nothing is drawn."""
        return {}


class PlainPlan:
    """What is alike of each `Planned` whose queries are calls of one draw."""

    coarser = None

    @property
    def looked_at(self) -> Mapping[str, int]:
        raise NotImplementedError

    @property
    def lacking(self) -> Mapping[str, Note]:
        return {}

    @property
    def queries(self) -> int:
        return sum(self.looked_at.values())

    @property
    def calls(self) -> int:
        return self.queries


class OpeningCheck(Check):
    """`input-contract`, which a session concludes itself."""

    id = "input-contract"
    phase = Phase.OPENING

    def __init__(self, session: PlainSession) -> None:
        self._session = session

    def conclude(self, context: RunContext) -> Outcome:
        return self._session.open(context)
