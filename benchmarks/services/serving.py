"""Starts, ends and restarts a service: `python -m benchmarks.services.serving FOLDER` restarts it.

FOLDER holds what is needed for that, so that a claim can name the command as its `restart`.
"""

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ..long_runs import ROOT
from .entries import ENTRIES, Entry

_SECONDS = 60.0
_FORKING = 0.5  # seconds from the first answer until all workers are there
_QUIETLY = {"gunicorn": signal.SIGQUIT, "uvicorn": signal.SIGTERM}


@contextlib.contextmanager
def serving(entry: Entry) -> Iterator[tuple[str, str]]:
    """The address of a service, and the command that restarts it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        start(entry, port, folder)
        words = [sys.executable, "-m", "benchmarks.services.serving", name]
        try:
            yield f"http://127.0.0.1:{port}", shlex.join(words)
        finally:
            end(folder)


def start(entry: Entry, port: int, folder: Path) -> None:
    server, *options = entry.server
    address = {
        "gunicorn": ["--bind", f"127.0.0.1:{port}", "benchmarks.services.wsgi:app"],
        "uvicorn": ["--port", str(port), "benchmarks.services.asgi:app"],
    }
    with (folder / "log").open("a") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", server, *options, *address[server]],
            cwd=ROOT,
            env={**os.environ, "KIND": entry.kind},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (folder / "served.json").write_text(json.dumps([entry.id, port, running.pid]))
    _wait(port, answers=True)
    time.sleep(_FORKING)


def end(folder: Path) -> None:
    name, port, pid = json.loads((folder / "served.json").read_text())
    os.kill(pid, _QUIETLY[ENTRIES[name].server[0]])
    _wait(port, answers=False)
    with contextlib.suppress(ChildProcessError):  # the command that restarts it did not start it
        os.waitpid(pid, 0)


def _wait(port: int, *, answers: bool) -> None:
    """Until somebody listens at a port, or nobody does."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with socket.socket() as asking:
            if (asking.connect_ex(("127.0.0.1", port)) == 0) is answers:
                return
        time.sleep(0.05)
    raise TimeoutError(f"port {port}: {'nobody listens' if answers else 'it is still served'}")


def restart(folder: Path) -> None:
    name, port, _ = json.loads((folder / "served.json").read_text())
    end(folder)
    start(ENTRIES[name], port, folder)


if __name__ == "__main__":
    restart(Path(sys.argv[1]))
