"""The wire format of a sampler: a call asks for the next batch, and record numbers come back."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import NumberRelease
from .replies import CallError, shown


class BatchRelease(NumberRelease):
    """The `Release` of a sampler of the records 0 to `records` - 1.

    In JSON the request is `{"call": "batch"}`, and the reply has `records`, the numbers of those in
    the next batch; null once there is none.
    """

    call, reply, given, key = "batch", "records", "input", "batch"

    def __init__(self, records: int = 0) -> None:
        super().__init__("batches", 1)
        self.records = records

    def content(self, values: Any) -> dict[str, Any]:
        """There is no input."""
        return {}

    def asked(self, values: Any, size: int) -> dict[str, Any]:
        """Each call is for one batch."""
        return {}

    def argument(self, values: Any) -> Any:
        """None."""
        return None

    def text(self, values: Any, size: int) -> str:
        return "batch()"

    def input_text(self, values: Any) -> str:
        return "no input"

    def function(self, target: Any) -> Any:
        """Of `next_batch()`, or of what batches are taken from in turn."""
        draw = _next_of(target)
        return lambda values, size: plain_batch(draw())

    def shaped(self, reply: Any, values: Any, size: int) -> NDArray[Any] | None:  # type: ignore[override]
        """Record numbers int64 (s,), None where there is no batch left."""
        if reply is None:
            return None
        if isinstance(reply, list) and len(reply) == 1 and isinstance(reply[0], list):
            reply = reply[0]  # of a route, a list of answers
        call, most = self.text(values, size), self.records - 1
        try:
            found = np.asarray(reply)
        except ValueError:
            found = np.zeros((0, 0))
        if found.size == 0 and found.ndim == 1:
            return np.zeros(0, dtype=np.int64)
        wanted = f"expected a list of record numbers from 0 to {most:,}"
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise CallError(call, f"returned {shown(reply)}: {wanted}")
        wrong = found[(found < 0) | (found > most)]
        if wrong.size:
            raise CallError(call, f"returned record {wrong[0]}: {wanted}")
        return found.astype(np.int64)


def plain_batch(batch: Any) -> Any:
    """A batch as JSON has it: of an array or a tensor, a list."""
    if batch is None or isinstance(batch, str):
        return batch
    if hasattr(batch, "tolist"):
        return batch.tolist()
    return [plain_batch(one) for one in batch] if isinstance(batch, Iterable) else batch


def _next_of(target: Any) -> Callable[[], Any]:
    """What gives the next batch, None once there is none. Raises ValueError for anything else.

    target: a function without arguments; an iterator or a list of batches, which end; or what an
    epoch of batches is taken from by `iter`, again once it is through.
    """
    if not callable(target) and not isinstance(target, Iterable):
        raise ValueError(
            f"{shown(repr(target))}: expected a function next_batch() -> record numbers, or "
            "something to take batches of them from"
        )
    if callable(target) and not isinstance(target, Iterator):
        return _ending(target)
    if isinstance(target, Iterator | list | tuple):
        one = iter(target)
        return lambda: next(one, None)
    return _ending(_epochs(target).__next__)


def _ending(draw: Callable[[], Any]) -> Callable[[], Any]:
    def following() -> Any:
        try:
            return draw()
        except StopIteration:
            return None

    return following


def _epochs(target: Iterable[Any]) -> Iterator[Any]:
    while True:
        empty = True
        for batch in target:
            empty = False
            yield batch
        if empty:
            return
