"""Calls over connections that are kept: what lasts as long as a connection shows there alone."""

from collections.abc import Callable

import numpy as np

from ....targets import KeptConnections, NotOffered, Refused
from ....targets.kept import CLOSES
from ..checks import LabelsFreshNoise
from ..checks.base import Circumstances
from ..checks.input_contract import RefusedLaterError
from ..planning.streams import Role
from .gathering import LabelsGathering

CALLS = 200
"""Calls for one label over one connection, and as many in turns over several."""

_SEVERAL = (1, 4)

MOST_QUERIES = len(_SEVERAL) * CALLS
"""Labels that kept connections are asked for."""

_AT_ONCE = 20  # calls between looks at the evidence


def ask_over_kept(gathering: LabelsGathering, needed: Callable[[], int]) -> None:
    """Asks the histogram that opened the run over kept connections, where there are any.

    needed: how many queries the whole run takes.
    The labels are seen by all checks, as any that are asked. Where the plan leaves no room for
    them, or the server does without such connections, the check of freshness says so.
    """
    fresh = gathering.observers.fresh
    if fresh is not None and not gathering.plan.claim.mechanism.caching:
        for several in _SEVERAL:
            if not gathering.goes_on or not _asks_over(gathering, fresh, several, needed):
                return


def _asks_over(
    gathering: LabelsGathering, fresh: LabelsFreshNoise, several: int, needed: Callable[[], int]
) -> bool:
    """Asks over so many connections at a time; False where there is no use in more of them."""
    state = gathering.state
    try:
        kept = KeptConnections(state.target, several)
    except NotOffered:
        return False
    with kept:
        if state.left < needed() - state.queries + CALLS:
            fresh.of_connections += _unseen("max_queries leaves no room")
            return False
        state.tell(f"asking over {_connections(several)}")
        _ask(gathering, kept)
    if kept.ended is not None:
        fresh.of_connections += _unseen(kept.ended, after=kept.calls)
        return False
    fresh.of_connections += f"; over {_connections(several)} {kept.calls} answers were new ones"
    return True


def _ask(gathering: LabelsGathering, kept: KeptConnections) -> None:
    """Calls until there are enough, the connections end, or a check has failed."""
    claim, histogram = gathering.plan.claim, gathering.contract.opening
    seen = 0
    while seen < CALLS and kept.ended is None and gathering.goes_on:
        before = kept.calls
        try:
            replies, over = kept.ask(histogram, min(_AT_ONCE, CALLS - seen))
        except Refused as refusal:
            named = claim.named(tuple(int(v) for v in histogram))
            message = f"{named} is refused, but was answered: {refusal}"
            raise RefusedLaterError(message) from None
        finally:
            gathering.state.spend(kept.calls - before)
        seen += len(replies)
        labels = [gathering.asking.checked(reply, 1, histogram) for reply in replies]
        if labels:
            gathering.asking.calls += [(histogram, label) for label in labels]
            how = Circumstances(calls=(1,) * len(labels), connections=tuple(over))
            gathering.show(gathering.plan.first(Role.FRESH), np.concatenate(labels), how)


def _unseen(why: str, after: int = 0) -> str:
    """The message where not every call was made that should be."""
    message = "" if why == CLOSES or not after else f" after {after} calls"
    return f"; noise kept for a connection would not have shown{message}, as {why}"


def _connections(several: int) -> str:
    return "a kept connection" if several == 1 else f"{several} kept connections in turns"
