"""The one explanation of all that a run has found, where one is clearly the likeliest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..findings.finding import Finding
from ..findings.note import Note
from .checks import EvidenceCheck

SURE = 7.0
"""Nats by which an explanation must lead another to be clearly likelier: odds of 1,000 to one."""

NO_CAUSE = "claim-may-not-describe"
"""The code of an explanation that no known fault is."""

NEAR = math.log(100.0)
"""Nats within which a second cause is named beside the likeliest one."""


@dataclass(frozen=True)
class Explanation:
    """What may explain a run's failures: the finding of a check, which may not have failed itself.

    log_odds: against the claim, on nearly the same draws as those of the others; fits: whether its
    cause was seen to leave nothing of what its check has refuted unexplained.
    """

    check: EvidenceCheck
    finding: Finding
    log_odds: float
    fits: bool = False

    def seen_by(self, check: EvidenceCheck) -> Finding:
        """The finding of a failed check, whose diagnosis defers to this one."""
        assert check.peak is not None
        words = self.finding.diagnosis
        found = replace(check.peak.finding, code=self.finding.code, fields=self.finding.fields)
        if check is self.check:  # told by what it showed at its highest, as its evidence is
            return replace(found, diagnosis=words)
        if self.check.refuted:
            words = f"{self.finding.cause} (see {self.check.id})"
        return replace(found, message=found.otherwise or found.message, diagnosis=words)


def named(explanations: Sequence[Explanation]) -> Explanation | None:
    """The explanation that all failures are told by; None where none is likelier than the claim.

    explanations: in the order of the report. The likeliest is told, whichever checks have failed;
    of several about as likely the first, with another one that is nearly as likely. A cause that
    fits is told where the likeliest explanation has none.
    """
    most = max((each.log_odds for each in explanations), default=0.0)
    near = (each for each in explanations if each.log_odds > 0.0)
    told = next((each for each in near if each.log_odds >= most - SURE), None)
    if told is not None and told.finding.code == NO_CAUSE:
        fitting = [each for each in explanations if each.fits and each.log_odds > SURE]
        if fitting:
            return max(fitting, key=lambda each: each.log_odds)
    if told is None or "nearly" in told.finding.fields:
        return told
    others = (each.finding for each in explanations if each.log_odds >= most - NEAR)
    other = next((one for one in others if _is_another(one, told.finding)), None)
    if other is None:
        return told
    assert other.code is not None
    cause = Note(other.code, str(other.cause), other.fields)
    return replace(told, finding=told.finding.with_near(cause))


def _is_another(one: Finding, than: Finding) -> bool:
    """Whether a finding names a cause, and another one."""
    return one.cause is not None and one.code is not None and one.code != than.code
