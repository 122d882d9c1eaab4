"""Numbers for counts, records or tensors: their wire format, and the checks of a reply."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .release import Release, read_only
from .replies import CallError, describe, no_numbers, shown

Values = Literal["counts", "records", "tensors", "keys", "rounds", "any", "batches"]
"""What a deployment takes: counts (c,), records (n, d), per-record tensors, counts of keys, the
values of parties and when each of them leaves, any JSON, or nothing but a call for a batch."""

_EXACT = 2**53  # up to here float64 holds every whole number exactly


class NumberRelease(Release):
    """The `Release` of an aggregator that gives numbers (size, dimensions).

    Counts are sent as whole numbers, the rest as floats that read back exactly, with NaN, Infinity
    and -Infinity as these words. Where keys are released, a reply holds a list of `{"key": x}` for
    each release; its numbers are, for each key, the place in that list, from 1, or 0 for a key that
    is not in it.
    """

    reply, given, key = "releases", "array", "values"
    lacks = False
    """Whether releases may lack numbers, which are NaN then."""

    def __init__(
        self, takes: Values, dimensions: int, shapes: Sequence[Sequence[int]] = ()
    ) -> None:
        self.takes, self.dimensions = takes, dimensions
        self._shapes = [list(shape) for shape in shapes] or [[dimensions]]

    @property
    def word(self) -> str:
        """The kind of values, for the process of a Python target, such as `records:[[3]]`.

        It includes the shape of a record, which JSON loses where there are no records.
        """
        shapes = {"records": [[self.dimensions]], "tensors": self._shapes}
        return f"{self.takes}:{json.dumps(shapes.get(self.takes))}"

    def argument(self, values: Any) -> Any:
        """A read-only array, or a list of them for tensors.

        Records and tensors keep their dtype: float64, unless a check sends float32 or float16.
        """
        if self.takes == "tensors":
            return [read_only(tensor, None) for tensor in values]
        return read_only(values, None if self.takes == "records" else np.int64)

    def content(self, values: Any) -> dict[str, Any]:
        if self.takes == "tensors":
            return {"values": [np.asarray(tensor).tolist() for tensor in values]}
        return {"values": np.asarray(values).tolist()}

    def typed(self, values: Any) -> dict[str, str]:
        """The dtype of an input, for the process of a Python target; empty for float64."""
        first = values[0] if self.takes == "tensors" else values
        narrow = isinstance(first, np.ndarray) and first.dtype in (np.float32, np.float16)
        return {"type": str(first.dtype)} if narrow else {}

    def input_text(self, values: Any) -> str:
        """The values if they are few, else their shape."""
        if self.takes == "tensors":
            return f"tensors of shapes {[np.shape(tensor) for tensor in values]}"
        array = np.asarray(values)
        if array.size > 12:
            return f"{self.takes} of shape {array.shape}"
        return str(array.tolist())

    def shaped(self, reply: Any, values: Any, size: int) -> NDArray[Any]:
        """Float64 (size, dimensions)."""
        call = self.text(values, size)
        if self.takes == "keys":
            return _released_keys(reply, size, self.dimensions, call)
        return number_array(reply, (size, self.dimensions), call)


def number_array(reply: Any, shape: tuple[int, ...], call: str) -> NDArray[np.float64]:
    """The numbers in `reply`, float64. Raises CallError that names the call and what is allowed."""
    wanted = f"expected numbers of shape {shape}"
    try:
        array = np.asarray(reply)
    except Exception:
        raise CallError(call, f"returned {no_numbers(reply)}: {wanted}") from None
    if array.dtype.kind not in "iuf":
        raise CallError(call, f"returned {no_numbers(reply)}: {wanted}")
    if array.shape != shape:
        if len(shape) == 2 and shape[1] == 1 and array.shape == shape[:1]:
            array = array[:, None]  # one number per release needs no list of its own
        else:
            raise CallError(call, f"returned {describe(array, reply)}: {wanted}")
    if array.dtype.kind in "iu" and array.size and np.abs(array.astype(np.float64)).max() > _EXACT:
        raise CallError(
            call, "returned a whole number beyond 2^53, which a float64 cannot hold exactly"
        )
    return array.astype(np.float64)


def _released_keys(reply: Any, size: int, cells: int, call: str) -> NDArray[np.float64]:
    """The place (size, cells) of each key in its release, from 1, and 0 if it was not released.

    reply: as the target gave it, or an array of places already made from the parts of a call.
    """
    if isinstance(reply, np.ndarray) and reply.shape == (size, cells) and _are_places(reply):
        return reply
    allowed = f'expected {size} lists of {{"key": x}} with x from 0 to {cells - 1}'
    if not isinstance(reply, Sequence) or isinstance(reply, str) or len(reply) != size:
        raise CallError(call, f"returned {shown(reply)}: {allowed}")
    found = np.zeros((size, cells))
    for place, release in enumerate(reply):
        if not isinstance(release, Sequence) or isinstance(release, str):
            raise CallError(call, f"returned {shown(release)} at place {place}: {allowed}")
        for position, each in enumerate(release, start=1):
            key = each.get("key") if isinstance(each, Mapping) else None
            more = sorted(str(name) for name in each if name != "key") if key is not None else []
            if more:
                raise CallError(
                    call,
                    f"released {shown(', '.join(more))} beside a key at place {place}: {allowed} "
                    "and nothing beside it, which would not be judged",
                )
            if isinstance(key, bool) or not isinstance(key, int | np.integer):
                key = -1
            if not 0 <= key < cells or found[place, key]:
                raise CallError(call, f"released {shown(each)} at place {place}: {allowed}, once")
            found[place, key] = position
    return found


def _are_places(found: NDArray[Any]) -> bool:
    """Whether each row holds the numbers 1 to k once, for some k, and zeros elsewhere."""
    width = found.shape[1]
    zeros = width - np.count_nonzero(found, axis=1)
    wanted = np.maximum(np.arange(1, width + 1) - zeros[:, None], 0)
    return bool((np.sort(found, axis=1) == wanted).all())


def argument_of_values(values: Any, word: str, kind: str | None = None) -> Any:
    """The argument of a Python target for `values` in JSON form; arrays are read-only.

    word: see `NumberRelease.word`; kind: the dtype, where `NumberRelease.typed` gives one.
    """
    takes, _, shapes = word.partition(":")
    if takes == "tensors":
        return [
            _reshape(read_only(tensor, kind), shape)
            for tensor, shape in zip(values, json.loads(shapes), strict=True)
        ]
    made = read_only(values, kind)
    return _reshape(made, json.loads(shapes)[0]) if takes == "records" else made


def _reshape(records: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    """The records (n, ...); if there are none, an array of shape (0, *shape)."""
    return records if records.size else records.reshape(0, *shape)
