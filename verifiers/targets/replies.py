"""What a target may answer. A reply that breaks the rules is an error, and never evidence."""

import json
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ...reference import Histogram

REPLY_BYTES = 1 << 26
"""Longest reply that is read."""

InputAndSize = tuple[Any, int]
"""A call: its input, a histogram (c,) or what the claim's release takes, and how many releases."""

_LINE = 300  # characters of a target's own text in a message


class TargetError(Exception):
    """A target that raised, hung, died or broke the reply format; names the call and its input.

    code: of the table of codes, by default that of the class; whose: who failed, in words.
    """

    code = "target-failed"
    whose = "the target"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class CallError(TargetError):
    """A TargetError about one call, by default about its reply.

    message: the message without the call, to name it otherwise.
    """

    code = "reply-malformed"

    def __init__(self, call: str, message: str, code: str | None = None) -> None:
        super().__init__(f"{call} {message}", code)
        self.message = message


class NoReplyError(TargetError):
    """A TargetError about a call that was, or may have been, sent and got no answer."""


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """The target's answer that it does not serve this histogram.

    code: of a run that such an answer ends, as the claim covers what was asked.
    """

    code = "claimed-input-refused"


class NotOffered(Exception):  # noqa: N818 - an answer, not an error
    """The target's answer that it has no such call: no accountant, ledger or restart."""


class Unanswered(NotOffered):
    """An error in answer to a call that the target may not know."""


class Target(Protocol):
    """A deployment under test."""

    def ask(self, histogram: Histogram, size: int) -> Any:
        """The raw reply to one call; raises `Refused`, `BudgetExhausted` or `TargetError`."""

    def rdp(
        self, histogram: Histogram, orders: Sequence[float], answered: bool | None = None
    ) -> Any:
        """The raw reply of the target's own accountant; raises `NotOffered`, else as `ask`.

        answered: whether the query was, for an account that depends on it; None: whatever comes.
        Costs (n,) at the orders, or a dict of `orders` (m,) of its own and `rdp`, the costs (m,).
        """

    def spent(self, delta: float) -> Any:
        """The raw reply of the target's own ledger, epsilon at delta; raises as `rdp`."""

    @property
    def no_restart(self) -> str | None:
        """How the user can make a restart possible, in words; None where it already is."""

    def restart(self) -> str | None:
        """Ends the target and starts it again; raises `NotOffered` where the run cannot.

        Returns what such a restart cannot show, in words, if anything.
        """

    def restart_contained(self) -> None:
        """Restarts the target as process 1 of a PID namespace; raises `NotOffered`."""

    def close(self) -> None:
        """Ends the deployment if it was started for the run."""


def shown_spec(spec: str) -> str:
    """The spec for messages: without the credentials and the query of a URL."""
    if not re.match(r"\w+://", spec):
        return spec
    return re.sub(r"\?.*", "?***", re.sub(r"//.*@", "//***@", spec))


def one_line(text: Any) -> str:
    """The first line of a target's own text, cut, and without control characters."""
    text = str(text) if isinstance(text, str | Exception) else _SHORT.repr(text)
    first = next(iter(text.strip().splitlines()), "")
    return "".join(c if c.isprintable() else " " for c in first[:_LINE])


def parse_reply(reply: bytes, call: str) -> dict[str, Any]:
    """The JSON object in `reply`. Raises TargetError that names the call and what came back."""
    try:
        parsed = json.loads(reply)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise CallError(call, f"returned {shown_bytes(reply)}: expected one JSON object")
    return parsed


def value_in(reply: dict[str, Any], wanted: str, call: str) -> Any:
    """The value of key `wanted` in a reply, of a charge with the orders that the reply names.

    Raises TargetError if the reply has an error too.
    """
    if reply.get("error") is not None:
        error = shown(reply["error"])
        raise CallError(call, f"returned {wanted!r} and an error, {error}: expected one of them")
    if wanted == "rdp" and "orders" in reply:
        return {key: reply[key] for key in ("orders", "rdp")}
    return reply[wanted]


def shown_bytes(reply: bytes) -> str:
    """The first 60 characters of raw output, quoted."""
    return repr(reply[:240].decode(errors="replace")[:60])


def shown(reply: Any) -> str:
    """A value for messages, cut where it is long or deep."""
    text = reply if isinstance(reply, str) else _SHORT.repr(reply)
    return one_line(text) if len(text) <= 60 else f"{one_line(text[:57])}..."


def shown_repr(value: Any) -> str:
    """The repr of a value on one line, cut where it is long or deep."""
    return one_line(_SHORT.repr(value))


def plain_json(
    reply: Any,
    other: Callable[[Any], Any] = repr,
    lists: tuple[Any, ...] = (Sequence, set, frozenset),
) -> Any:
    """A reply as JSON has it, with what is of the types `lists` as lists.

    other: what stands for a value that JSON has no form for.
    """
    reply = reply.item() if isinstance(reply, np.generic) else reply
    if isinstance(reply, np.ndarray):
        return plain_json(reply.tolist(), other, lists)
    if isinstance(reply, Mapping):
        return {str(key): plain_json(value, other, lists) for key, value in reply.items()}
    if isinstance(reply, lists) and not isinstance(reply, str | bytes):
        found = [plain_json(one, other, lists) for one in reply]
        return sorted(found, key=repr) if isinstance(reply, set | frozenset) else found
    return reply if reply is None or isinstance(reply, str | int | float) else other(reply)


def checked_spent(reply: Any, delta: float) -> float:
    """The epsilon in `reply`. Raises TargetError naming the call and what is allowed."""
    number = isinstance(reply, int | float | np.number) and not isinstance(reply, bool)
    if not number or not 0 <= reply <= np.inf:
        raise CallError(f"spent({delta:g})", f"returned {shown(reply)}: expected a number from 0")
    try:
        return float(reply)
    except OverflowError:
        return np.inf


def describe(labels: np.ndarray[Any, Any], reply: Any) -> str:
    """A reply of the wrong shape, for messages: its shape, or the reply itself if it has none."""
    if labels.dtype == object or labels.ndim == 0:
        return shown(reply)
    return f"an array of shape {labels.shape}"


def no_numbers(reply: Any) -> str:
    """What was returned in place of numbers, for messages; for an array, its dtype.

    A text is shown as it is, since the worker process may have written a value of another type so.
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
        """An int of thousands of digits, which Python refuses to write, by its length."""
        bits = x.bit_length()
        return super().repr_int(x, level) if bits < 10_000 else f"<an int of {bits:,} bits>"


def _shortener() -> reprlib.Repr:
    short = _Shortener()
    short.maxlist = short.maxtuple = short.maxarray = 12
    short.maxdict, short.maxstring, short.maxother, short.maxlong = 4, 60, 60, 60
    return short


_SHORT = _shortener()
