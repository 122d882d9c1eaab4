"""Targets and servers that end with the test."""

import shlex
import ssl
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from http_server import Handle, Server

from dpassay.verifiers.targets import Target, open_target


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Writes a child whose body handles one `request`; returns its spec."""

    def write(body: str, before: str = "") -> str:
        path = tmp_path / "child.py"
        lines = f"import json, os, sys, time\n{before}\nfor line in sys.stdin:\n"
        handling = f"request = json.loads(line)\n{textwrap.dedent(body)}\nsys.stdout.flush()\n"
        path.write_text(lines + textwrap.indent(handling, "    "))
        return f"exec:{shlex.join([sys.executable, str(path)])}"

    return write


@pytest.fixture
def opened() -> Iterator[Callable[..., Target]]:
    """Opens targets, and ends them with the test."""
    targets: list[Target] = []

    def start(spec: str, timeout: float = 20.0, restart: str | None = None) -> Target:
        targets.append(open_target(spec, timeout, restart))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


@pytest.fixture
def served() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(handle: Handle, port: int = 0, context: ssl.SSLContext | None = None) -> Server:
        servers.append(Server(handle, port, context))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
