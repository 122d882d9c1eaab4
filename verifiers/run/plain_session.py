"""What a session does in the phases of a run for which its kind has nothing to do."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..findings.figures import CheckFigures
from ..findings.note import Note
from ..findings.report import CheckResult, Slow
from .cause import Explanation
from .checks import Check, Running
from .phase import Phase
from .session import Notes
from .state import RunState


class PlainSession:
    """A `Session` that concludes its contract itself, and asks for draws alone."""

    state: RunState
    checks: list[Check]
    refusals: Sequence[Note] = ()
    lacking: Mapping[str, Note] = {}
    opening = None
    slow: Slow = MappingProxyType({})
    id = "input-contract"

    @property
    def goes_on(self) -> bool:
        return self.state.outcome.finished or not self.state.failed

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

    def concluding(self, phase: Phase) -> Iterator[Running]:
        return iter([self] if phase is Phase.OPENING else [])  # type: ignore[list-item]

    def explanations(self) -> Sequence[Explanation]:
        peaks = [(check, check.peak.finding) for check in self.checks if check.peak is not None]
        return [Explanation(check, found, found.log_odds or 0.0) for check, found in peaks]

    def end(self, found: Sequence[CheckResult]) -> Notes:
        return Notes()

    def figures(self, found: Sequence[CheckResult]) -> Mapping[str, CheckFigures]:
        """Nothing is drawn."""
        return {}
