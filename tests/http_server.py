"""HTTP servers on the loopback that reply as a test says."""

import contextlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Handle = Callable[[Any], Any]
"""Answers one request; given the handler of `http.server`."""


class Server:
    """Answers every request by `handle(handler)`, and keeps what was asked."""

    def __init__(self, handle: Handle, port: int = 0) -> None:
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
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self) -> None:
        self.ended.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


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
