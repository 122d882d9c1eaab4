"""The Rényi orders at which a target's own accountant is asked what it charges."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..claims.claim import Claim
from ..findings.note import Note
from ..targets import Charge, Refused, Target, TargetError, checked_charge
from ..targets.replies import NoReplyError, Unanswered, one_line

SEARCHED = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0, 4096.0)
"""Those at which the costliest pairs of inputs are searched."""

CHARGED_ORDERS = tuple(sorted((*SEARCHED, 3.0, 6.0, 10.0, 20.0, 48.0, 100.0)))
"""Those, and others between them that accountants use."""


class ChargedOrders:
    """Asks an accountant what it charges, at the orders that it serves.

    They lie within `orders` of `[accountant]`, and a reply may name its own. An order at which the
    accountant raises, refuses, or gives no finite number is left out.
    """

    def __init__(self, claim: Claim) -> None:
        served = None if claim.accountant is None else claim.accountant.orders
        self._lowest, self._highest = served or (1.0, np.inf)
        within = {order for order in CHARGED_ORDERS if self._lowest <= order <= self._highest}
        self._asked = tuple(sorted(within | set(served or ())))
        self._release = claim.release
        self._charged: set[float] = set()
        self._left_out: dict[float, str] = {}

    @property
    def searched(self) -> tuple[float, ...]:
        """Orders at which the costliest pairs are searched: those of `SEARCHED` that it serves."""
        return tuple(order for order in self._asked if order in SEARCHED) or self._asked

    def charge(self, target: Target, given: Any, answered: bool | None = None) -> Charge:
        """The finite charges for one query of an input; raises as `Target.rdp`.

        answered: see there. TargetError also where there are none. Orders are asked one by one
        where they fail together.
        """
        try:
            reply = target.rdp(given, self._asked, answered)
        except NoReplyError:
            raise  # each order would take as long again
        except (Refused, Unanswered, TargetError) as failure:
            found = self._one_by_one(target, given, answered, failure)
        else:
            found = checked_charge(reply, given, self._asked, self._release)
        found = found.at((self._lowest <= found.orders) & (found.orders <= self._highest))
        finite = np.isfinite(found.costs)
        if not finite.any():
            raise TargetError(
                f"{self._release.charge_text(given, answered)} returned no finite cost at any order"
            )
        self._leave_out(found.orders[~finite].tolist(), "it gives no finite number")
        self._charged |= set(found.orders[finite].tolist())
        return found.at(finite)

    def _one_by_one(
        self, target: Target, given: Any, answered: bool | None, failure: Exception
    ) -> Charge:
        """The charges at the orders at which it answers; raises `failure` where there are none."""
        served: list[Charge] = []
        for order in self._asked:
            try:
                reply = target.rdp(given, [order], answered)
            except (Refused, Unanswered, TargetError):
                continue
            served.append(checked_charge(reply, given, [order], self._release))
        if not served:
            raise failure
        found = Charge(*(np.concatenate(each) for each in zip(*served, strict=True)))
        self._leave_out(set(self._asked) - set(found.orders.tolist()), one_line(failure))
        self._asked = tuple(found.orders.tolist())
        return found

    def _leave_out(self, orders: Iterable[float], why: str) -> None:
        for order in orders:
            self._left_out.setdefault(order, why)

    @property
    def words(self) -> str:
        """The orders that were charged, for a message."""
        orders = sorted(self._charged)
        if len(orders) < 2:
            return "".join(f"order {order:g}" for order in orders)
        return f"{len(orders)} orders between {orders[0]:g} and {orders[-1]:g}"

    @property
    def warnings(self) -> tuple[Note, ...]:
        """The orders that were left out, and why the first of them was."""
        if not self._left_out:
            return ()
        named = ", ".join(f"{order:g}" for order in sorted(self._left_out))
        plural = "s" if len(self._left_out) > 1 else ""
        why = next(iter(self._left_out.values()))
        message = f"the accountant was not judged at order{plural} {named}: {why}"
        return (Note("orders-not-charged", message, {"orders": len(self._left_out)}),)
