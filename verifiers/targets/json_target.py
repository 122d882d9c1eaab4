"""Targets that are asked in JSON, one object for a call and one back, however they travel.

What the objects say is told in docs/how-to/program.md.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...reference import BudgetExhausted, Histogram
from ...reference.clock import OutOfTime, check_clock, seconds_left
from .labels import LABELS
from .release import Release
from .replies import (
    NoReplyError,
    NotOffered,
    Refused,
    TargetError,
    Unanswered,
    one_line,
    parse_reply,
    shown,
    value_in,
)
from .restart_command import RestartCommand, RunsAlready

BUDGET_ERROR = "budget exhausted"
"""The text of `error` that means that the budget is spent."""


class JsonTarget(ABC):
    """What a request asks for, and what a reply means; a subclass says how both travel.

    Args:
        timeout: seconds per call.
        restart: the command that restarts the deployment, of `[gate]`; None where there is none.
        release: what the deployment releases.
    """

    def __init__(
        self, timeout: float, restart: RestartCommand | None = None, release: Release = LABELS
    ) -> None:
        self._timeout, self._command, self._release = timeout, restart, release
        self._answered: set[str] = set()
        """The calls other than for releases that were answered once, by their keys in replies."""

    @property
    def is_our_worker(self) -> bool:
        """Whether our own worker answers, which says how a Python target failed."""
        return False

    @abstractmethod
    def line(self, request: bytes, call: str) -> bytes:
        """The reply to a request, within the time of a call; call: as messages name it.

        Raises TargetError where none comes.
        """

    def ask(self, histogram: Histogram, size: int) -> Any:
        """See `Target.ask`."""
        request, release = self.asked(histogram, size), self._release
        return self.value(request, release.reply, release.text(histogram, size))

    def asked(self, histogram: Histogram, size: int) -> dict[str, Any]:
        """The request for releases."""
        return {"call": self._release.call, **self._release.asked(histogram, size)}

    def rdp(
        self, histogram: Histogram, orders: Sequence[float], answered: bool | None = None
    ) -> Any:
        """See `Target.rdp`."""
        release = self._release
        request = {"call": "rdp", **release.charge_content(histogram, orders, answered)}
        return self.value(request, "rdp", release.charge_text(histogram, answered))

    def spent(self, delta: float) -> Any:
        """See `Target.spent`."""
        return self.value({"call": "spent", "delta": delta}, "spent", f"spent({delta:g})")

    def value(self, request: dict[str, Any], wanted: str, call: str) -> Any:
        """The value of key `wanted` in the reply to a request; raises as `Target.ask`."""
        check_clock()
        reply = parse_reply(self.line(json.dumps(request).encode(), call), call)
        if wanted not in reply:
            raise self._without(reply, wanted, call)
        self._answered.add(wanted)
        return value_in(reply, wanted, call)

    def _without(self, reply: dict[str, Any], wanted: str, call: str) -> Exception:
        """The exception that a reply without the key `wanted` stands for."""
        if reply.get("error") == BUDGET_ERROR:
            return BudgetExhausted(BUDGET_ERROR)
        error = f"neither {wanted} nor an error: {shown(reply)}"
        error = one_line(reply["error"]) if "error" in reply else error
        if reply.get("fault"):
            # of a Python target, by our worker: the code of how it failed
            code = str(reply["fault"]) if self.is_our_worker else "target-failed"
            return TargetError(f"{call} {error}", code)
        if wanted != self._release.reply:
            # an `exec:` child has no way to say that it does not know a call
            unknown = not self.is_our_worker and wanted not in self._answered
            if unknown or reply.get("lacking"):
                if "the target has no " in error:  # of a Python target, by our worker
                    return NotOffered(error)
                return Unanswered(f"the target does not answer {wanted}: {error}")
        if "error" in reply and wanted != "spent":
            return Refused(error)
        code = "target-failed" if "error" in reply else "reply-malformed"
        return TargetError(f"{call} returned {error}", code)


class RemoteTarget(RunsAlready, JsonTarget):
    """A deployment that runs already; a subclass says how one request reaches it.

    An entry point of the group `dpassay.targets` names such a subclass, or any function that gives
    a `Target` for (rest, timeout, restart, release), where rest is what follows NAME: in a TARGET.
    Other arguments are those of `JsonTarget`. The command that restarts it must return once it
    answers again.
    """

    @abstractmethod
    def exchange(self, request: bytes, seconds: float) -> bytes:
        """The reply to a request, both one JSON object in UTF-8.

        It is called once for each call: a repeat could hide reused noise, or spend budget.

        Args:
            request: in one line, without its end.
            seconds: that the call may take.

        Raises:
            TimeoutError: where they are over.
            Exception: any other, where no reply came; the run ends with its message.
        """

    def line(self, request: bytes, call: str) -> bytes:
        try:
            return self.exchange(request, min(self._timeout, seconds_left()))
        except (TargetError, OutOfTime):
            raise
        except TimeoutError:
            check_clock()  # if the run's own time is over, the target is not to blame
            raise TargetError(
                f"{call} gave no answer within {self._timeout:g} s (timeout in [gate])",
                code="target-too-slow",
            ) from None
        except Exception as error:
            raised = one_line(f"{type(error).__name__}: {error}")
            raise NoReplyError(f"{call} got no reply: {raised}") from error

    def close(self) -> None:
        """See `Target.close`: it keeps running."""
