"""What an accountant charges for one query, order by order, and the check of such a reply."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference import Histogram
from .labels import LABELS
from .release import Release
from .replies import CallError, describe, shown

_MOST_ORDERS = 1000  # that a reply may name


class Charge(NamedTuple):
    """Rényi costs (n,) of one query, in nats, at orders (n,); a cost may be infinite, or nan."""

    orders: NDArray[np.float64]
    costs: NDArray[np.float64]

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """Each order with its cost."""
        return list(zip(self.orders.tolist(), self.costs.tolist(), strict=True))

    def at(self, chosen: NDArray[np.bool_]) -> "Charge":
        """The charge at some of its orders; chosen: (n,)."""
        return Charge(self.orders[chosen], self.costs[chosen])


def checked_charge(
    reply: Any, histogram: Histogram, orders: Sequence[float], release: Release = LABELS
) -> Charge:
    """The charge in `reply`: costs (n,) at `orders`, or at the orders that the reply names itself.

    Raises TargetError naming the call and what is allowed.
    """
    call = release.charge_text(histogram)
    if isinstance(reply, dict):
        if set(reply) != {"orders", "rdp"}:
            wanted = "expected costs, or an object with orders and rdp"
            raise CallError(call, f"returned {shown(reply)}: {wanted}")
        at, reply = _named_orders(reply["orders"], call), reply["rdp"]
    else:
        at = np.array(orders, dtype=np.float64)
    try:
        costs = np.asarray(reply, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        message = f"returned {shown(reply)}: expected {at.size} costs"
        raise CallError(call, message) from None
    if costs.shape != at.shape:
        found = describe(costs, reply)
        raise CallError(call, f"returned {found}: expected {at.size} costs, one per order")
    if (costs < 0).any():
        where = int(np.argmax(costs < 0))
        found = f"{costs[where]} at order {at[where]:g}"
        raise CallError(call, f"returned {found}: expected a cost from 0")
    return Charge(at, costs)


def _named_orders(given: Any, call: str) -> NDArray[np.float64]:
    """The orders (n,) that a reply names. Raises TargetError."""
    try:
        orders = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        orders = np.zeros(0)
    known = orders.ndim == 1 and 1 <= orders.size <= _MOST_ORDERS
    if not known or not ((orders > 1) & np.isfinite(orders)).all():
        wanted = f"expected 1 to {_MOST_ORDERS} numbers above 1"
        raise CallError(call, f"returned orders {shown(given)}: {wanted}")
    return orders
