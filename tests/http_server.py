"""HTTP servers on the loopback that reply as a test says."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """Answers every request by `handle(handler)`, and keeps what was asked."""

    def __init__(self, handle, port=0):
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                content = json.loads(body) if body else None
                server.asked.append((self.command, self.path, content, self.headers))
                with contextlib.suppress(ConnectionError):
                    handle(self)

            do_GET = do_POST  # noqa: N815 - the name that http.server calls

            def log_message(self, *_):
                pass

        self.ended = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads, self.server.block_on_close = True, True
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def replying(body, status=200, **headers):
    """A handler that sends `body`: bytes, or what JSON makes of it."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()

    def handle(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    return handle
