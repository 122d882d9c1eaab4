"""Connections of `dpassay serve`: from this machine only, each with a time limit."""

import asyncio
import logging
import socket

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

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
            refusal = JSONResponse({"error": f"Host: expected {_listed(self._hosts)}"}, 421)
            await refusal(scope, receive, send)
        elif headers.get(b"origin", next(iter(self._origins))) not in self._origins:
            refusal = JSONResponse({"error": f"Origin: expected {_listed(self._origins)}"}, 403)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _listed(allowed: set[str]) -> str:
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
