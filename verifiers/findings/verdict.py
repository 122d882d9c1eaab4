"""Verdicts, worst first, with meanings and exit statuses, and what a run speaks of.

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


NOT_ASKED = "no deployment was asked"


class Subject(StrEnum):
    """What a run speaks of; `CLAIM` where the claim was judged by itself, which asks nobody."""

    DEPLOYMENT = "deployment"
    REFERENCE = "reference"
    CLAIM = "claim"

    @property
    def words(self) -> str:
        """It in a few words, as headlines say it."""
        return _WORDS[self]

    def meaning(self, verdict: Verdict, of_deployment: str) -> str:
        """A verdict in a sentence; of_deployment: the sentence where a deployment was asked."""
        if self is Subject.DEPLOYMENT:
            return of_deployment
        said = _MEANINGS.get((self, verdict))
        return self.told(of_deployment) if said is None else f"{said}; {NOT_ASKED}"

    def told(self, sentence: str) -> str:
        """A sentence that says by itself nothing of what it speaks."""
        if self is Subject.DEPLOYMENT:
            return sentence
        return f"{self.words}: {sentence}; {NOT_ASKED}"


_WORDS = {
    Subject.DEPLOYMENT: "the deployment",
    Subject.REFERENCE: "the reference of this tool",
    Subject.CLAIM: "the claim, by itself",
}

_MEANINGS = {
    (Subject.REFERENCE, Verdict.PASS): "the reference of this tool does what the claim says, to "
    "the precision below",
    (Subject.REFERENCE, Verdict.FAIL): "the reference of this tool does not do what the claim says",
    (Subject.REFERENCE, Verdict.ERROR): "the reference of this tool did not answer a call as it "
    "must",
    (Subject.CLAIM, Verdict.PASS): "the claim, by itself, is not refuted",
    (Subject.CLAIM, Verdict.FAIL): "the claim, by itself, is refuted: it holds of no deployment",
}
