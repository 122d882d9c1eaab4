"""A request to a server, its answer, and the errors that follow from it."""

import json
import re
from typing import Any, NamedTuple

import httpx

from ...reference.clock import check_clock
from .http_options import MOST_WAITED, failed_handshake
from .replies import (
    CallError,
    NoReplyError,
    TargetError,
    one_line,
    parse_reply,
    shown,
    shown_bytes,
    shown_spec,
    value_in,
)


class Call(NamedTuple):
    """A request for `size` releases; text: the call as messages name it; content: JSON or None."""

    text: str
    method: str
    path: str
    content: Any = None
    size: int = 1

    @property
    def body(self) -> dict[str, Any]:
        """Arguments for httpx: the JSON body, with NaN and Infinity, which httpx would refuse."""
        if self.content is None:
            return {}
        written = json.dumps(self.content, ensure_ascii=False, separators=(",", ":"))
        return {"content": written.encode(), "headers": {"Content-Type": "application/json"}}


_UNKNOWN_CALLER = (401, 403)

LACKING = (404, 405, 501)
"""Statuses of a server that has no such route."""

Answered = tuple[int, str | None, bytes]
"""Status, `Retry-After`, body."""
Answer = Answered | BaseException


def call_error(call: str, error: BaseException, url: httpx.URL, timeout: float) -> BaseException:
    """The error to raise for a call without an answer, nearly always a TargetError.

    call: as messages name it; url: of the server; timeout: seconds that the call had. Raises
    OutOfTime where the run's own time was over, as the target is not to blame.
    """
    if isinstance(error, TimeoutError):
        check_clock()
        message = f"{call} gave no answer within {timeout:g} s (timeout in [gate])"
        return NoReplyError(message, code="target-too-slow")
    port = url.port or {"https": 443}.get(url.scheme, 80)
    handshake = failed_handshake(error)
    if handshake is not None:
        message = f"{call} failed: no TLS handshake with {url.host}:{port}: {handshake}"
        return TargetError(message, code="handshake-failed")
    if isinstance(error, httpx.ConnectError):
        return TargetError(
            f"{call} failed: no connection to {url.host}:{port} ({one_line(error)}): is the server "
            "running there?",
            code="target-unreachable",
        )
    if isinstance(error, httpx.HTTPError | httpx.StreamError | OSError | ValueError):
        message = f"{call} failed: {one_line(error) or type(error).__name__}"
        return NoReplyError(message, code="target-unreachable")
    return error


def check_patience(call: Call, answer: Answer, waited: float) -> None:
    """Raises TargetError for a call that has been postponed for too long; waited: in seconds."""
    if waited > MOST_WAITED and not isinstance(answer, BaseException):
        raise TargetError(
            f"{call.text} got HTTP status {answer[0]} again and again, for more than "
            f"{MOST_WAITED:,.0f} s of waiting in all",
            code="target-too-slow",
        )


def parse_url(url: str) -> httpx.URL:
    """The parsed URL. Raises TargetError, whose message shows no credentials."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = None
    if parsed is None or not parsed.host or parsed.query or parsed.fragment:
        message = f"{shown_spec(url)}: expected http://host:port, and perhaps a path"
        raise TargetError(message, code="target-not-found")
    if parsed.port is not None and not 0 < parsed.port < 1 << 16:
        message = f"{shown_spec(url)}: port {parsed.port}: expected 1 to 65535"
        raise TargetError(message, code="target-not-found")
    return parsed


def page_text(body: bytes) -> str:
    """The text of a server's error page, without markup, for a message."""
    text = body[:4000].decode(errors="replace")
    if text.lstrip().startswith("<"):
        text = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    return shown(text) if text else "an empty body"


def error_text(body: bytes) -> str:
    """The first line of the text in `{"error": ...}`, or the first characters of the body."""
    try:
        return one_line(parse_reply(body, "")["error"])
    except (TargetError, KeyError):
        return shown_bytes(body)


def value_in_reply(wanted: str, call: str, body: bytes) -> Any:
    """The value of key `wanted` in a reply. Raises TargetError; call: as messages name it."""
    reply = parse_reply(body, call)
    if wanted not in reply:
        raise CallError(call, f"returned {shown_bytes(body)}: expected an object with {wanted!r}")
    return value_in(reply, wanted, call)


def limit_text(body: bytes) -> str:
    """What a 429 without `Retry-After` says, and the key that takes it for a limit of the rate."""
    return (
        "HTTP status 429 without Retry-After in seconds or as a date, which retry_429 = true in "
        f"[http] takes for a limit of the rate: {error_text(body)}"
    )


def status_text(call: Call, status: int, body: bytes, url: httpx.URL) -> str:
    """A call that got a status of failure, with its URL where there is no such route.

    Where a key of `[http]` may help, it names that key.
    """
    place = ""
    if status in LACKING:
        place = f" from {call.method} {shown_spec(str(url).rstrip('/') + call.path)}"
    key = ""
    if status in _UNKNOWN_CALLER:
        key = "; [http] headers of the claim say who calls"
    elif 400 <= status < 500 and not place and call.method == "POST":
        key = f"; if that is how it refuses an input: refusal_status = [{status}] in [http]"
    return f"{call.text} got HTTP status {status}{place}: {page_text(body)}{key}"
