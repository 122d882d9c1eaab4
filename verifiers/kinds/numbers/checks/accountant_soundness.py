"""`accountant-soundness`: what the target's own accountant charges covers what a release costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .....reference.numbers.certified import CertifiedPair
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.charged_orders import ChargedOrders
from ....run.checks import Check, Reason, RunContext
from ....run.phase import Phase
from ....targets import NotOffered, Refused
from ..claim import NumbersClaim
from ..planning.pairs import certified_pair, charged_pair
from .pair_check import fractions

_CLEARLY = 1.001  # of the charge: less is no matter
_TOO_LOW = "charge-too-low"
_BY_BALLS = (
    "each charge, at each order that the accountant serves, is held to a lower bound in ball "
    "arithmetic of the cost against the farthest neighbour"
)
_ROUNDING = 1e-12  # nats: less may be nothing but an error of floats


@dataclass(frozen=True)
class _Shortfall:
    """A charge at an order that is less than what a release of the input certainly costs."""

    words: str
    order: float
    charge: float
    cost: float

    @property
    def share(self) -> float:
        """The share of the cost that is charged."""
        return self.charge / self.cost


class AccountantSoundness(Check):
    """Compares charges with lower bounds in ball arithmetic on what the farthest neighbours cost.

    A record may be added to any input, so that each is held to the whole cost. Where records are
    replaced, one input is made whose neighbour lies as far as any. It asks for charges, and for no
    releases.
    """

    id = "accountant-soundness"
    phase = Phase.ACCOUNTING

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        return fractions(claim)

    def conclude(self, context: RunContext) -> Outcome | None:
        orders, charged_for, worst = ChargedOrders(self.claim), list[str](), None
        for words, values, pair in self._charged():
            try:
                charge = orders.charge(context.target, values)
            except NotOffered as lack:
                return Outcome(Verdict.NOT_APPLICABLE, Finding.of(Note("not-offered", str(lack))))
            except Refused:
                continue
            charged_for.append(words)
            for order, charged in charge.pairs:
                cost = pair.renyi_lower(order)
                short = cost > max(_CLEARLY * charged, charged + _ROUNDING)
                if short and (worst is None or charged / cost < worst.share):
                    worst = _Shortfall(words, order, charged, cost)
        if worst is not None:
            found = replace(self._violation(worst), warnings=orders.warnings)
            return Outcome(Verdict.FAIL, found)
        if not charged_for:
            nothing = Note("input-refused", "the target refuses to charge for every input")
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(nothing))
        excludes = self._excluded_by(charged_for)
        message = (
            f"none of {len(charged_for)} charges was seen to be clearly below the cost of the "
            f"farthest neighbour at {orders.words}"
        )
        found = Finding(message, warnings=orders.warnings, excludes=excludes)
        return Outcome(Verdict.PASS, found)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """By all inputs that charges are asked for."""
        return self._excluded_by([words for words, _, _ in self._charged()])

    def _excluded_by(self, inputs: list[str]) -> tuple[Excluded, ...]:
        """What a pass excludes by the inputs for which the accountant has charged.

        Nothing of rounded or clamped noise: the bound may be far below its cost at high orders.
        """
        if not inputs or not certified_pair(self.claim.mechanism).is_plain:
            return ()
        size = {"share": 1.0 / _CLEARLY}
        return (self.entry(_TOO_LOW, size, inputs, 0, method=_BY_BALLS),)

    def _charged(self) -> Iterator[tuple[str, Any, CertifiedPair]]:
        """Inputs to ask charges for, as messages call them, with what a release of each costs."""
        found = charged_pair(self.claim.mechanism)
        if found is not None:
            yield self.claim.release.input_text(found[0]), *found
        pair = certified_pair(self.claim.mechanism)
        if pair.is_plain and not self.claim.mechanism.replaces:
            for asked in self.plan.inputs:
                yield asked.name, asked.values, pair

    def _violation(self, worst: _Shortfall) -> Finding:
        cause = "the accountant charges nothing"
        if worst.charge:
            cause = f"the accountant charges {worst.share:.3g} of the exact cost"
            if self.claim.mechanism.aggregation.noise.family.isotropic:
                times = 1.0 / np.sqrt(worst.share)
                cause += f", as if a {self.claim.mechanism.unit} moved {times:.3g} times less"
        message = (
            f"charged {worst.charge:.10g} at order {worst.order:g} for {worst.words}, but against "
            f"its farthest neighbour it costs at least {worst.cost:.10g} (certified in ball "
            "arithmetic)"
        )
        fields = {"order": worst.order, "charge": worst.charge, "cost": worst.cost}
        return Finding.caused(message, Note(_TOO_LOW, cause, {**fields, "share": worst.share}))
