"""Alarms of a monitor: lines of JSON, and messages to a webhook.

They name the check that failed and the row, and no votes, labels or costs that depend on votes.
"""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Self

from pydantic import Field

from ....findings.document import Document
from ....inputs.release_log import LogError
from ....targets import shown_spec
from .store import Store

SECRET = "DPASSAY_WEBHOOK_SECRET"
"""The environment variable with the secret that signs messages."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0  # seconds before a message is sent again
_SECONDS = 10.0


class Alarm(Document):
    """The refutation of a claim by the log; without votes, labels or costs that depend on them."""

    alarm: str = Field(description="The check that refutes the claim.")
    row: int = Field(ge=0, description="The row at which it was refuted, from 1.")
    message: str
    time: str | None = Field(description="Of that row, as the log writes it; null without times.")
    detected: str = Field(description="When the monitor found it, in UTC, ISO 8601.")

    @classmethod
    def now(cls, check: str, row: int, time: str | None, message: str) -> Self:
        """An alarm that is detected now."""
        detected = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(alarm=check, row=row, message=message, time=time, detected=detected)

    @property
    def check(self) -> str:
        """The check that refutes the claim."""
        return self.alarm


def signature(body: bytes, secret: str) -> str:
    """HMAC-SHA256 of a message, as in the header `X-Dpassay-Signature`."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def check_webhook(url: str) -> None:
    """Raises LogError for a text that is no http or https URL."""
    import httpx

    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = None
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise LogError(
            f"--webhook {shown_spec(url)}: expected http:// or https:// and a host",
            code="value-not-allowed",
        )


def send(alarm: Alarm, url: str) -> str | None:
    """Posts an alarm once; returns why it did not arrive, None if it did."""
    import httpx

    body = json.dumps(alarm.public()).encode()
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
    """Reports the alarms of a state: each as a line on stdout, and to a webhook until it arrives.

    Alarms that could not be reported are kept for later, also for the next process. A webhook that
    fails is tried again after a second, then after doubling pauses of up to five minutes. prints:
    False once stdout cannot be written.
    """

    def __init__(self, store: Store, webhook: str | None) -> None:
        self.store, self.webhook, self.prints = store, webhook, True
        self._next, self._pause = 0.0, _FIRST_PAUSE

    def tell(self, alarms: Sequence[Alarm]) -> str | None:
        """Reports alarms that were not reported yet; returns why the webhook failed, if it did.

        Raises OSError if stdout cannot be written.
        """
        by_check = {alarm.check: alarm for alarm in alarms}
        for check in self.store.unreported("printed") if self.prints else ():
            print(json.dumps(by_check[check].public()), flush=True)
            self.store.mark(check, "printed")
        if self.webhook is None or time.monotonic() < self._next:
            return None
        for check in self.store.unreported("posted"):
            trouble = send(by_check[check], self.webhook)
            if trouble is not None:
                self._next = time.monotonic() + self._pause
                self._pause = min(2.0 * self._pause, _LONGEST_PAUSE)
                return trouble
            self.store.mark(check, "posted")
            self._pause = _FIRST_PAUSE
        return None
