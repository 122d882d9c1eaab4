"""What a row is: a call of a code base under a claim, and what was read in its source."""

from dataclasses import dataclass
from pathlib import Path

CALLS = Path(__file__).parent / "calls"


@dataclass(frozen=True)
class Row:
    """A call under a claim.

    source: a code base OWNER/NAME, or an environment; call: as the code names it; target: file in
    `calls` and attribute, or the words of a script there; claim: the file beside it, without its
    ending; reading: what was read in the source; caught: the checks of which one fails by that
    reading, none where the call is as claimed; cause: a part of the cause that the gate should
    name; alone: the only check that is run, where the call has nothing else to judge.
    """

    source: str
    call: str
    target: str
    claim: str
    reading: str
    caught: tuple[str, ...] = ()
    cause: str = ""
    alone: str = ""

    @property
    def name(self) -> str:
        """A unique name of the row."""
        return f"{self.source} {self.target} {self.claim} {self.alone}".strip()

    @property
    def script(self) -> Path:
        """The file of its wrapper."""
        return CALLS / self.target.split(":")[0].split()[0]

    @property
    def claim_file(self) -> Path:
        """Its claim."""
        return CALLS / f"{self.claim}.toml"
