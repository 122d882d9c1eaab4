"""`input-contract` of tables: that of numbers, and which row it is that a target does not take."""

import json
from dataclasses import dataclass

from ....findings.note import Note
from ....run.refusals import Steps
from ....targets import Refused, Target, TargetError
from ...numbers.checks.input_contract import InputContract, alive
from ...numbers.planning.asked import Asked, asked_for
from ..claim import TablesClaim
from ..planning.asked import BRIEF, LACKING, UNUSUAL, TableRole
from ..planning.plan import TablePlan
from ..planning.steps import steps_between
from ..planning.unusual import Row, some_unusual, with_one

_OPTIONAL = BRIEF | {TableRole.SPELLED}
"""Inputs of which the claim does not say that they are taken."""


@dataclass(frozen=True)
class NotTaken:
    """A row that the target does not take, where it takes the same rows without it.

    role: of the input; row: as it travels; words: what the target did; error: the code of how it
    failed, None where it refused the call.
    """

    role: str
    row: Row
    words: str
    error: str | None

    @property
    def refused(self) -> bool:
        """Whether the target refused the call, and did not fail."""
        return self.error is None

    @property
    def note(self) -> Note:
        """What happened, with its code, where it is no finding."""
        return Note(self.error or "input-refused", self.message, {"input": str(self.role)})

    @property
    def message(self) -> str:
        """What happened, in a sentence."""
        how = "is refused" if self.refused else "is not answered"
        return (
            f"a call with the row {json.dumps(self.row)} ({self.role}) {how}: {self.words}; the "
            "same rows without it are answered"
        )


class TableInputContract(InputContract):
    """A row that the claim has dropped must be neither refused nor fatal.

    not_taken: the rows that are. A refusal is an answer, and so a breach of the claim; what raises,
    dies or hangs is an error, which names the row, and the run goes on without such rows.
    """

    claim: TablesClaim

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int = 0) -> None:
        super().__init__(claim, plan, seed)  # type: ignore[arg-type]
        self.not_taken: list[NotTaken] = []

    def steps(self, asked: Asked) -> Steps | None:
        return steps_between(self.claim, asked.values, self.plan.inputs[0].values)

    def refused(self, target: Target, asked: Asked, refusal: Refused) -> None:
        # of these the claim does not say that they are taken, or an engine may be too small
        if asked.role in _OPTIONAL:
            message = f"the input {asked.role} is refused: {refusal}"
            self.refusals.append(Note("input-refused", message, {"input": str(asked.role)}))
            return
        part = LACKING.get(asked.role)
        dropped = part is not None and self.claim.mechanism.missing.parts[part] == "dropped"
        found = self._single(target, asked, Refused) if dropped else None
        if found is None:
            super().refused(target, asked, refusal)
        else:
            self.not_taken.append(found)

    def failed(self, target: Target, asked: Asked, failure: TargetError) -> None:
        if asked.role not in UNUSUAL - {TableRole.FEW_ROWS}:
            super().failed(target, asked, failure)
            return
        alive(target)
        if asked.role in _OPTIONAL:
            message = f"the input {asked.role} is not answered: {failure}"
            self.refusals.append(Note(failure.code, message, {"input": str(asked.role)}))
            return
        found = self._single(target, asked, TargetError)
        if found is None:
            raise failure
        self.not_taken.append(found)

    def _single(
        self, target: Target, asked: Asked, ends: type[Refused] | type[TargetError]
    ) -> NotTaken | None:
        """The row alone that ends a call like `asked`; None where none does by itself."""
        if self._ends(target, asked, with_one(self.claim, asked.values, None)) is not None:
            return None
        for row in some_unusual(asked.values):
            end = self._ends(target, asked, with_one(self.claim, asked.values, row))
            if isinstance(end, ends):
                words = getattr(end, "message", None) or str(end)
                error = end.code if isinstance(end, TargetError) else None
                return NotTaken(asked.role, row, words, error)
        return None

    def _ends(self, target: Target, asked: Asked, rows: object) -> Refused | TargetError | None:
        """What a call with these rows ends in; None where it is answered."""
        self.queries += 1
        try:
            asked_for(target, self.claim.release, Asked(rows, asked.exact, asked.role, ""), (1,))
        except Refused as refusal:
            return refusal
        except TargetError as failure:
            alive(target)
            return failure
        return None
