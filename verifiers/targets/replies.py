"""What a target may answer. A reply that breaks the rules is an error, and never evidence."""

import json
import re
import reprlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...reference import Histogram

REPLY_BYTES = 1 << 26
"""No reply is longer."""
_LINE = 300  # characters of another's text in a message


class TargetError(Exception):
    """A target that raised, hung, died or broke the reply format; names the call and its input."""


class CallError(TargetError):
    """The same of one call. said: what came of it, without the call, for whoever names it anew."""

    def __init__(self, call: str, said: str) -> None:
        super().__init__(f"{call} {said}")
        self.said = said


class NoReplyError(TargetError):
    """The same of a call that was sent, or may have been, and that nothing answered."""


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """A target's word that it does not serve this histogram."""


class NotOffered(Exception):  # noqa: N818 - an answer, not an error
    """A target's word that it has no accountant of this kind."""


class Target(Protocol):
    """A deployment as the gate sees it."""

    def ask(self, histogram: Histogram, size: int) -> Any:
        """The raw reply to one call; raises `Refused`, `BudgetExhausted` or `TargetError`."""

    def rdp(self, histogram: Histogram, orders: Sequence[float]) -> Any:
        """The raw reply of its own accountant; raises `NotOffered`, else as `ask`."""

    def spent(self, delta: float) -> Any:
        """The raw reply of its own ledger, epsilon at delta; raises as `rdp`."""

    @property
    def no_restart(self) -> str | None:
        """What would make a restart possible, in words; None where `restart` is offered."""

    def restart(self) -> str | None:
        """Ends and starts it anew; raises `NotOffered` where the run cannot.

        What this cannot show, in words, if anything.
        """

    def restart_contained(self) -> None:
        """Ends it, and starts it as process 1 of a PID namespace; raises `NotOffered`."""

    def close(self) -> None:
        """Ends the deployment if it was started for the run."""


def shown_spec(spec: str) -> str:
    """The spec as messages may show it: without the credentials and the query of an URL."""
    if not re.match(r"\w+://", spec):
        return spec
    return re.sub(r"\?.*", "?***", re.sub(r"//.*@", "//***@", spec))


def one_line(text: Any) -> str:
    """Text of the target's own as messages show it: its first line, without control characters."""
    text = str(text) if isinstance(text, str | Exception) else _SHORT.repr(text)
    first = next(iter(text.strip().splitlines()), "")
    return "".join(c if c.isprintable() else " " for c in first[:_LINE])


def parsed_reply(reply: bytes, call: str) -> dict[str, Any]:
    """The JSON object in `reply`. Raises TargetError that names the call and what came back."""
    try:
        parsed = json.loads(reply)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise TargetError(f"{call} returned {shown_bytes(reply)}: expected one JSON object")
    return parsed


def found_in(reply: dict[str, Any], wanted: str, call: str) -> Any:
    """What was asked for, out of a reply that has it. Raises TargetError for an error beside it."""
    if reply.get("error") is not None:
        raise TargetError(
            f"{call} returned {wanted!r} and an error, {shown(reply['error'])}: "
            "expected one of them"
        )
    return reply[wanted]


def shown_bytes(reply: bytes) -> str:
    """The first 60 characters of raw output, quoted."""
    return repr(reply[:240].decode(errors="replace")[:60])


def shown(reply: Any) -> str:
    """A value as messages show it; what is long or deep is cut before it is written out."""
    text = reply if isinstance(reply, str) else _SHORT.repr(reply)
    return one_line(text) if len(text) <= 60 else f"{one_line(text[:57])}..."


def shown_repr(value: Any) -> str:
    """A value as Python writes it, on one line; what is long or deep is cut."""
    return one_line(_SHORT.repr(value))


def checked_spent(reply: Any, delta: float) -> float:
    """The epsilon in `reply`. Raises TargetError naming the call and what is allowed."""
    number = isinstance(reply, int | float | np.number) and not isinstance(reply, bool)
    if not number or not 0 <= reply <= np.inf:
        raise TargetError(f"spent({delta:g}) returned {shown(reply)}: expected a number from 0")
    try:
        return float(reply)
    except OverflowError:
        return np.inf


def described(labels: np.ndarray[Any, Any], reply: Any) -> str:
    """A reply of the wrong shape as messages show it: its values where they are few."""
    if labels.dtype == object or labels.ndim == 0:
        return shown(reply)
    return f"an array of shape {labels.shape}"


def no_numbers(reply: Any) -> str:
    """What was returned in place of numbers, as messages say it: of an array, what it is of.

    A text says nothing of its type: it may be how the process of a target wrote a value.
    """
    if isinstance(reply, str):
        return shown(reply)
    try:
        array = np.asarray(reply)
    except Exception:
        return shown_repr(reply)
    if array.ndim == 0 or array.dtype == object:
        return shown_repr(reply)
    kinds = {"U": "text", "S": "bytes"}
    return f"an array of {kinds.get(array.dtype.kind, array.dtype)}"


class _Shortener(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        """Python writes no int of thousands of digits, and reprlib would ask it to."""
        bits = x.bit_length()
        return super().repr_int(x, level) if bits < 10_000 else f"<an int of {bits:,} bits>"


def _shortener() -> reprlib.Repr:
    short = _Shortener()
    short.maxlist = short.maxtuple = short.maxarray = 12
    short.maxdict, short.maxstring, short.maxother, short.maxlong = 4, 60, 60, 60
    return short


_SHORT = _shortener()
