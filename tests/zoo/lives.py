"""Deployments that run in processes of their own, and what is left of them after a restart.

Without imports of the zoo, as it is run by path: `python lives.py NAME [FOLDER]` speaks JSON Lines;
`start FOLDER SEED`, `restart FOLDER` and `stop FOLDER` are for a server in the background, `empty`
for the store of answers that belongs to the process which runs it.
"""

import contextlib
import hashlib
import json
import os
import pickle
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np

SIGMA = 40.0


class Gnmax:
    """The claimed labels from one generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        noise = self.rng.normal(0, SIGMA, (size, histogram.size))
        return (histogram + noise).argmax(1)


class Saving(Gnmax):
    """Saves its generator in a folder after every so many calls, and takes it up there again."""

    def __init__(self, folder: str, every: int) -> None:
        self.file, self.every, self.calls = Path(folder) / "state", every, 0
        saved = pickle.loads(self.file.read_bytes()) if self.file.exists() else None
        super().__init__(saved or np.random.default_rng())

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        labels = super().sample(histogram, size)
        self.calls += 1
        if self.calls % self.every == 0:
            self.file.write_bytes(pickle.dumps(self.rng))
        return labels


class Hashed(Gnmax):
    """Seeds the noise of an answer by a hash of the votes, and of a key that nobody else knows.

    key: b"" for none, which makes labels a public function of the votes.
    """

    def __init__(self, key: bytes = b"") -> None:
        self.key = key

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        votes = np.asarray(histogram, dtype=np.int64).tobytes()
        self.rng = np.random.default_rng(list(hashlib.sha256(self.key + votes).digest()))
        return np.repeat(super().sample(histogram, 1), size)


def keyed(folder: str) -> Hashed:
    """With a key that is drawn once, and kept in the folder."""
    file = Path(folder) / "key"
    if not file.exists():
        file.write_bytes(os.urandom(32))
    return Hashed(file.read_bytes())


class Caching(Gnmax):
    """Keeps the first answer of every histogram, in a file where there is a folder for it."""

    def __init__(self, folder: str | None = None) -> None:
        super().__init__(np.random.default_rng())
        self.file = None if folder is None else (Path(folder) / "answers").open("a+")
        self.kept: dict[str, int] = {}
        if self.file is not None:
            self.file.seek(0)
            self.kept = dict(json.loads(line) for line in self.file)

    def sample(self, histogram: np.ndarray, size: int) -> Any:
        key = ",".join(map(str, histogram))
        if key not in self.kept:
            self.kept[key] = self.draw(histogram)
            if self.file is not None:
                print(json.dumps([key, self.kept[key]]), file=self.file, flush=True)
        return np.full(size, self.kept[key])

    def draw(self, histogram: np.ndarray) -> int:
        return int(super().sample(histogram, 1)[0])


class HashedCaching(Caching):
    """The same of answers whose noise is seeded by a hash of the votes."""

    def draw(self, histogram: np.ndarray) -> int:
        return int(Hashed().sample(histogram, 1)[0])


def cached_and_seeded(folder: str) -> Caching:
    """Answers that are kept, drawn from a generator that begins with the same seed every time."""
    caching = Caching(folder)
    caching.rng = np.random.default_rng(1234)
    return caching


def store_of(process: int) -> Path:
    """The folder in which the deployments that a process runs keep their answers."""
    return Path(tempfile.gettempdir()) / f"dpassay-zoo-{process}"


def started(folder: str) -> int:
    """How often it was started before, by a counter on disk."""
    file = Path(folder) / "starts"
    count = int(file.read_text()) if file.exists() else 0
    file.write_text(str(count + 1))
    return count


def of_seeds_in_turn(seeds: int) -> Callable[[str], Gnmax]:
    return lambda folder: Gnmax(np.random.default_rng(1000 + started(folder) % seeds))


of_the_process_id = Gnmax(np.random.default_rng(os.getpid()))
of_the_system = Gnmax(np.random.default_rng())

SPEAKING: dict[str, Callable[..., Gnmax]] = {
    "of-the-process-id": lambda: Gnmax(np.random.default_rng(os.getpid())),
    "of-the-system": lambda: Gnmax(np.random.default_rng()),
    "saved-every-50": lambda folder: Saving(folder, 50),
    "saved-every-call": lambda folder: Saving(folder, 1),
    "eight-in-turn": of_seeds_in_turn(8),
    "four-in-turn": of_seeds_in_turn(4),
    "counted-with-entropy": lambda folder: Gnmax(
        np.random.default_rng([started(folder) % 8, secrets.randbits(128)])
    ),
    "cached-in-memory": Caching,
    "cached-on-disk": Caching,
    "cached-and-seeded": cached_and_seeded,
    "hashed": lambda folder: Hashed(),
    "hashed-and-cached": HashedCaching,
    "keyed": keyed,
}


def speak(deployment: Gnmax) -> None:
    """Answers requests on stdin until it ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["call"] == "aggregate":
            labels = deployment.sample(np.array(request["histogram"]), request["size"])
            print(json.dumps({"labels": labels.tolist()}), flush=True)
        else:
            print(json.dumps({"error": "unknown call"}), flush=True)


def serve(seed: str, port: int) -> None:
    """Answers HTTP on a port; without a seed, from the system's entropy."""
    deployment = Gnmax(np.random.default_rng(None if seed == "none" else int(seed)))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(
                {"labels": deployment.sample(np.array(request["histogram"]), request["size"])}
                if self.path == "/aggregate"
                else None
            )

        def do_GET(self) -> None:
            self.reply(None)

        def reply(self, found: Any) -> None:
            body = json.dumps(found, default=np.ndarray.tolist).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    HTTPServer(("127.0.0.1", port), Handler).serve_forever()


def start(folder: str, seed: str, port: int) -> None:
    """Starts a server in the background, and returns once it can be reached."""
    command = [sys.executable, __file__, "serve", seed, str(port)]
    child = subprocess.Popen(command, start_new_session=True)
    (Path(folder) / "server.json").write_text(json.dumps([child.pid, seed, port]))
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise SystemExit(f"nothing answers on port {port}")


def stop(folder: str) -> tuple[str, int]:
    """Ends the server; what it was started with."""
    pid, seed, port = json.loads((Path(folder) / "server.json").read_text())
    os.kill(pid, signal.SIGKILL)
    for _ in range(600):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                break
        time.sleep(0.01)
    return seed, port


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main(name: str, *rest: str) -> None:
    if name == "start":
        start(rest[0], rest[1], free_port())
    elif name == "restart":
        start(rest[0], *stop(rest[0]))
    elif name == "stop":
        stop(rest[0])
    elif name == "empty":
        for file in store_of(os.getppid()).iterdir():
            file.unlink()
    elif name == "serve":
        serve(rest[0], int(rest[1]))
    else:
        speak(SPEAKING[name](*rest))


if __name__ == "__main__":
    main(*sys.argv[1:])
