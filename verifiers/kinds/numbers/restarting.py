"""What a run of numbers asks of each start of its target, which finds fixed seeds."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from ...run.restarts import OPENINGS, compare_starts
from ...run.state import RunState
from .checks.fresh_noise import CopyOf
from .checks.input_contract import InputContract
from .claim import NumbersClaim
from .opening import NumbersOpening
from .planning.asked import Batch
from .planning.plan import NumbersPlan


@runtime_checkable
class ComparesOpenings(Protocol):
    """A check that compares the first calls after a start of the target with those of another."""

    id: str

    def before_restarts(self) -> None:
        """Is called once, before the first restart."""

    def compare(self, earlier: NumbersOpening, now: NumbersOpening, way: str) -> None:
        """Compares them; way: how they differ, in words."""


def releases_of_restarts(claim: NumbersClaim, plan: NumbersPlan) -> int:
    """Releases that a comparison asks for at most."""
    return OPENINGS * InputContract(claim, plan).opens_with


def compare_openings(
    state: RunState,
    show: Callable[[Sequence[Batch]], None],
    checks: Sequence[ComparesOpenings],
    first: NumbersOpening,
    opens: Callable[[], InputContract],
) -> bool:
    """Compares starts of the target; whether it could be restarted (`run.restarts`).

    show: takes the releases, which are evidence like all else; first: the opening of the run;
    opens: makes what asks the first calls of a start.
    """

    def opening() -> NumbersOpening:
        contract = opens()
        try:
            found = contract.open(state.target)
        finally:
            state.spend(contract.queries)
        show(contract.seen)
        return found

    def compare(one: NumbersOpening, other: NumbersOpening) -> None:
        for check in checks:
            check.compare(one, other, CopyOf.AFTER_RESTART)

    for check in checks:
        check.before_restarts()
    return compare_starts(state, first, opening, compare)
