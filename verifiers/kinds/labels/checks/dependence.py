"""Whether charges depend on the votes, where the claim says that they do not."""

import numpy as np

from .....reference import Histogram
from .....reference.accounting.release_costs import release_costs
from ....findings.finding import Finding
from ....findings.note import Note
from ....targets import Charge
from ..claim import LabelsClaim

_SHARE = 1e-3  # by which two charges may differ
_ROUNDING = 1e-12  # nats


class Dependence:
    """Compares charges for one histogram after another under `charges = "data-independent"`.

    Under any other claim nothing is compared. violation: of the claim, by two charges that differ;
    warning: where charges are below what the sensitivity of the votes alone proves.
    """

    def __init__(self, claim: LabelsClaim) -> None:
        self._claim, self._first = claim, dict[float, tuple[Histogram, float]]()
        self.violation: Finding | None = None
        self.warning: Note | None = None

    def see(self, votes: Histogram, charge: Charge) -> None:
        """Takes the charge for a query of a histogram (c,)."""
        if self._claim.charges != "data-independent":
            return
        for order, cost in charge.pairs:
            before, other = self._first.setdefault(order, (votes, cost))
            if abs(cost - other) > max(_SHARE * max(cost, other), _ROUNDING):
                self.violation = self.violation or self._differing(
                    order, before, other, votes, cost
                )
        if self.warning is None:
            self.warning = self._below(charge)

    def _differing(
        self, order: float, one: Histogram, cost: float, other: Histogram, at_other: float
    ) -> Finding:
        named = self._claim.named
        return Finding(
            f"charged {cost:.6g} at order {order:g} for {named(one)}, and {at_other:.6g} for "
            f"{named(other)}, although the claim says that charges are data-independent",
            "the charges depend on the votes",
            tuple(int(v) for v in other),
            code="charges-depend-on-votes",
            fields={"order": order, "charge": cost, "other_charge": at_other},
        )

    def _below(self, charge: Charge) -> Note | None:
        claimed = self._claim.mechanism
        if claimed.sampled is not None or claimed.weights is not None:
            return None  # no bound of drawn teachers, or of those with weights, is compared here
        test, answer = release_costs(claimed.mechanism(), charge.orders, claimed.neighbourhood)
        share = charge.costs / (test + answer)
        least = int(np.argmin(share))
        if share[least] >= 1.0 - _SHARE:
            return None
        return Note(
            "charge-below-published",
            f"a query is charged {share[least]:.3g} of the published data-independent bound at "
            f"order {charge.orders[least]:g}: no less than the costliest pair known costs, but a "
            "smaller bound needs a proof of its own",
            {"share": float(share[least]), "order": float(charge.orders[least])},
        )
