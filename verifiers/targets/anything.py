"""Any JSON in, any JSON out: the wire format of deployments without a law."""

import copy
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import NumberRelease
from .replies import CallError, plain_json, shown

_SHOWN = 60


class AnyRelease(NumberRelease):
    """The `Release` of a deployment without a law: an input (any JSON), and a list of replies.

    In JSON the request has `data`, the input, and the reply `releases`, a list of `size` values. A
    Python target may give numpy's arrays and numbers, tuples and sets besides.
    """

    given, key = "input", "data"

    def __init__(self) -> None:
        super().__init__("any", 1)

    def content(self, values: Any) -> dict[str, Any]:
        return {"data": values}

    def argument(self, values: Any) -> Any:
        """A copy for each call."""
        return copy.deepcopy(values)

    def input_text(self, values: Any) -> str:
        text = json.dumps(values)
        return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."

    def shaped(self, reply: Any, values: Any, size: int) -> NDArray[Any]:
        """Replies as JSON, object (size,)."""
        plain = plain_json(reply)
        if not isinstance(plain, list) or len(plain) != size:
            call = self.text(values, size)
            raise CallError(call, f"returned {shown(plain)}: expected a list of {size} releases")
        found = np.empty(size, dtype=object)
        for place, one in enumerate(
            plain
        ):  # an assignment of lists at once would take them for axes
            found[place] = one
        return found
