"""One run on a target that tallies: three checks of rounds first, then those of numbers."""

from collections.abc import Iterator

from ...run.checks import Check, Setting
from ...run.phase import Phase
from ...run.request import RunRequest
from ...run.state import RunState
from ..numbers.checks.noise_law import NoiseLaw
from ..numbers.recorder import Recorder
from ..numbers.session import NumberSession
from .evidence.uncancelled import Uncancelled

_TELLING = 60
"""Rounds that are asked once a check of rounds has failed."""


class TallySession(NumberSession):
    """What few rounds show is looked at before the law of the noise."""

    def __init__(self, state: RunState, request: RunRequest, recorder: Recorder) -> None:
        super().__init__(state, request, recorder)
        mechanism = state.claim.mechanism
        for check in self.checks:
            if isinstance(check, NoiseLaw):
                uniform = Uncancelled(mechanism.added, mechanism.modulus, mechanism.parties)
                check.others.append(uniform)

    def concluding(self, phase: Phase) -> Iterator[Check]:
        yield from super().concluding(phase)
        if phase is Phase.OPENING:
            setting = Setting(self.claim, self.request.seed, self.plan)
            for check in self._there:
                if check.phase is phase and check.id != self.contract.id:
                    yield check.make(setting)

    def gather(self) -> None:
        """Once a check of rounds has failed, some rounds tell the cause."""
        if not self.state.failed or self.request.keeps_going:
            super().gather()
        elif self.state.explains:
            self.gathering.ask_some(_TELLING)

    def explain(self) -> None:
        """Rounds have no simpler ones that are looked for."""
