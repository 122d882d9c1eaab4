"""Deployments behind a Unix socket: `dpassay verify unix:/run/answers.sock --claim claim.toml`."""

import socket

from dpassay.verifiers.targets.json_target import RemoteTarget


class SocketTarget(RemoteTarget):
    """Sends each request over a connection of its own, a line, and reads a line back."""

    def __init__(self, path, timeout, restart, release):
        super().__init__(timeout, restart, release)
        self.path = path

    def exchange(self, request, seconds):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(seconds)
            connection.connect(self.path)
            connection.sendall(request + b"\n")
            with connection.makefile("rb") as reply:
                return reply.readline()
