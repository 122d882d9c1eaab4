"""What kind of thing a deployment releases: what a call of it carries, and what its reply holds.

Every transport is given one, so that a new kind of release, or another form of input, is written
once and travels by all of them. `labels.py` is the first: a histogram of votes in, labels out.
"""

from typing import Any, Protocol

from numpy.typing import NDArray

from ...reference import Histogram


class Release(Protocol):
    """How inputs and replies of one kind travel.

    call: the word for a call, of `exec:` targets and, after a slash, of HTTP; reply: the key of the
    reply's JSON that holds what was released; given: the word for an input.
    """

    call: str
    reply: str
    given: str

    def argument(self, histogram: Histogram) -> Any:
        """The input as a target in Python takes it: an object of its own, which none else sees."""

    def content(self, histogram: Histogram) -> dict[str, Any]:
        """The input as JSON carries it."""

    def text(self, histogram: Histogram, size: int) -> str:
        """The call as messages name it."""

    def charge_text(self, histogram: Histogram) -> str:
        """A call for a charge as messages name it."""

    def shaped(self, reply: Any, histogram: Histogram, size: int) -> NDArray[Any]:
        """The reply as an array, one row per release; raises TargetError where it is none."""
