"""The target and its reference: how both are asked the same, and begun anew."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from typing import Any

import numpy as np

from ....reference import BudgetExhausted
from ...claims.open_target import open_claimed
from ...targets import Refused, Target, TargetError
from ...targets.anything import plain_json
from ...targets.restart_command import FreshStateCommand
from ...targets.spec import is_server
from .claim import SameAsClaim
from .units import BothReplies, Reply


def open_reference(claim: SameAsClaim) -> Target:
    """An instance of the reference. Raises TargetError."""
    with _of_reference():
        return open_claimed(claim.reference, claim, plainly=True)


@contextmanager
def _of_reference() -> Iterator[None]:
    """Around a call of the reference, whose errors say so."""
    try:
        yield
    except TargetError as error:
        raise TargetError(f"the reference: {error}", code=error.code) from None


class Sides:
    """Two deployments under one claim, of which the first is judged.

    Every request goes to both, in an order drawn by coin: with a generator or a file that both
    share, a fixed order would tell them apart.
    """

    def __init__(
        self,
        claim: SameAsClaim,
        asked: Sequence[Any],
        both: tuple[Target, Target],
        rng: np.random.Generator,
    ) -> None:
        self.claim, self._asked, self._both, self._rng = claim, asked, both, rng

    def ask(self, place: int) -> BothReplies:
        """Puts an input, by its place, to both. Raises TargetError."""
        found: dict[int, Reply] = {}
        for side in self.order():
            with _of_reference() if side else nullcontext():
                found[side] = self._reply(self._both[side], self._asked[place])
        return BothReplies(place, found[0], found[1])

    def order(self) -> tuple[int, ...]:
        """Who is asked first, by coin: the target is 0."""
        return tuple(int(side) for side in self._rng.permutation(2))

    def _reply(self, target: Target, values: Any) -> Reply:
        """A refusal is a reply, and so is that of a budget that is spent."""
        try:
            reply = target.ask(values, 1)
        except Refused:
            return Reply(None, "refused")
        except BudgetExhausted:
            return Reply(None, "budget")
        found = plain_json(self.claim.release.shaped(reply, values, 1)[0])
        if isinstance(values, np.ndarray) and isinstance(found, int) and 0 <= found < values.size:
            found = {"label": found, "rank": int((values > values[found]).sum())}
        return Reply(found)

    def begin_life(self) -> None:
        """Both in a fresh state, the one or the other first. Raises TargetError."""
        for side in self.order():
            target, make = self._both[side], self._commands[side]
            if make is not None:
                make()
            if target.no_restart is None:
                target.restart()

    def renew_reference(self) -> None:
        """Undoes what other instances of the reference have left outside of their processes."""
        make = self._commands[1]
        if make is not None:
            make()

    @property
    def _commands(self) -> tuple[Callable[[], None] | None, Callable[[], None] | None]:
        gate, of_reference = self.claim.gate, self.claim.fresh_reference
        own = gate.fresh_state
        target = None if own is None else FreshStateCommand(own, gate.timeout).run
        return target, None if of_reference is None else of_reference.run

    def check_fresh(self) -> None:
        """Raises TargetError where `lives` is claimed, and one of the two cannot be begun anew."""
        sides = zip(("the target", "the reference"), self._both, self._commands, strict=True)
        for name, target, command in sides:
            if command is None and target.no_restart is not None:
                key = (
                    "fresh_state in [gate]"
                    if target is self._both[0]
                    else ("reference_fresh_state in [mechanism]")
                )
                raise TargetError(
                    f"lives: {name} cannot be begun anew for each life: {target.no_restart}; or "
                    f"name {key}",
                    code="options-do-not-fit",
                )


def reference_itself(
    claim: SameAsClaim,
    asked: Sequence[Any],
    rng: np.random.Generator,
    pairs: int,
    again: Callable[[list[BothReplies]], bool],
) -> bool | None:
    """Puts two fresh instances of the reference against each other, with repeated requests.

    pairs: of replies; asked: in turn; again: told of each, says whether to go on.
    Whether all were asked; None where there are no two of it. Raises TargetError.
    """
    if is_server(claim.reference):
        return None
    with ExitStack() as opened:
        one, other = (opened.enter_context(closing(open_reference(claim))) for _ in range(2))
        sides = Sides(claim, asked, (one, other), rng)
        for call in range(pairs):
            if not again([sides.ask(call % len(asked))]):
                return False
    return True
