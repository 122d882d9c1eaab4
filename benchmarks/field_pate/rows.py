"""The rows: a call of a code base under a claim, and what was read in its source."""

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


_LAW = ("class-probabilities", "noise-scale")
_COST = "accountant-soundness"

_TENSORFLOW = "tensorflow/privacy"

ROWS = (
    Row(
        _TENSORFLOW,
        "pate_2017 noisy_max, analysis.py with noise_eps 1/20",
        "tensorflow_2017.py:at_scale",
        "lnmax_20",
        "Laplace noise on each of ten counts; moments for a scale of 1 / noise_eps",
    ),
    Row(
        _TENSORFLOW,
        "pate_2017 noisy_max, of 12 classes",
        "tensorflow_2017.py:labels",
        "lnmax_20_of_12",
        "noise is added to the first ten counts",
        _LAW,
        "noise missing on classes from 10 on",
    ),
    Row(
        _TENSORFLOW,
        "pate_2017 analysis.py, noise_eps as its flag has it, 0.1",
        "tensorflow_2017.py:at_default",
        "lnmax_20",
        "its text says (1/20)*2 = 0.1 a query, noise_eps is half of that",
        (_COST,),
        "the accountant charges",
        alone=_COST,
    ),
    Row(
        _TENSORFLOW,
        "pate_2018 core.py, rdp_gaussian",
        "tensorflow_2018.py:gnmax",
        "gnmax_40",
        "Theorem 6 with q by the union bound",
        alone=_COST,
    ),
    Row(
        _TENSORFLOW,
        "pate_2018 core.py, rdp_pure_eps",
        "tensorflow_2018.py:lnmax",
        "lnmax_20",
        "the least of three bounds, for 2 / scale",
        alone=_COST,
    ),
    Row(
        _TENSORFLOW,
        "pate_2018 core.py, compute_rdp_threshold and rdp_gaussian, both in full",
        "tensorflow_2018.py:confident",
        "confident_200",
        "a screening and an answer, whatever the outcome",
        alone=_COST,
    ),
)

LATER: tuple[tuple[str, str, str], ...] = ()
"""What cannot be said yet: code base, call, why."""
