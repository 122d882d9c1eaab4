"""One run on a target that tallies: three checks of rounds first, then those of numbers."""

from collections.abc import Iterator, Sequence

from ...findings.finding import Outcome
from ...run.checks import Check, RunContext, Setting
from ...run.phase import Phase
from ...run.request import RunRequest
from ...run.state import RunState
from ...targets.tally import shown_with
from ..numbers.checks.noise_law import NoiseLaw
from ..numbers.gathering import Gathering
from ..numbers.planning.asked import Batch
from ..numbers.recorder import Recorder
from ..numbers.session import NumberSession
from .checks.base import RoundsCheck
from .checks.input_contract import TallyContract
from .checks.mask_uniformity import MaskUniformity
from .checks.recovery import Recovery
from .claim import TallyClaim
from .evidence.alike import NoiseAgain
from .evidence.uncancelled import Uncancelled

_TELLING = 60
"""Rounds that are asked once a check of rounds has failed."""


class RoundsGathering(Gathering):
    """Shows what parties send to `masks` too, if it is there."""

    masks: MaskUniformity | None = None

    def show(self, batches: Sequence[Batch]) -> None:
        if self.masks is not None:
            for batch in batches:
                self.masks.among_all(batch.asked, shown_with(batch.releases))
        super().show(batches)


class TallySession(NumberSession):
    """What few rounds show is looked at before the law of the noise.

    Masks are looked at once more with the rounds of `recovery`, with those after a restart, and
    with all that the run asks.
    """

    opens_with, gathers_with = TallyContract, RoundsGathering
    claim: TallyClaim
    contract: TallyContract
    gathering: RoundsGathering

    def __init__(self, state: RunState, request: RunRequest, recorder: Recorder) -> None:
        super().__init__(state, request, recorder)
        self.masks: MaskUniformity | None = None
        self._starts: list[TallyContract] = []
        mechanism = self.claim.mechanism
        for check in self.checks:
            if isinstance(check, NoiseLaw):
                uniform = Uncancelled(mechanism.added, mechanism.modulus, mechanism.parties)
                check.others.append(uniform)

    def concluding(self, phase: Phase) -> Iterator[Check]:
        yield from super().concluding(phase)
        if phase is Phase.OPENING:
            yield from self._of_rounds()
        if phase is Phase.RESTARTED and self.masks is not None:
            told = MasksOnceMore(self.masks)
            for start in self._starts:
                self.masks.after_restart(start.shown)
            self.masks.after_all()
            yield told

    def _of_rounds(self) -> Iterator[Check]:
        """The checks that ask for rounds of their own."""
        setting, noise = Setting(self.claim, self.request.seed, self.plan), NoiseAgain()
        for kind in self._there:
            if kind.phase is not Phase.OPENING or kind.id == self.contract.id:
                continue
            check = kind.make(setting)
            if isinstance(check, RoundsCheck):
                check.noise_again = noise
            if isinstance(check, MaskUniformity):
                self.masks = self.gathering.masks = check
                check.begins_with(self.contract.shown)
            if isinstance(check, Recovery):
                check.masks = self.masks
            told = None if self.masks is None else MasksOnceMore(self.masks)
            yield check
            if told is not None and check is not self.masks:
                yield told

    def opens_again(self) -> TallyContract:
        self._starts.append(TallyContract(self.claim, self.plan))
        return self._starts[-1]

    def gather(self) -> None:
        """Once a check of rounds has failed, some rounds tell the cause."""
        if not self.state.failed or self.request.keeps_going:
            super().gather()
        elif self.state.explains:
            self.gathering.ask_some(_TELLING)

    def explain(self) -> None:
        """Rounds have no simpler ones that are looked for."""


class MasksOnceMore(Check):
    """What `mask-uniformity` comes to once other rounds than its own were shown to it."""

    id = MaskUniformity.id
    phase = Phase.OPENING

    def __init__(self, masks: MaskUniformity) -> None:
        self._masks, self._told = masks, masks.outcome

    def conclude(self, context: RunContext) -> Outcome | None:
        """The outcome where it is another one than before."""
        return None if self._masks.outcome is self._told else self._masks.outcome
