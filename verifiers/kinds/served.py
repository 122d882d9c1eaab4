"""What `dpassay serve` needs of a kind of release, so that its reference is an HTTP target."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from numpy.typing import NDArray


class Served(Protocol):
    """The reference of one claim, with its budget: in memory, of one process.

    takes: the key of an input in a request; reply: that of releases in a reply; width: noise draws
    of one release; body_bytes: the longest body of a request.
    """

    takes: str
    reply: str
    body_bytes: int
    width: int

    def input(self, given: Any) -> Any:
        """The input of a request, from JSON. Raises ValueError of one line."""

    def reserved(self, size: int) -> AbstractContextManager[None]:
        """A block for which budget for `size` releases is reserved.

        Raises BudgetExhausted unless they fit; the decision does not depend on any release.
        """

    def drawn(self, values: Any, size: int) -> list[Any]:
        """New releases of an input, as JSON has them."""

    def charge(self, releases: list[Any]) -> None:
        """Charges releases that are about to be sent."""

    def rdp(self, values: Any, orders: NDArray[Any], answered: bool | None = None) -> list[float]:
        """Rényi costs (n,) of a release; answered: as in `Target.rdp`.

        Raises NotOffered where the reference has no charges.
        """

    def spent(self, delta: float) -> float:
        """Epsilon spent so far. Raises NotOffered where the reference keeps no account."""
