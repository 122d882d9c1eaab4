"""A target in one child process for the whole run, spoken to in JSON Lines."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from ...reference import BudgetExhausted, Histogram
from .replies import NotOffered, Refused, TargetError, call_text, charge_text

_START_SECONDS = 120.0  # importing a deployment may load its models
_REPLY_BYTES = 1 << 26
BUDGET_ERROR = "budget exhausted"
"""The `error` that means a spent budget."""


class ProcessTarget:
    """One request in flight, a deadline for each, and the child's last words when it dies.

    command: the child's argument list; timeout: seconds a call.
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._timeout = timeout
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._pending = b""
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C ends the run, which then ends the child
        )

    @classmethod
    def python(cls, spec: str, timeout: float) -> "ProcessTarget":
        """A Python target in a fresh interpreter. Raises TargetError when it cannot be loaded."""
        target = cls([sys.executable, "-m", "dpassay.verifiers.targets.worker", spec], timeout)
        ready = target._receive(_START_SECONDS, f"loading {spec}")
        if "error" in ready:
            target.close()
            raise TargetError(str(ready["error"]))
        return target

    def ask(self, histogram: Histogram, size: int) -> Any:
        """See `Target.ask`."""
        request = {"call": "aggregate", "histogram": histogram.tolist(), "size": size}
        return self._request(request, "labels", call_text(histogram, size))

    def rdp(self, histogram: Histogram, orders: Sequence[float]) -> Any:
        """See `Target.rdp`."""
        request = {"call": "rdp", "histogram": histogram.tolist(), "orders": list(orders)}
        return self._request(request, "rdp", charge_text(histogram))

    def spent(self, delta: float) -> Any:
        """See `Target.spent`."""
        return self._request({"call": "spent", "delta": delta}, "spent", f"spent({delta:g})")

    def _request(self, request: dict[str, Any], wanted: str, call: str) -> Any:
        self._send(request, call)
        reply = self._receive(self._timeout, call)
        if wanted in reply:
            return reply[wanted]
        error = str(reply.get("error", f"neither {wanted} nor an error: {str(reply)[:60]}"))
        if reply.get("lacking"):
            raise NotOffered(error)
        if error == BUDGET_ERROR:
            raise BudgetExhausted(error)
        if reply.get("fault"):
            raise TargetError(f"{call} {error}")
        if "error" in reply:
            raise Refused(error)
        raise TargetError(f"{call} returned {error}")

    def close(self) -> None:
        """Ends the child."""
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _send(self, request: dict[str, Any], call: str) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError):
            raise TargetError(f"{call}: {self._death()}") from None

    def _receive(self, seconds: float, call: str) -> dict[str, Any]:
        line = self._line(seconds, call)
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise TargetError(f"{call} returned {line[:60]!r}: expected one JSON object a line")
        return reply

    def _line(self, seconds: float, call: str) -> bytes:
        assert self._child.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._child.kill()
                    raise TargetError(f"{call} gave no answer within {seconds:g} s")
                chunk = os.read(self._child.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise TargetError(f"{call}: {self._death()}")
                self._pending += chunk
                if len(self._pending) > _REPLY_BYTES:
                    self._child.kill()
                    raise TargetError(f"{call} returned more than {_REPLY_BYTES >> 20} MB")
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _death(self) -> str:
        """What is known of a child that is gone."""
        status = self._child.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()
        last = f": {words[-1]}" if words else ""
        return f"the target's process ended with status {status}{last}"
