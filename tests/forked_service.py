"""An aggregator behind HTTP with forked workers: `python forked_service.py KIND WORKERS FOLDER`.

The parent seeds, then forks, as application servers do that load before they fork. KIND: `alike`,
one generator that all workers copy; `own`, each its own from the system; `by-time`, each seeded by
the second of its start; `slow-answers`, as `own`, with a threshold whose refusals are faster. The
port is written to FOLDER/port once the workers listen.
"""

import json
import math
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np

SCALE, THRESHOLD, THRESHOLD_NOISE = 10.0, 15.0, 10.0
SLOW = 0.02  # seconds that an answer takes


class Service(BaseHTTPRequestHandler):
    rng = np.random.default_rng(7)
    screens = False

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/aggregate":
            self.send_error(404)
            return
        if "values" in asked:
            noise = self.numbers(asked["size"], len(asked["values"]))
            sent = json.dumps({"releases": (np.array(asked["values"]) + noise).tolist()})
        else:
            sent = json.dumps({"labels": self.labels(np.array(asked["histogram"]), asked["size"])})
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent.encode())

    def labels(self, histogram: Any, size: int) -> Any:
        found = (histogram + self.rng.normal(0.0, SCALE, (size, histogram.size))).argmax(1)
        if self.screens:
            noise = self.rng.normal(0.0, THRESHOLD_NOISE, size)
            found = np.where(histogram.max() + noise >= THRESHOLD, found, -1)
            time.sleep(SLOW * bool((found >= 0).any()))
        return found.tolist()

    def numbers(self, size: int, width: int) -> Any:
        """Discrete Laplace noise of scale 2."""
        draws = self.rng.geometric(-math.expm1(-0.5), (2, size, width))
        return draws[0] - draws[1]

    def log_message(self, *_: Any) -> None:
        pass


def main(kind: str, workers: int, folder: str) -> None:
    server = HTTPServer(("127.0.0.1", 0), Service)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    children = []
    for _ in range(workers):
        child = os.fork()
        if child == 0:
            if kind != "alike":
                Service.rng = np.random.default_rng(int(time.time()) if kind == "by-time" else None)
            Service.screens = kind == "slow-answers"
            server.serve_forever()
        children.append(child)
    place = Path(folder) / "port"
    place.with_suffix(".new").write_text(str(server.server_port))
    place.with_suffix(".new").rename(place)
    try:
        signal.pause()
    finally:
        for child in children:
            os.kill(child, signal.SIGTERM)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
