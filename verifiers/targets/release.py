"""The wire format of one kind of release: what a call carries, and what its reply holds.

Every transport is given one, so that a new kind of release, or another form of input, is written
once for all of them. `labels.py` is the first: a histogram of votes in, labels out.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...reference import Histogram


class Release(Protocol):
    """How inputs and replies of one kind of release are written.

    Attributes:
        call: the name of a call, as `exec:` targets get it and as the HTTP path.
        reply: the key of the reply's JSON that holds what was released.
        given: the word for an input in messages.
        key: that of the input in a JSON request.
    """

    call: str = "aggregate"
    key: str
    reply: str
    given: str

    @property
    def only_python(self) -> str | None:
        """What in the claim only a Python target can follow; None where any target is asked."""
        return None

    def argument(self, histogram: Histogram) -> Any:
        """The input as the argument of a Python target: a new object for each call."""

    def content(self, histogram: Histogram) -> dict[str, Any]:
        """The input as part of a JSON request."""

    def asked(self, histogram: Histogram, size: int) -> dict[str, Any]:
        """A JSON request without the name of its call."""
        return {**self.content(histogram), "size": size}

    def function(self, target: Any) -> Any:
        """What a Python target is called as, `(input, size) -> releases`, if not as it is."""
        return target

    def text(self, histogram: Histogram, size: int) -> str:
        """The call as messages name it."""
        return f"{self.call}({self.input_text(histogram)}, size={size})"

    def charge_text(self, histogram: Histogram, answered: bool | None = None) -> str:
        """The call for a charge as messages name it; answered: as in `Target.rdp`."""
        outcome = "" if answered is None else f", answered={answered}"
        return f"rdp({self.input_text(histogram)}, orders{outcome})"

    def charge_content(
        self, histogram: Histogram, orders: Sequence[float], answered: bool | None
    ) -> dict[str, Any]:
        """The call for a charge as a JSON request; answered: as in `Target.rdp`."""
        outcome = {} if answered is None else {"answered": answered}
        return {**self.content(histogram), "orders": list(orders), **outcome}

    def input_text(self, histogram: Histogram) -> str:
        """The input as messages show it."""

    def shaped(self, reply: Any, histogram: Histogram, size: int) -> NDArray[Any]:
        """The reply as an array, one row per release; raises TargetError for anything else."""


def read_only(numbers: Any, dtype: Any = np.int64) -> NDArray[Any]:
    """A new array of the numbers, which cannot be written to; dtype: None for their own."""
    made = np.array(numbers, dtype=dtype)
    made.flags.writeable = False
    return made
