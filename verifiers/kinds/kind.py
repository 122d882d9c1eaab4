"""What a kind of release is: all that differs between labels, numbers and keys, in one place.

A new kind is a folder beside this file with a `kind.py`, which has its `KIND`, and an entry in
`FOLDERS` of `__init__.py`. All else, the run, its reports, the commands, the pytest plugin, is of
every kind: it asks a claim for its kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..run.noise_there import CostAt, no_cost
from ..run.registry import Registry
from ..run.request import RunRequest
from ..run.selection import Selection
from ..run.session import Planned, Session
from ..run.state import RunState
from ..targets import InProcessTarget, Target
from .served import Served


def late(package: str, place: str) -> Callable[..., Any]:
    """The callable at `module.name` of a package, which is imported once it is called."""

    def call(*given: Any, **named: Any) -> Any:
        module, name = place.rsplit(".", 1)
        return getattr(import_module(f"{package}.{module}"), name)(*given, **named)

    return call


@dataclass(frozen=True)
class ReleaseKind:
    """One kind of release. Its functions take a claim of this kind first.

    name: what is released, in a word; unit: one of it; evidence_unit: what checks count;
    mechanisms: their names in `[mechanism]`; parse: makes a claim of a table, its source in
    messages and its folder; checks: with their shares; planned: makes a plan for so many queries
    (None for the claim's own precision), a seed, own inputs and a selection, and by the keyword
    `serves_all`, True unless given, whether the target answers all that a plan may ask it;
    serves_all: whether a target does, by asking it; session: what asks the target in a run;
    reference: the reference implementation, or TargetError of one line; served: that as a server
    answers for it, or ValueError of one line; probe: an input that shows the pace of a target, and
    how many releases of it a run asks for in a call at most; read_opening: the first call of an
    earlier report, at a path; not_chosen: why a run takes no inputs of the user's, None where it
    does; passed: what a pass means where no law is judged; ready: raises ValueError of one line,
    before anything is asked, where the claim names what cannot be used; cost_at: what the claimed
    queries cost at a scale of the noise, None where that is not computed; foreseen: of a plan, the
    queries after which known mistakes would show, None for those that would not; demos: embedded
    claims by name.
    """

    name: str
    unit: str
    evidence_unit: str
    mechanisms: tuple[str, ...]
    parse: Callable[[dict[str, Any], str, Path | None], Any]
    checks: Registry
    planned: Callable[..., Planned]
    session: Callable[[RunState, RunRequest], Session]
    reference: Callable[[Any], InProcessTarget]
    served: Callable[[Any], Served]
    probe: Callable[[Any], tuple[Any, int | None]]
    read_opening: Callable[[str, Any], Any]
    serves_all: Callable[[Target, Any], bool] = lambda target, claim: True
    not_chosen: str | None = None
    passed: str | None = None
    ready: Callable[[Any, Selection], None] = lambda claim, chosen: None
    cost_at: CostAt = no_cost
    foreseen: Callable[[Any], Mapping[str, int | None]] = lambda planned: {}
    demos: Mapping[str, Callable[[], Any]] = field(default_factory=dict)


REFERENCE = "dpassay's own reference"
"""What reports call the target where none is given."""
