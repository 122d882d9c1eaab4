"""The reference aggregator as an HTTP target of this machine alone: what `dpassay serve` runs."""

import asyncio
import json
import logging
import socket
from collections.abc import Iterator, Set
from typing import Any

import numpy as np
import uvicorn
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...reference import BudgetExhausted
from ..kinds.served import Served
from ..targets import NotOffered
from ..targets.replies import one_line, shown

LARGEST_SIZE = 1_000_000
_MOST_ORDERS = 1000
_DRAWS = 1 << 16  # noise draws between two requests


def application(served: Served) -> Starlette:
    """The ASGI application of an HTTP target that conforms to the claim of `served`.

    Large requests yield to others every few milliseconds. Mistakes are answered with
    {"error": one line}: status 422 for the content, 413 for the length, and 429 where the budget of
    the claim is spent.
    """

    async def aggregate(request: Request) -> Response:
        content = await _content(request, {served.takes, "size"}, served.body_bytes)
        values, size = served.input(content[served.takes]), _size(content["size"])
        with served.reserved(size):
            releases, texts = [], []
            for part in _parts(size, served.width):
                drawn = served.drawn(values, part)
                releases += drawn
                texts.append(json.dumps(drawn, separators=(",", ":"))[1:-1])
                await asyncio.sleep(0)  # others have their turn
            served.charge(releases)
        found = f'{{"{served.reply}":[{",".join(texts)}]}}'
        return Response(found, media_type="application/json")

    async def rdp(request: Request) -> JSONResponse:
        needed = {served.takes, "orders"}
        content = await _content(request, needed, served.body_bytes, {"answered"})
        values, orders = served.input(content[served.takes]), _orders(content["orders"])
        return JSONResponse({"rdp": served.rdp(values, orders, _read_answered(content))})

    async def spent(request: Request) -> JSONResponse:
        return JSONResponse({"spent": served.spent(_delta(request.query_params.get("delta")))})

    return Starlette(
        routes=[
            Route("/aggregate", aggregate, methods=["POST"]),
            Route("/rdp", rdp, methods=["POST"]),
            Route("/spent", spent, methods=["GET"]),
        ],
        exception_handlers={
            ValueError: lambda _, error: _error(422, str(error)),
            BudgetExhausted: lambda _, error: _error(429, str(error)),
            NotOffered: lambda _, error: _error(404, str(error)),
            ClientDisconnect: lambda _, error: _error(400, "the client has gone"),
            HTTPException: lambda _, error: _error(error.status_code, error.detail),
        },
    )


def _parts(size: int, width: int) -> Iterator[int]:
    """Sizes that add up to `size`, each drawn in a few milliseconds."""
    most = max(1, _DRAWS // width)
    for start in range(0, size, most):
        yield min(most, size - start)


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": one_line(message)}, status)


async def _content(
    request: Request, keys: set[str], most: int, may: Set[str] = frozenset()
) -> dict[str, Any]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise HTTPException(413, f"expected a body of at most {most:,} bytes")
    try:
        content = json.loads(bytes(body))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not keys <= set(content) <= keys | may:
        raise ValueError(f"expected one JSON object with {' and '.join(sorted(keys))}")
    return content


def _size(given: Any) -> int:
    if type(given) is not int or not 1 <= given <= LARGEST_SIZE:
        raise ValueError(f"size {shown(given)}: expected a whole number from 1 to {LARGEST_SIZE:,}")
    return given


def _orders(given: Any) -> NDArray[np.float64]:
    numbers = isinstance(given, list) and all(type(order) in (int, float) for order in given)
    if not numbers or not 1 <= len(given) <= _MOST_ORDERS:
        raise ValueError(f"orders: expected a list of 1 to {_MOST_ORDERS} numbers")
    if not all(1 < order <= 1e6 for order in given):
        raise ValueError("orders: expected numbers above 1, up to 1,000,000")
    return np.array(given, dtype=np.float64)


def _read_answered(content: dict[str, Any]) -> bool | None:
    answered = content.get("answered")
    if answered is not None and type(answered) is not bool:
        raise ValueError(f"answered {shown(answered)}: expected true or false")
    return answered


def _delta(given: str | None) -> float:
    try:
        delta = float(given or "")
    except ValueError:
        delta = 0.0
    if not 0 < delta < 1:
        raise ValueError("delta: expected a number between 0 and 1, as in /spent?delta=1e-5")
    return delta


REQUEST_SECONDS = 10.0
"""Time from opening a connection, or the first byte of a later request, to its last byte."""

ANSWER_SECONDS = 120.0
"""Time from there until the client has received the whole answer."""

_NAMES = ("127.0.0.1", "localhost", "[::1]")
_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class OwnMachine:
    """Answers only requests whose Host is this machine, and whose Origin is not foreign.

    Otherwise a web page could have its own name resolved to 127.0.0.1 and read what is served here
    (DNS rebinding). Other requests get status 421, or 403 for a foreign Origin.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        if port == 80:
            self._hosts |= set(_NAMES)
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request, as an ASGI application."""
        headers = {name: value.decode("latin-1").lower() for name, value in scope["headers"]}
        if headers.get(b"host", "") not in self._hosts:
            refusal = JSONResponse({"error": f"Host: expected {_alternatives(self._hosts)}"}, 421)
            await refusal(scope, receive, send)
        elif headers.get(b"origin", next(iter(self._origins))) not in self._origins:
            refusal = JSONResponse(
                {"error": f"Origin: expected {_alternatives(self._origins)}"}, 403
            )
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _alternatives(allowed: set[str]) -> str:
    return " or ".join(sorted(allowed))


class PromptProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for receiving a request and for sending its answer."""

    _phase: tuple[str, int] = ("", 0)
    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._enter("receiving")

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        super().data_received(data)
        self._enter("receiving" if self._is_receiving else "answering")

    def on_response_complete(self) -> None:
        """See uvicorn, which closes idle connections; a new request may have come already."""
        super().on_response_complete()
        idle = self.cycle is None or self.cycle.response_complete
        self._enter("idle" if idle else "receiving" if self._is_receiving else "answering")

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._enter("idle")
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Ends the connection with the server; an incomplete request is aborted."""
        if self._phase[0] == "receiving":
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def _is_receiving(self) -> bool:
        """Whether the request is incomplete, or has been answered before its end."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _enter(self, phase: str) -> None:
        """Starts the timer of a phase of this request, unless it is running."""
        entered = (phase, 0 if self._is_receiving else id(self.cycle))
        if entered == self._phase:
            return
        self._phase = entered
        if self._end is not None:
            self._end.cancel()
        seconds = {"receiving": REQUEST_SECONDS, "answering": ANSWER_SECONDS}.get(phase)
        self._end = None if seconds is None else self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        if self.transport.is_closing():
            return
        untouched = self.cycle is None or self.cycle.response_complete
        if self._phase[0] == "receiving" and (untouched or not self.cycle.response_started):
            self.transport.write(_LATE)
            self.transport.close()
        else:
            self.transport.abort()


class QuietServer(uvicorn.Server):
    """A server that ends without tracebacks of the requests that it cancels."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn.Server; silences the log, where each cancelled request is a traceback."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def settings(app: ASGIApp, port: int, grace: int) -> uvicorn.Config:
    """Settings for serving `app` on a local port; grace: seconds for answers at shutdown."""
    return uvicorn.Config(
        OwnMachine(app, port),
        http=PromptProtocol,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=grace,
    )
