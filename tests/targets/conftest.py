"""Targets and servers that end with the test."""

import shlex
import sys
import textwrap

import pytest
from http_server import Server

from dpassay.verifiers.targets import open_target


@pytest.fixture
def script(tmp_path):
    """Writes a child whose body handles one `request`; returns its spec."""

    def write(body, before=""):
        path = tmp_path / "child.py"
        lines = f"import json, os, sys, time\n{before}\nfor line in sys.stdin:\n"
        handling = f"request = json.loads(line)\n{textwrap.dedent(body)}\nsys.stdout.flush()\n"
        path.write_text(lines + textwrap.indent(handling, "    "))
        return f"exec:{shlex.join([sys.executable, str(path)])}"

    return write


@pytest.fixture
def opened():
    """Opens targets, and ends them with the test."""
    targets = []

    def start(spec, timeout=20.0, restart=None):
        targets.append(open_target(spec, timeout, restart))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


@pytest.fixture
def served():
    servers = []

    def start(handle, port=0):
        servers.append(Server(handle, port))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
