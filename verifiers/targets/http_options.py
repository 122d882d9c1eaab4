"""The options of `[http]`: headers from the environment, refusals, limits of the rate."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .http_route import PROTOCOL, HttpRoute
from .http_tls import SYSTEM_STORE, HttpTls
from .replies import TargetError

MOST_WAITED = 3600.0
"""Most seconds that one call waits, in total, for a server that limits its rate."""

_TRIES_503 = 3
_PAUSE_503 = 1.0  # seconds, unless the server says how many
_LONGEST_PAUSE = 60.0  # of pauses that double, before a call that got 429 is made again
_WRONG_REQUEST = (400, 422)  # by RFC 9110 the content is at fault: they refuse an input


@dataclass(frozen=True)
class HttpOptions:
    """`[http]` of a claim.

    headers: header name -> environment variable that holds its value; refusal_status: statuses that
    refuse a histogram, or a query; refuses: whether the claimed mechanism refuses queries;
    retry_503: whether a call that got 503 is repeated, though it may have drawn a label or spent
    budget; retry_429: whether 429 without `Retry-After` is a limit of the rate; route: where and
    how labels are asked; tls: certificates.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    refusal_status: tuple[int, ...] = (422,)
    refuses: bool = False
    retry_503: bool = False
    retry_429: bool = False
    route: HttpRoute = PROTOCOL
    tls: HttpTls = SYSTEM_STORE

    def refuses_query(self, status: int) -> bool:
        """Whether a status, in answer to one query, is a refusal by the mechanism, the label -1."""
        return self.refuses and status in self.refusal_status and status not in _WRONG_REQUEST

    def answers(self, status: int) -> bool:
        """Whether a call that got `status` was answered, be it with a refusal of its query."""
        return self.refuses_query(status) or (
            200 <= status < 300 and status not in self.refusal_status
        )

    def values(self) -> dict[str, str]:
        """The headers with their values. Raises TargetError, which shows no value."""
        found = {}
        for header, variable in self.headers.items():
            value = os.environ.get(variable)
            if not value:
                raise TargetError(
                    f"http.headers: {header} takes its value from the environment variable "
                    f"{variable}, which is not set",
                    code="target-option-wrong",
                )
            if not (value.isascii() and value.isprintable()):
                raise TargetError(
                    f"http.headers: the environment variable {variable} does not hold the value of "
                    "a header: expected printable ASCII",
                    code="target-option-wrong",
                )
            found[header] = value
        return found

    def pause(self, status: int, retry_after: str | None, tries: int) -> float | None:
        """Seconds until a call that got `status` is repeated; None where it is not.

        retry_after: the header of the answer, if any; tries: repeats so far.
        """
        seconds = _seconds(retry_after)
        if status == 429:
            return (
                min(2.0**tries, _LONGEST_PAUSE) if self.retry_429 and seconds is None else seconds
            )
        if status == 503 and self.retry_503 and tries < _TRIES_503:
            return _PAUSE_503 if seconds is None else seconds
        return None


PLAIN_HTTP = HttpOptions()
"""The options of a claim without `[http]`."""


def _seconds(retry_after: str | None) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or a date; None for anything else."""
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
