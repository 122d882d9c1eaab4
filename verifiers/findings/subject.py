"""What a run speaks of: a deployment, or, where none was asked, the claim or our reference."""

from enum import StrEnum

from .verdict import Verdict

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
