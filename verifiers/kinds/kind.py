"""What a kind of release is: all that differs between labels, numbers and keys, in one place.

A new kind is a folder beside this file with a `kind.py`, which has its `KIND`, and an entry in
`FOLDERS` of `__init__.py`. All else, the run, its reports, the commands, the pytest plugin, is of
every kind: it asks a claim for its kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..claims.claim import Claim
from ..findings.opening import EarlierReportError
from ..run.registry import Registry
from ..run.request import PlanRequest, RunRequest
from ..run.selection import Selection
from ..run.session import Planned, Session
from ..run.state import RunState
from ..targets import InProcessTarget, Target, TargetError
from .served import Served


class ReleaseKind(ABC):
    """One kind of release; a method imports what it needs, as commands load all kinds.

    name: what is released, in a word; unit: one of it; evidence_unit: what checks count;
    mechanisms: their names in `[mechanism]`; claim_model: which reads its claims, and from which
    their published schema follows; checks: with their shares; no_reference: why there is none, or
    none that is served; not_chosen: why a run takes no inputs of the user's, None where it does;
    passed: what a pass means where no law is judged; demos: embedded claims by name, as TOML.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    evidence_unit: ClassVar[str]
    mechanisms: ClassVar[tuple[str, ...]]
    claim_model: ClassVar[type[Claim]]
    checks: ClassVar[Registry]
    no_reference: ClassVar[str] = ""
    not_chosen: ClassVar[str | None] = None
    passed: ClassVar[str | None] = None
    demos: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def planned(self, claim: Any, asked: PlanRequest) -> Planned:
        """What a run asks. Raises TooFewError where no pass fits so few queries."""

    @abstractmethod
    def session(self, state: RunState, request: RunRequest) -> Session:
        """What asks the target in a run."""

    def reference(self, claim: Any) -> InProcessTarget:
        """The reference implementation. Raises TargetError of one line where there is none."""
        raise TargetError(self.no_reference, code="options-do-not-fit")

    def served(self, claim: Any) -> Served:
        """The reference as a server answers for it. Raises ValueError of one line."""
        raise ValueError(self.no_reference)

    @abstractmethod
    def probe(self, claim: Any) -> tuple[Any, int | None]:
        """An input that shows the pace of a target, and how many releases a call asks at most."""

    def read_opening(self, path: str, claim: Any) -> Any:
        """The first call of an earlier report, at a path. Raises EarlierReportError."""
        kept = f"nothing is kept of a run of {self.name} to compare"
        raise EarlierReportError(f"--compare {path}: {kept}")

    def serves_all(self, target: Target, claim: Any) -> bool:
        """Whether a target answers all that a plan may ask, by asking it."""
        return True

    def inputs_asked(self, claim: Any, seed: int) -> Sequence[Any]:
        """The inputs that a run would ask under a claim, each once. Raises ValueError for none."""
        raise ValueError(f"a run of {self.name} chooses no inputs that another could be asked")

    def calls_again(self, state: RunState, request: RunRequest) -> Any:
        """The `CallsAgain` by which decisions of a Python target are counted; None: not by it."""
        return None

    def ready(self, claim: Any, chosen: Selection) -> None:  # noqa: B027
        """Raises ValueError of one line where the claim names what cannot be used."""

    def cost_at(self, claim: Any, scale: float) -> tuple[float, float] | None:
        """What the claimed queries cost at a scale of the noise; None where not computed."""
        return None

    def foreseen(self, planned: Any) -> Mapping[str, int | None]:
        """Of a plan, the queries after which known mistakes show, None for those that do not."""
        return {}


REFERENCE = "dpassay's own reference"
"""What reports call the target where none is given."""
