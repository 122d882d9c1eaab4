"""An aggregator whose noise may be kept for a connection: `python kept_service.py KIND PORT`.

KIND: `noise`, one draw for each connection; `part`, half of its variance; `some`, one that is
renewed after every ten answers; `closing`, as `noise`, but the server closes every connection after
an answer; `generator`, a generator for each connection, seeded by the system, as is right. Calls
for several labels are right, so that kept connections alone can tell. On port 0 it chooses one; the
port is printed.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

SCALE = 40.0


class Service(BaseHTTPRequestHandler):
    kind = "noise"
    wbufsize = -1  # head and body in one packet: two would wait for each other's receipt

    def setup(self) -> None:
        super().setup()
        self.protocol_version = "HTTP/1.0" if self.kind == "closing" else "HTTP/1.1"
        self.rng = np.random.default_rng()
        self.kept: Any = None
        self.answers = 0

    def noise(self, size: int, classes: int) -> Any:
        drawn = self.rng.normal(0.0, SCALE, (size, classes))
        if self.kind == "generator" or size > 1:
            return drawn
        if self.kept is None or (self.kind == "some" and self.answers % 10 == 0):
            self.kept = self.rng.normal(0.0, SCALE, classes)
        self.answers += 1
        return (drawn + self.kept) / np.sqrt(2.0) if self.kind == "part" else self.kept[None]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/aggregate":
            self.answer(404, {})
            return
        histogram = np.array(asked["histogram"])
        found = (histogram + self.noise(asked["size"], histogram.size)).argmax(1)
        self.answer(200, {"labels": found.tolist()})

    def do_GET(self) -> None:
        self.answer(404, {})

    def answer(self, status: int, body: Any) -> None:
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        pass


def main(kind: str, port: str) -> None:
    Service.kind = kind
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Service)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
