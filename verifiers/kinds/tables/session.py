"""One run on an engine: that of numbers, with what differs of tables."""

from ...findings.finding import Finding
from ...paths.steering import BranchAsker
from ...run.cause import Explanation
from ...run.request import RunRequest
from ...run.state import RunState
from ..numbers.checks.base import NumberCheck
from ..numbers.recorder import Recorder
from ..numbers.session import NumberSession, measured
from .checks.contribution_bounding import ContributionBounding
from .checks.input_contract import TableInputContract
from .checks.of_numbers import TableNoiseLaw, tell_least_of_each
from .planned import PlannedTable, steers
from .steering.asking import TableAsker


class TableSession(NumberSession):
    """No simplest input is looked for."""

    opens_with, plans_with = TableInputContract, PlannedTable
    contract: TableInputContract

    def __init__(self, state: RunState, request: RunRequest, recorder: Recorder) -> None:
        super().__init__(state, request, recorder)
        tell_least_of_each(self.checks)

    @property
    def steered_by_default(self) -> bool:
        return self.state.claim.sql is None and self._is_small

    def asker(self) -> BranchAsker | None:
        asker = TableAsker(self.gathering, self.request.seed)
        return asker if asker.judges and steers(self.state.claim, self.plan) else None

    def prepare(self) -> None:
        """Rows that the target did not take are the finding of a check."""
        super().prepare()
        checks: list[object] = [*self.checks]
        bounding = next((one for one in checks if isinstance(one, ContributionBounding)), None)
        for found in self.contract.not_taken:
            if bounding is None:
                self.state.outcome.warn(found.note)
            elif found.refused:
                bounding.not_taken(found)
            else:
                self.state.outcome.broken[bounding.id] = found.note

    def explain(self) -> None:
        """What was asked tells the cause."""

    def explained(self, check: NumberCheck, finding: Finding) -> Explanation:
        """Of an aggregate, the check that measures what is off."""
        odds, shown = finding.log_odds or 0.0, (check, finding)
        law: object = check
        if isinstance(law, TableNoiseLaw):
            shown = measured(law.measured_by, odds, self.checks) or shown
        # of its mistakes none is told that leaves much unexplained
        fits = isinstance(law, ContributionBounding) and finding.cause is not None
        return Explanation(*shown, odds, fits)
