"""One run on a target that tallies: three checks of rounds first, then those of numbers."""

from collections.abc import Iterator

from ...run.checks import Running
from ...run.phase import Phase
from ...run.registry import Setting
from ..numbers.session import NumberSession

_TELLING = 60
"""Rounds that are asked once a check of rounds has failed."""


class TallySession(NumberSession):
    """What few rounds show is looked at before the law of the noise."""

    def concluding(self, phase: Phase) -> Iterator[Running]:
        yield from super().concluding(phase)
        if phase is Phase.OPENING:
            setting = Setting(self.claim, self.request.seed, self.plan)
            for spec in self._specs:
                if spec.phase is phase and spec.id != self.contract.id:
                    yield spec.make(setting)

    def gather(self) -> None:
        """Once a check of rounds has failed, some rounds tell the cause."""
        if not self.state.failed or self.request.keeps_going:
            super().gather()
        elif self.state.explains:
            self.gathering.ask_some(_TELLING)

    def explain(self) -> None:
        """Rounds have no simpler ones that are looked for."""
