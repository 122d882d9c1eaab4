"""The options of `[http]`: headers from the environment, refusals, limits, certificates."""

import os
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from .http_route import PROTOCOL, HttpRoute
from .replies import TargetError, one_line


@dataclass(frozen=True)
class HttpTls:
    """Files of `[http]`, in PEM.

    Attributes:
        ca: certificates of authorities that are believed beside the system's.
        certificate: what this side shows.
        key: of that certificate, whose file may hold it too.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    def context(self) -> ssl.SSLContext:
        """Checks servers against the system's store and `ca`. Raises TargetError of one line.

        SSL_CERT_FILE and SSL_CERT_DIR say otherwise where the store lies, as OpenSSL reads them.
        """
        made = ssl.create_default_context()
        if self.ca is not None:
            try:
                made.load_verify_locations(self.ca)
            except (OSError, ValueError) as error:
                raise _unreadable("ca", self.ca, error, "certificates") from None
        if self.certificate is not None:
            try:
                made.load_cert_chain(self.certificate, self.key, password=lambda: "")
            except (OSError, ValueError) as error:
                key = "" if self.key is None else f" with key = {self.key}"
                what = "a certificate and its key, which no password protects"
                path = f"{self.certificate}{key}"
                raise _unreadable("certificate", path, error, what) from None
        return made


SYSTEM_STORE = HttpTls()
"""The certificates that the system believes, and none of one's own."""


def _unreadable(
    key: Literal["ca", "certificate"], path: str, error: Exception, what: str
) -> TargetError:
    why = error.strerror if isinstance(error, OSError) else None
    if isinstance(error, ssl.SSLError) or why is None:
        why = f"expected {what}, in PEM"
    return TargetError(f"http.{key} = {path}: {one_line(why)}", code="target-option-wrong")


def failed_handshake(error: BaseException) -> str | None:
    """Why a handshake failed, and what would help; None for an error of another kind."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, ssl.SSLError):
        found = found.__cause__ or found.__context__
    if found is None:
        return None
    if isinstance(found, ssl.SSLCertVerificationError):
        return f"{one_line(found.verify_message)}: {_HELP.get(found.verify_code, _AUTHORITY)}"
    said = one_line(found.reason or str(found)).lower().replace("_", " ")
    if "certificate" in said or "handshake failure" in said:
        return f"{said}: a certificate that the server asks for is certificate, with key, in [http]"
    if "wrong version" in said or "record layer" in said:
        return f"{said}: does the server speak plain HTTP, http://, on this port?"
    return None if "eof" in said else said


_AUTHORITY = "an authority that the system's store lacks is ca in [http]"
_HELP = {
    9: "is this machine's clock right?",
    10: "the server needs a new certificate, if this machine's clock is right",
    62: "ask the server by a name that its certificate has",
    64: "ask the server by an address that its certificate has",
}
"""What would help, by OpenSSL's number of what is wrong with a certificate."""


MOST_WAITED = 3600.0
"""Most seconds that one call waits, in total, for a server that limits its rate."""

_TRIES_503 = 3
_PAUSE_503 = 1.0  # seconds, unless the server says how many
_LONGEST_PAUSE = 60.0  # of pauses that double, before a call that got 429 is made again
_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
"""How environment variables are called: a name of another form may be a secret."""

_WRONG_REQUEST = (400, 422)  # by RFC 9110 the content is at fault: they refuse an input


@dataclass(frozen=True)
class HttpOptions:
    """`[http]` of a claim.

    Attributes:
        headers: header name -> environment variable that holds its value.
        refusal_status: statuses that refuse a histogram, or a query.
        refuses: whether the claimed mechanism refuses queries.
        retry_503: whether a call that got 503 is repeated, though it may have drawn a label or
            spent budget.
        retry_429: whether 429 without `Retry-After` is a limit of the rate.
        route: where and how labels are asked.
        tls: certificates.
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
                # the value itself may stand there by mistake, and must not be shown
                named = variable if _VARIABLE.fullmatch(variable) else "that the claim names"
                raise TargetError(
                    f"http.headers: {header} takes its value from the environment variable "
                    f"{named}, which is not set: the claim has its name, never the value",
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


def secret_words(values: Iterable[str]) -> list[bytes]:
    """What no message shows of the values of headers: each, and what follows a word as `Bearer`.

    What is shorter than eight characters guards nothing, and would stand in many a reply.
    """
    words = [word for value in values for word in (value, value.partition(" ")[2].strip())]
    return [word.encode() for word in words if len(word) >= _LEAST_SECRET]


_LEAST_SECRET = 8


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
