"""How a server is spoken to in production: its secrets, its refusals, its limits."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .replies import TargetError

MOST_WAITED = 3600.0
"""Seconds that one call waits in all for a server that limits its rate."""

_TRIES_503 = 3
_PAUSE_503 = 1.0  # seconds, where the server says no others


@dataclass(frozen=True)
class HttpOptions:
    """`[http]` of a claim.

    headers: name -> the environment variable that holds its value; refusal_status: statuses that
    refuse a histogram; retry_503: whether a call that got 503 may be made again, though it may have
    drawn a label or spent budget.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    refusal_status: tuple[int, ...] = (422,)
    retry_503: bool = False

    def values(self) -> dict[str, str]:
        """The headers with their values. Raises TargetError, which shows no value."""
        found = {}
        for header, variable in self.headers.items():
            value = os.environ.get(variable)
            if not value:
                raise TargetError(
                    f"http.headers: {header} is to hold the environment variable {variable}, which "
                    "is not set"
                )
            if not (value.isascii() and value.isprintable()):
                raise TargetError(
                    f"http.headers: the environment variable {variable} holds what is no value of "
                    "a header: expected printable ASCII"
                )
            found[header] = value
        return found

    def pause(self, status: int, retry_after: str | None, tries: int) -> float | None:
        """Seconds until a call is made again that got `status`; None where it is not.

        tries: how often it was made again already.
        """
        seconds = _seconds(retry_after)
        if status == 429:
            return seconds
        if status == 503 and self.retry_503 and tries < _TRIES_503:
            return _PAUSE_503 if seconds is None else seconds
        return None


PLAIN_HTTP = HttpOptions()
"""What a claim without `[http]` has."""


def _seconds(retry_after: str | None) -> float | None:
    """What `Retry-After` asks for: a number of seconds, or a date; None where it says neither."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal() and retry_after.isascii():
        return float(retry_after) if len(retry_after) < 12 else MOST_WAITED
    try:
        then = parsedate_to_datetime(retry_after)
    except (ValueError, TypeError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
