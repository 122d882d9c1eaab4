"""Verdicts, worst first: their meanings and exit statuses.

The pytest plugin imports this at every start of pytest, so nothing heavy is imported here.
"""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The verdict of a check, or of a whole run, on the target; the worst comes first."""

    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"
    NOT_APPLICABLE = "not-applicable"

    @property
    def exit_status(self) -> int:
        """0: pass; 1: a violation; 2: misuse or a target error; 3: too few labels to decide."""
        return {"fail": 1, "error": 2, "inconclusive": 3}.get(self.value, 0)

    @property
    def rank(self) -> int:
        """Place in the order of severity, 0 for the worst, by which checks are sorted."""
        return list(Verdict).index(self)

    @property
    def meaning(self) -> str:
        """The verdict in a sentence."""
        return _MEANING[self]


_MEANING = {
    Verdict.PASS: "no departure from the claim was seen; what would have been seen stands below",
    Verdict.FAIL: "the deployment does not do what it claims",
    Verdict.ERROR: "the target did not answer a call as it must",
    Verdict.INCONCLUSIVE: "too few labels were seen to say",
    Verdict.NOT_APPLICABLE: "the property cannot be tested on this target",
}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a run from those of its checks; inconclusive where none applies."""
    applying = set(verdicts) - {Verdict.NOT_APPLICABLE}
    return min(applying, key=lambda verdict: verdict.rank, default=Verdict.INCONCLUSIVE)


def verdict_of(refuted: bool, told_apart: bool) -> Verdict:
    """The verdict on a claim; inconclusive where the replies look alike."""
    if refuted:
        return Verdict.FAIL
    return Verdict.PASS if told_apart else Verdict.INCONCLUSIVE
