"""HTTP servers on the loopback that reply as a test says."""

import contextlib
import json
import os
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Handle = Callable[[Any], Any]
"""Answers one request; given the handler of `http.server`."""


class Server:
    """Answers every request by `handle(handler)`, and keeps what was asked; context: for HTTPS."""

    def __init__(
        self, handle: Handle, port: int = 0, context: ssl.SSLContext | None = None
    ) -> None:
        self.asked: list[tuple[str, str, Any, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                content = json.loads(body) if body else None
                self.content = content
                server.asked.append((self.command, self.path, content, self.headers))
                with contextlib.suppress(ConnectionError):
                    handle(self)

            do_GET = do_POST  # noqa: N815 - the name that http.server calls

            def log_message(self, *_: Any) -> None:
                pass

        self.ended = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads, self.server.block_on_close = True, True
        self.port = self.server.server_port
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}"
        if context is not None:  # a handshake that fails is told by the side that asks
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
            self.server.handle_error = _hear_out  # type: ignore[method-assign]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self) -> None:
        self.ended.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def _hear_out(request: Any, client_address: Any) -> None:
    """After a failed handshake: a close with bytes unread would be a reset, and lose the alert."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(request.fileno())) as plain:
        plain.settimeout(5.0)
        while plain.recv(1 << 16):
            pass


def replying(body: Any, status: int = 200, **headers: str) -> Handle:
    """A handler that sends `body`: bytes, or what JSON makes of it."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()

    def handle(handler: Any) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    return handle
