"""Alarms of a monitor: lines of JSON, and messages to a webhook.

They carry which check failed and at which row, and no votes, labels or costs that depend on votes.
"""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ..targets import shown_spec

SECRET = "DPASSAY_WEBHOOK_SECRET"
"""The environment variable with the secret by which messages are signed."""

_PAUSES = (1.0, 5.0, 20.0)  # seconds before a message is sent again
_SECONDS = 10.0


@dataclass(frozen=True)
class Alarm:
    """A claim that the log refutes. row: by which it was refuted; at: in UTC, when it was seen."""

    check: str
    row: int
    message: str
    at: str

    @classmethod
    def now(cls, check: str, row: int, message: str) -> "Alarm":
        """One that is seen now."""
        return cls(check, row, message, datetime.now(UTC).isoformat(timespec="seconds"))

    def as_json(self) -> dict[str, object]:
        """The public form."""
        return {"alarm": self.check, "row": self.row, "message": self.message, "time": self.at}


def signature(body: bytes, secret: str) -> str:
    """HMAC-SHA256 of a message, as the header `X-Dpassay-Signature` has it."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def send(alarm: Alarm, url: str, trouble: Callable[[str], None]) -> bool:
    """Posts an alarm, again where it fails; whether it arrived. trouble: told why it did not."""
    import httpx

    body = json.dumps(alarm.as_json()).encode()
    headers = {"Content-Type": "application/json"}
    secret = os.environ.get(SECRET)
    if secret:
        headers["X-Dpassay-Signature"] = signature(body, secret)
    for pause in (*_PAUSES, None):
        try:
            httpx.post(url, content=body, headers=headers, timeout=_SECONDS).raise_for_status()
            return True
        except httpx.HTTPError as error:
            if pause is None:
                trouble(f"the alarm did not reach {shown_spec(url)}: {error}")
                return False
            time.sleep(pause)
    return False
