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
_LEAST = 20  # queries of one account, of which multiples are looked for
_SURPRISING = 0.05  # share of counts that are near a multiple, from which on a match says nothing
_NEAR = 250  # and from which on it may be off by one


def several_accounts(given: int, resumed: int, allowed: Iterable[int]) -> Note | None:
    """What queries until the end suggest: so many accounts, one for each worker; None if nothing.

    given: queries that were charged, in all; resumed: how often a call was answered that had been
    refused just before, which one account never does; allowed: queries that one account may allow.
    """
    shown, tried = resumed >= AGAIN, sorted(allowed)
    found = next(filter(None, (_accounts(given, one) for one in tried)), None)
    if not shown and _by_chance(given, tried) > _SURPRISING:
        found = None
    if found is None and not shown:
        return None
    again = f"{resumed:,} calls were answered that had been refused just before"
    words = f"each worker seems to keep an account of its own: {again}"
    if found is None:
        return Note("account-for-each-worker", words, {"given": given, "resumed": resumed})
    accounts, one = found
    many = f"{given:,} queries are as many as {accounts} accounts of {one:,} allow"
    if shown:
        words = f"{words}, and {many}"
    else:
        words = (
            f"{many}: each worker may keep an account of its own, or a query is charged "
            f"1/{accounts} of its cost"
        )
    fields = {"given": given, "resumed": resumed, "accounts": accounts, "allowed": one}
    return Note("account-for-each-worker", words, fields)


def given_at_the_end(
    watched: Watched, ask: Callable[[], object], given: int, allowed: Iterable[int]
) -> int | None:
    """Makes calls for one query until they are refused; returns the queries charged in all.

    ask: makes such a call; given: queries that were charged so far. None where the target has an
    account to look at, or does not stop within what several accounts allow.
    """
    if watched.account.now is not None:
        return None
    refused, until, most = 0, monotonic() + _SECONDS, max(given, _MOST * max(allowed))
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
    return given


def _by_chance(given: int, tried: list[int]) -> float:
    """About the share of counts like this one that are near a multiple of what is allowed."""
    near = [(one, round(given / one) if one >= _NEAR else 0) for one in tried if one >= _LEAST]
    return sum((2 * accounts + 1) / one for one, accounts in near)


def _accounts(given: int, one: int) -> tuple[int, int] | None:
    """How many accounts of `one` query each give so many, if a whole number does, and `one`."""
    if one < _LEAST:
        return None
    accounts = round(given / one)
    near = abs(given - accounts * one) <= (accounts if one >= _NEAR else 0)
    return (accounts, one) if 2 <= accounts <= _MOST and near else None
