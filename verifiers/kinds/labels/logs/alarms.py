"""Alarms of a monitor: lines of JSON, and messages to a webhook.

They carry which check failed and at which row, and no votes, labels or costs that depend on votes.
"""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ....inputs.release_log import LogError
from ....targets import shown_spec
from .store import Store

SECRET = "DPASSAY_WEBHOOK_SECRET"
"""The environment variable with the secret by which messages are signed."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0  # seconds before a message is sent again
_SECONDS = 10.0


@dataclass(frozen=True)
class Alarm:
    """A claim that the log refutes.

    row: by which it was refuted; time: of that row as the log writes it, None where it writes none;
    detected: when that was seen, in UTC.
    """

    check: str
    row: int
    message: str
    time: str | None
    detected: str

    @classmethod
    def now(cls, check: str, row: int, time: str | None, message: str) -> "Alarm":
        """One that is seen now."""
        return cls(check, row, message, time, datetime.now(UTC).isoformat(timespec="seconds"))

    @classmethod
    def of_json(cls, told: dict[str, Any]) -> "Alarm":
        """One that was kept."""
        return cls(told["alarm"], int(told["row"]), told["message"], told["time"], told["detected"])

    def as_json(self) -> dict[str, object]:
        """The public form."""
        return {
            "alarm": self.check,
            "row": self.row,
            "message": self.message,
            "time": self.time,
            "detected": self.detected,
        }


def signature(body: bytes, secret: str) -> str:
    """HMAC-SHA256 of a message, as the header `X-Dpassay-Signature` has it."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def check_webhook(url: str) -> None:
    """Raises LogError where it is no address."""
    import httpx

    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = None
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise LogError(f"--webhook {shown_spec(url)}: expected http:// or https:// and a host")


def send(alarm: Alarm, url: str) -> str | None:
    """Posts an alarm, once; why it did not arrive, None where it did."""
    import httpx

    body = json.dumps(alarm.as_json()).encode()
    headers = {"Content-Type": "application/json"}
    secret = os.environ.get(SECRET)
    if secret:
        headers["X-Dpassay-Signature"] = signature(body, secret)
    try:
        httpx.post(url, content=body, headers=headers, timeout=_SECONDS).raise_for_status()
    except httpx.HTTPError as error:
        return f"the alarm of {alarm.check} did not reach {shown_spec(url)}: {error}"
    return None


class Telling:
    """Tells the alarms of a state: each as a line on stdout, and to a webhook until it arrives.

    What could not be told is told later, by the next process if need be. A webhook that fails is
    tried again after a second, then after twice as long each time, five minutes at most. prints:
    False once stdout cannot be written.
    """

    def __init__(self, store: Store, webhook: str | None) -> None:
        self.store, self.webhook, self.prints = store, webhook, True
        self._next, self._pause = 0.0, _FIRST_PAUSE

    def tell(self, alarms: Sequence[Alarm]) -> str | None:
        """Tells what is untold; why a webhook was not reached, if it was not.

        Raises OSError where stdout cannot be written.
        """
        by_check = {alarm.check: alarm for alarm in alarms}
        for check in self.store.untold("printed") if self.prints else ():
            print(json.dumps(by_check[check].as_json()), flush=True)
            self.store.mark(check, "printed")
        if self.webhook is None or time.monotonic() < self._next:
            return None
        for check in self.store.untold("posted"):
            trouble = send(by_check[check], self.webhook)
            if trouble is not None:
                self._next = time.monotonic() + self._pause
                self._pause = min(2.0 * self._pause, _LONGEST_PAUSE)
                return trouble
            self.store.mark(check, "posted")
            self._pause = _FIRST_PAUSE
        return None
