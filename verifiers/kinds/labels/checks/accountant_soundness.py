"""`accountant-soundness`: the target's own accountant charges at least what a query costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .....reference import ConfidentGNMax, Histogram
from .....reference.accounting.analyses import release_costs
from .....reference.accounting.certified import renyi_lower
from .....reference.accounting.divergences import renyi_divergence
from .....reference.accounting.worst_pair import worst_pair
from .....reference.clock import step
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.report import Verdict
from ....run.charged_orders import ChargedOrders
from ....run.checks import RunContext
from ....run.phase import Phase
from ....targets import Charge, NotOffered, Refused, Target
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import Role
from ..weighted import moves_of_one
from .base import LabelsCheck, refuting
from .certain_cost import leading_classes
from .charges import TOO_LOW, ChargedPart, PartName, charged_parts, near_threshold, resembled

_LEADERS, _LAST = 10, 2  # classes among which votes move, where there are more
_CLEARLY = 1.001  # cost over charge from which a proof is tried
_ROUNDING = 1e-12  # nats; smaller divergences may be rounding errors
_DIFFER = 1e-3  # share by which two charges may differ
_TRIES = 5
_COSTLIEST = "the costliest pairs known"
_BY_BALLS = (
    "each charge, at each order that the accountant serves, is held to the cost against the "
    "neighbours that are looked at, and a charge that is less is proved so in ball arithmetic"
)
_UNPAID: dict[PartName, str] = {
    "screening": "screening-not-charged",
    "answer": "answer-not-charged",
}
"""Codes of parts of a query for which nothing is charged."""


@dataclass(frozen=True)
class LabelsShortfall:
    """A pair for which the charge for `here` is below D(Q(here) || Q(there)) at `order`.

    part: of a query that is charged, with the charge at every order; Q is its law.
    """

    part: ChargedPart
    here: Histogram
    there: Histogram
    order: float
    charge: float
    divergence: float

    @property
    def factor(self) -> float:
        """The cost over the charge."""
        return self.divergence / self.charge if self.charge > 0 else np.inf


class LabelsAccountantSoundness(LabelsCheck):
    """Compares the charge for a histogram with exact divergences from it to its neighbours.

    Published data-dependent bounds hold in this direction only, so each side of a pair is compared
    with its own charge. A shortfall in floating point counts only if ball arithmetic proves it.
    """

    id = "accountant-soundness"
    phase = Phase.ACCOUNTING

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.mechanism = plan.claim.mechanism.mechanism()
        self.orders = ChargedOrders(plan.claim)
        self.neighbourhood = plan.claim.mechanism.neighbourhood
        self.charged: list[str] = []
        self.proved: LabelsShortfall | None = None
        self.certified = 0.0
        self.dependence = VoteDependence(plan.claim)

    def conclude(self, context: RunContext) -> Outcome:
        step(self.id)
        lacking = self.run(context.target)
        if lacking is not None:
            return Outcome(Verdict.NOT_APPLICABLE, Finding.of(lacking))
        refuted = self.proved is not None or self.dependence.violation is not None
        return Outcome(refuting(refuted), replace(self.finding(), warnings=self._warnings()))

    def _warnings(self) -> tuple[Note, ...]:
        unproved = self.dependence.warning if self.proved is None else None
        return (*self.orders.warnings, *(() if unproved is None else (unproved,)))

    def run(self, target: Target) -> Note | None:
        """Asks for charges and compares them; returns why, if the target has no accountant."""
        found: list[LabelsShortfall] = []
        for kind, histogram in self._histograms():
            try:
                parts = charged_parts(
                    self.mechanism, self.plan.claim.charges, self.orders, target, histogram
                )
            except NotOffered as lack:
                return Note("not-offered", str(lack))
            except Refused:
                continue
            self.charged.append(kind)
            for part in parts:
                found += self._shortfalls(part, histogram)
            self.dependence.see(histogram, parts[0].charge)
        for shortfall in sorted(found, key=lambda s: (-s.factor, -s.divergence))[:_TRIES]:
            if self._prove(shortfall):
                break
        if self.charged:
            return None
        return Note("input-refused", "the target refuses to charge for every histogram")

    @property
    def foreseen(self) -> tuple[Excluded, ...]:
        kinds = list(self._planned.values())
        return self._excluded_by(kinds if self.plan.claim.given else [*kinds, _COSTLIEST])

    def _excluded_by(self, kinds: list[str]) -> tuple[Excluded, ...]:
        """What a pass excludes by charges for these kinds of histograms."""
        return (
            self.entry(
                TOO_LOW, {"share": 1.0 / _CLEARLY}, dict.fromkeys(kinds), 0, method=_BY_BALLS
            ),
        )

    @cached_property
    def _planned(self) -> dict[tuple[int, ...], str]:
        """The plan's histograms with the claimed number of votes, each once, with their kinds."""
        found: dict[tuple[int, ...], str] = {}
        for stream in self.plan.streams:
            total = self.plan.claim.mechanism.total
            if sum(stream.histogram) == total or stream.role is Role.SIMPLE:
                found.setdefault(stream.histogram, stream.kind)
        return found

    def _histograms(self) -> Iterator[tuple[str, Histogram]]:
        """Kinds and histograms: those of the plan, then the costliest pairs.

        Pairs come last, as they take a while to find, and the target may have no accountant.
        """
        for histogram, kind in self._planned.items():
            yield kind, np.array(histogram, dtype=np.int64)
        if self.plan.claim.given:
            return  # nothing else is asked
        claim, seen = self.plan.claim.mechanism, set(self._planned)
        apart, orders = self.plan.claim.charges == "realised", self.orders.searched
        searched = self.mechanism.answering if apart else self.mechanism
        worst = worst_pair(searched, claim.classes, claim.teachers, orders, self.neighbourhood)
        costly = [*worst.here, *worst.there]
        if apart and isinstance(self.mechanism, ConfidentGNMax):
            costly += near_threshold(self.mechanism, claim.classes, claim.teachers)
        # flipped too: an accountant may assume that the first class leads
        for votes in [*costly, *(np.flip(votes) for votes in costly)]:
            key = tuple(int(v) for v in votes)
            if key not in seen:
                seen.add(key)
                yield _COSTLIEST, votes.astype(np.int64)

    def _shortfalls(self, part: ChargedPart, here: Histogram) -> list[LabelsShortfall]:
        # a pair of the claim has a side with all teachers, also under add-remove
        total, tried = self.plan.claim.mechanism.total, self._neighbours(here)
        moved = [other for other in tried if total in (here.sum(), other.sum())]
        if not moved:
            return []
        there, charge = np.array(moved), part.charge
        log_p, log_q = (part.log_law(votes.astype(np.float64)) for votes in (here, there))
        actual = renyi_divergence(np.broadcast_to(log_p, log_q.shape), log_q, charge.orders)
        worst = actual.argmax(0)
        return [
            LabelsShortfall(part, here, there[worst[i]], order, cost, float(actual[worst[i], i]))
            for i, (order, cost) in enumerate(charge.pairs)
            if actual[worst[i], i] > max(_CLEARLY * cost, cost + _ROUNDING)
        ]

    def _neighbours(self, votes: Histogram) -> Iterator[Histogram]:
        """The neighbours (c,): a vote is moved, or all votes of a teacher who has a weight."""
        claim, among = self.plan.claim, leading_classes(votes, _LEADERS, _LAST)
        if claim.mechanism.weights is None or claim.inputs is None:
            return self.neighbourhood.among(votes, among.tolist())
        given = np.array(claim.inputs.asked[tuple(int(v) for v in votes)].votes)
        return moves_of_one(votes, given, claim.mechanism.weights, among)

    def _prove(self, shortfall: LabelsShortfall) -> bool:
        laws = [shortfall.part.enclosed(h.tolist()) for h in (shortfall.here, shortfall.there)]
        certified = renyi_lower(laws[0], laws[1], shortfall.order)
        if certified > shortfall.charge:
            self.proved, self.certified = shortfall, certified
            return True
        return False  # also for nan

    def finding(self) -> Finding:
        """The finding, after `run`."""
        if self.dependence.violation is not None:
            return self.dependence.violation
        if self.proved is None:
            return Finding(
                f"none of {len(self.charged)} charges was seen to be clearly below the exact cost "
                f"of a neighbour at {self.orders.words}",
                excludes=self._excluded_by(self.charged),
            )
        pair = self.proved
        part, share = 0.0, "nothing"  # a difference of two charges may be their rounding
        if pair.charge > _ROUNDING * self.certified:
            part = pair.charge / self.certified
            share = f"{part:.3g} of the exact cost"
        named = self.plan.claim.named
        code = _UNPAID.get(pair.part.of, TOO_LOW) if part == 0.0 else TOO_LOW
        like = resembled(self.plan.claim.mechanism, pair.part) or Note(code, "")
        if like.message:
            share += f" ({like})"
        return Finding(
            f"charged {pair.charge:.10g}{pair.part.words} at order {pair.order:g} for "
            f"{named(pair.here)}, but "
            f"against its neighbour {named(pair.there)} it costs at least {self.certified:.10g} "
            "(certified in ball arithmetic)",
            f"the accountant charges {share}{pair.part.ending}",
            tuple(int(v) for v in pair.here),
            code=like.code,
            fields={
                "charge": pair.charge,
                "cost": self.certified,
                "order": pair.order,
                "share": part,
                "part": pair.part.of,
                **like.fields,
            },
        )


class VoteDependence:
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
            if abs(cost - other) > max(_DIFFER * max(cost, other), _ROUNDING):
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
        if share[least] >= 1.0 - _DIFFER:
            return None
        return Note(
            "charge-below-published",
            f"a query is charged {share[least]:.3g} of the published data-independent bound at "
            f"order {charge.orders[least]:g}: no less than the costliest pair known costs, but a "
            "smaller bound needs a proof of its own",
            {"share": float(share[least]), "order": float(charge.orders[least])},
        )
