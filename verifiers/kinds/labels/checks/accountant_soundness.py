"""`accountant-soundness`: the target's own accountant charges at least what a query costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from .....reference import ConfidentGNMax, Histogram, Laplace
from .....reference.accounting.analyses import answer_data_independent
from .....reference.accounting.certified import renyi_lower
from .....reference.accounting.confident import threshold_data_independent
from .....reference.accounting.divergences import renyi_divergence
from .....reference.accounting.lnmax import lnmax_data_independent
from .....reference.accounting.neighbourhood import MOVED_VOTE, ONE_MORE_OR_LESS, Neighbourhood
from .....reference.accounting.pure import pure_data_independent
from .....reference.accounting.worst_pair import worst_pair
from .....reference.arrays import Vector
from .....reference.clock import step
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.report import Verdict
from ....run.charged_orders import ChargedOrders
from ....run.checks import RunContext
from ....run.phase import Phase
from ....targets import NotOffered, Refused, Target
from ..mechanism import LabelsMechanism
from ..planning.plan import Plan
from ..planning.roles import Role
from ..weighted import moves_of_one
from .base import LabelsCheck, refuting
from .charged_parts import ChargedPart, PartName, charged_parts, near_threshold
from .dependence import Dependence

_CLASSES_IN_FULL = 12  # with more classes, votes move among the leaders and the last only
_CLEARLY = 1.001  # cost over charge from which a proof is tried
_ROUNDING = 1e-12  # nats; smaller divergences may be rounding errors
_TRIES = 5
_NEAR = 0.01  # largest relative difference, at any order, of a charge from one that is known
_PUBLISHED = "the published data-independent bound"
_TOO_LOW = "charge-too-low"
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

_FEWER = {
    ONE_MORE_OR_LESS: 'one vote more or less, as under adjacency = "add-remove"',
    MOVED_VOTE: "one moved vote, where a record moves several",
}


@dataclass(frozen=True)
class _Shortfall:
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


class AccountantSoundness(LabelsCheck):
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
        self.proved: _Shortfall | None = None
        self.certified = 0.0
        self.dependence = Dependence(plan.claim)

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
        found: list[_Shortfall] = []
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
                _TOO_LOW, {"share": 1.0 / _CLEARLY}, dict.fromkeys(kinds), 0, method=_BY_BALLS
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

    def _shortfalls(self, part: ChargedPart, here: Histogram) -> list[_Shortfall]:
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
            _Shortfall(part, here, there[worst[i]], order, cost, float(actual[worst[i], i]))
            for i, (order, cost) in enumerate(charge.pairs)
            if actual[worst[i], i] > max(_CLEARLY * cost, cost + _ROUNDING)
        ]

    def _neighbours(self, votes: Histogram) -> Iterator[Histogram]:
        """The neighbours (c,): a vote is moved, or all votes of a teacher who has a weight."""
        claim = self.plan.claim
        if claim.mechanism.weights is None or claim.inputs is None:
            return _moved(votes, self.neighbourhood)
        given = np.array(claim.inputs.asked[tuple(int(v) for v in votes)].votes)
        return moves_of_one(votes, given, claim.mechanism.weights, _looked_at(votes))

    def _prove(self, shortfall: _Shortfall) -> bool:
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
        code = _UNPAID.get(pair.part.of, _TOO_LOW) if part == 0.0 else _TOO_LOW
        like = _resembled(self.plan.claim.mechanism, pair.part) or Note(code, "")
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


def _moved(votes: Histogram, neighbourhood: Neighbourhood) -> Iterator[Histogram]:
    """The neighbours (c,); with many classes only those by the leaders and the last two."""
    return neighbourhood.among(votes, _looked_at(votes).tolist())


def _looked_at(votes: Histogram) -> NDArray[np.intp]:
    """Classes (k,) between which votes are moved: all, or the leaders and the last two."""
    order = np.argsort(-votes, kind="stable")
    if votes.size > _CLASSES_IN_FULL:
        order = np.concatenate([order[: _CLASSES_IN_FULL - 2], order[-2:]])
    return order


def _resembled(claim: LabelsMechanism, part: ChargedPart) -> Note | None:
    """What the charge for a part resembles; None where nothing known is near."""
    costs = part.charge.costs
    for known, note in _known(claim, part.of, part.charge.orders):
        finite = np.isfinite(known)  # of some published bounds the computation fails at low orders
        near = np.abs(costs[finite] - known[finite]) <= _NEAR * known[finite]
        if near.all() and np.array_equal(costs[~finite], known[~finite]):
            return note
    return _less_beyond(part, claim)


def _less_beyond(part: ChargedPart, claim: LabelsMechanism) -> Note | None:
    """A charge that is the published bound up to an order, and one share of it beyond."""
    answer, screen = _published(claim, part.charge.orders, claim.neighbourhood)
    bound = {"query": answer + screen, "screening": screen, "answer": answer}[part.of]
    share = part.charge.costs / bound
    whole = np.abs(share - 1.0) <= _NEAR
    last = int(np.argmin(whole)) - 1  # the last order before the first that is not charged in full
    if last < 0 or np.ptp(share[last + 1 :]) > _NEAR * share[-1]:
        return None
    order, beyond = float(part.charge.orders[last]), float(share[-1])
    message = f"{_PUBLISHED} up to order {order:g}, and {beyond:.3g} of it beyond"
    return Note("high-orders-undercharged", message, {"up_to_order": order, "fraction": beyond})


def _known(claim: LabelsMechanism, of: PartName, orders: Vector) -> Iterator[tuple[Vector, Note]]:
    """Known wrong charges (n,), each with its name."""
    scale, near = claim.noise.scale / claim.heaviest, claim.neighbourhood
    answer, screen = _published(claim, orders, near)
    published = answer + screen
    if isinstance(claim.noise.unrounded, Laplace) and near == MOVED_VOTE:
        yield (
            pure_data_independent(1.0 / scale, orders),
            Note(
                "one-count-charged",
                "gamma for two gamma: as for one count, where a moved vote changes two",
            ),
        )
    if claim.refuses:
        published = {"query": published, "screening": screen, "answer": answer}[of]
        message = "the published bound of an answer, without that of the screening"
        yield answer, Note("screening-not-charged", message)
        message = "the published bound of the screening, without that of an answer"
        yield screen, Note("answer-not-charged", message)
    for other, words in _FEWER.items():
        if other.l1 < near.l1:
            note = Note(
                "fewer-votes-charged", f"{_PUBLISHED} of {words}", {"counts_moved": other.l1}
            )
            yield np.add(*_published(claim, orders, other)), note
    if claim.sampled is not None and find_spec("dp_accounting") is not None:
        from .....reference.accounting.knn import knn_data_independent

        drawn = claim.sampled.amount
        share = drawn if claim.sampled.drawn is None else min(1.0, drawn / claim.teachers)
        yield (
            knn_data_independent(scale, share, orders),
            Note(
                "other-sampling-charged",
                "as for Poisson sampling between data of one record more or less",
            ),
        )
    if claim.heaviest > 1:
        light = claim.model_copy(update={"weights": None})
        note = Note("weights-not-charged", f"{_PUBLISHED} of a teacher of weight 1")
        yield np.add(*_published(light, orders, near)), note
    fractions = {
        "half of": 1 / 2,
        "a quarter of": 1 / 4,
        "1/scale^2 of": 1 / scale**2,
        "1/scale of": 1 / scale,
        "1/classes of": 1 / claim.classes,
        "1/teachers of": 1 / claim.teachers,
    }
    for words, fraction in fractions.items():
        if fraction < 1 - _NEAR:
            note = Note(_TOO_LOW, f"{words} {_PUBLISHED}", {"fraction": fraction})
            yield fraction * published, note
    for order, bound in zip(orders.tolist(), published, strict=True):
        message = f"{_PUBLISHED} of order {order:g}, at every order"
        yield np.full(orders.size, bound), Note("one-order-charged", message, {"charged": order})


def _published(
    claim: LabelsMechanism, orders: Vector, neighbourhood: Neighbourhood
) -> tuple[Vector, Vector]:
    """Published bounds (n,) of an answer, of Laplace noise not the best known, and of a screen.

    Of the heaviest teacher, whose votes are one vote where noise is measured in them.
    """
    noise = claim.noise.times(1.0 / claim.heaviest)
    if isinstance(noise, Laplace):
        answer = lnmax_data_independent(1.0 / noise.scale, orders, neighbourhood)
    else:
        answer = answer_data_independent(noise, orders, neighbourhood)
    if claim.threshold_noise is None:
        return answer, np.zeros_like(answer)
    scale = claim.threshold_noise.scale / claim.heaviest
    return answer, threshold_data_independent(scale, orders, neighbourhood)
