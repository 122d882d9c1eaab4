"""Whether several workers may each keep an account of their own, by what is answered in all."""

from collections.abc import Callable, Iterable
from time import monotonic

from ...reference import BudgetExhausted
from ..findings.note import Note
from ..targets import Refused, TargetError
from .watched import AGAIN, Watched

_REFUSED = 60  # calls in a row: of two accounts one is missed by all of them once in 10^18
_MOST = 16  # accounts that are looked for
_SECONDS = 30.0  # for asking on
_NEAR = 50  # answers of one account, from which on it may be off by one


def several_accounts(given: int, resumed: int, allowed: Iterable[int]) -> Note | None:
    """What answers until the end suggest: so many accounts, one for each worker.

    given: queries that were charged, in all; resumed: how often a call was answered that had been
    refused just before; allowed: queries that one account may allow. It is what may be, unless
    several calls were answered after they were refused.
    """
    found = next(filter(None, (_accounts(given, one) for one in allowed)), None)
    shown = resumed >= AGAIN
    if found is None and not shown:
        return None
    parts, fields = [], {"given": given, "resumed": resumed}
    if found is not None:
        accounts, one = found
        fields |= {"accounts": accounts, "allowed": one}
        parts.append(f"{given:,} queries are as many as {accounts} accounts of {one:,} allow")
    if shown:
        parts.append(f"refused calls were answered when they were made again, {resumed:,} times")
    likely = "seems to" if shown else "may"
    message = f"each worker {likely} keep an account of its own: {', and '.join(parts)}"
    return Note("account-for-each-worker", message, fields)


def asked_to_the_end(
    watched: Watched, ask: Callable[[], object], given: int, allowed: Iterable[int]
) -> Note | None:
    """Makes calls for one query until they are refused, and says what all answers suggest.

    ask: makes such a call; given: queries that were charged so far. None where the target has an
    account to look at, or does not stop.
    """
    allowed = sorted({one for one in allowed if one > 0})
    if watched.account.now is not None or not allowed:
        return None
    refused, until, most = 0, monotonic() + _SECONDS, max(given, _MOST * allowed[-1])
    while refused < _REFUSED:
        if given > most or monotonic() > until:
            return None
        try:
            ask()
        except BudgetExhausted:
            refused += 1
        except (Refused, TargetError):
            return None  # what was found stands without it
        else:
            given += 1
            watched.resumed += refused > 0
            refused = 0
    return several_accounts(given, watched.resumed, allowed)


def _accounts(given: int, one: int) -> tuple[int, int] | None:
    """How many accounts of `one` query each give so many, if a whole number does, and `one`."""
    accounts = round(given / one) if one else 0
    off = abs(given - accounts * one)
    near = off <= accounts if one >= _NEAR else off == 0
    return (accounts, one) if 2 <= accounts <= _MOST and near else None
