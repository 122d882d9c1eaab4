"""Verdicts: their order, from the worst on, what they mean, and the exit status of each.

The pytest plugin reads them with every start of pytest, so that nothing heavy is imported here.
"""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What one check, or the whole run, says of the target; the worst comes first."""

    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"
    NOT_APPLICABLE = "not-applicable"

    @property
    def exit_status(self) -> int:
        """0 pass, 1 a violation, 2 misuse or a target error, 3 the budget was too small to say."""
        return {"fail": 1, "error": 2, "inconclusive": 3}.get(self.value, 0)

    @property
    def rank(self) -> int:
        """From the worst, 0, on: what sorts checks for a reader."""
        return list(Verdict).index(self)

    @property
    def meaning(self) -> str:
        """What a run with this verdict found, in a sentence."""
        return _MEANING[self]


_MEANING = {
    Verdict.PASS: "the labels are what the claim says, to the precision below",
    Verdict.FAIL: "the deployment does not do what it claims",
    Verdict.ERROR: "the target did not answer a call as it must, and the run ended there",
    Verdict.INCONCLUSIVE: "too few labels were seen to say",
    Verdict.NOT_APPLICABLE: "the property cannot be tested on this target",
}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a run from those of its checks; where none of them applies, inconclusive."""
    applying = set(verdicts) - {Verdict.NOT_APPLICABLE}
    return min(applying, key=lambda verdict: verdict.rank, default=Verdict.INCONCLUSIVE)
