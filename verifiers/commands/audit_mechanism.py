"""`dpassay audit --mechanism`: adversaries against private prediction on real records.

With --group, also what the bounds for a group of records refute for one.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...attacks.auditing import epsilon_if_the_bounds_were_exact, share_of
from ...attacks.private_prediction.adversaries import Adversary, Attack
from ...attacks.private_prediction.against_neighbours import Source
from ...attacks.private_prediction.audited import Audited, Terms, audited, exact_of_all, mean_exact
from ...attacks.private_prediction.deployments import Deployment, Mechanism
from ...attacks.private_prediction.group import least_order, per_record, per_record_if_gaussian
from ...attacks.private_prediction.trainings import trained_votes
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Vector
from ...reference.ensembles.records import Task, digits, mnist, table
from ..findings.report import Verdict

BUNDLED = {"digits": digits, "mnist": mnist}
_COLUMNS = ("theory", "changed", "exact", "two_cut", "region")
_OWN: dict[Mechanism, tuple[str, ...]] = {
    "pate": ("learner", "trainings"),
    "capc": ("learner", "trainings"),
    "prompt-pate": (),
    "private-knn": ("sampling",),
}
"""Settings of a deployment that only some mechanisms have."""
_HEADINGS = ("theory", "vote changed", "exact", "2-cut", "region")


def task_of(data: str, label: str | None, queries: int) -> Task:
    """The bundled task of a name, or the task in a CSV file. Raises ValueError."""
    if data in BUNDLED:
        if label is not None:
            raise ValueError(f"--label {label}: {data} has its own labels")
        return BUNDLED[data]().with_queries(queries)
    if label is None:
        raise ValueError(
            f"--data {data}: expected {' or '.join(BUNDLED)}, or a CSV file with --label COLUMN"
        )
    return table(data, label, queries)


@dataclass(frozen=True)
class Refuted:
    """Lower bounds for one record at orders (n,): a claim that charges less is refuted.

    claims: which claims, in words; two_cut, region: the bounds (n,) in nats, by the two methods.
    """

    claims: str
    orders: Vector
    two_cut: Vector
    region: Vector

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "claims": self.claims,
            "orders": self.orders.tolist(),
            "two_cut": self.two_cut.tolist(),
            "region": self.region.tolist(),
        }

    def lines(self) -> Iterator[str]:
        """The bounds in lines for the terminal."""
        yield f"  refuted: claims {self.claims} that charge one record less than"
        yield f"  order{'2-cut':>56}{'region':>14}"
        for order, cut, whole in zip(self.orders, self.two_cut, self.region, strict=True):
            yield f"{order:7g}{cut:56.4g}{whole:14.4g}"


def refuted_of_one_record(attack: Attack, found: Audited, orders: Vector) -> tuple[Refuted, ...]:
    """Claims for one record that the bounds for a group refute; none for a group of one.

    For any mechanism by group privacy of Rényi divergences, at orders from `least_order` on; for
    Gaussian noise by how far the votes move. The latter is left out for Private-kNN, where records
    are sampled and the cost of several is no multiple of that of one.
    """
    records = attack.records
    if records == 1:
        return ()
    refuted = []
    known = orders >= least_order(records)
    if known.any():
        at, cut = per_record(found.two_cut[known], orders[known], records)
        whole = per_record(found.region[known], orders[known], records)[1]
        refuted.append(Refuted("of any mechanism", at, cut, whole))
    if attack.asked[0].worlds.adjacency is Adjacency.REPLACE_ONE:
        bounds = [per_record_if_gaussian(b, records) for b in (found.two_cut, found.region)]
        refuted.append(Refuted("of gaussian noise on the votes", orders, *bounds))
    return tuple(refuted)


@dataclass(frozen=True)
class MechanismAudit:
    """The audit of a deployment by one adversary, with the verdict on the theory."""

    attack: Attack
    found: Audited
    terms: Terms
    delta: float

    @property
    def verdict(self) -> Verdict:
        """FAIL if the 2-cut exceeds what theory charges for any votes, PASS if a bound is above 0.

        The 2-cut holds for any number of labels. The region holds for large numbers only, so it
        cannot refute.
        """
        if (self.found.two_cut > self.found.charged * (1 + 1e-9)).any():
            return Verdict.FAIL
        bounds = np.maximum(self.found.two_cut, self.found.region)
        return Verdict.PASS if bounds.max() > 0 else Verdict.INCONCLUSIVE

    def as_json(self) -> dict[str, Any]:
        """The public JSON form: costs at each order, in nats, and converted to epsilon."""
        costs = {name: getattr(self.found, name) for name in ("charged", *_COLUMNS)}
        orders = self.terms.orders
        return {
            "adversary": self.attack.adversary.value,
            "crafted": self.attack.crafted,
            "worst_query": self.found.worst,
            "queries": self.found.queries,
            "records_altered": self.attack.records,
            "teachers_trained_anew_for_each_query": self.found.resampled,
            "orders": orders.tolist(),
            **{name: cost.tolist() for name, cost in costs.items()},
            "mean_exact": self.mean_exact.tolist(),
            "tried": [
                {"crafted": crafted, "exact": exact.tolist()} for crafted, exact in self.tried
            ],
            "epsilon_if_the_bounds_were_exact": {
                name: epsilon_if_the_bounds_were_exact(cost, orders, self.delta)
                if cost.max() > 0
                else None
                for name, cost in costs.items()
            },
            "refuted_of_one_record": [each.as_json() for each in self.refuted],
            "verdict": self.verdict.value,
        }

    @cached_property
    def mean_exact(self) -> Vector:
        """The exact cost (n,) of one answer in nats, the mean over all queries."""
        return mean_exact(self.attack, self.terms.orders)

    @cached_property
    def tried(self) -> tuple[tuple[str, Vector], ...]:
        """Each prompt that the adversary chose from, with its exact cost (n,) of all queries."""
        orders = self.terms.orders
        return tuple((each.crafted, exact_of_all(each, orders)) for each in self.attack.tried)

    @property
    def refuted(self) -> tuple[Refuted, ...]:
        """Claims for one record that are refuted, where several were altered."""
        return refuted_of_one_record(self.attack, self.found, self.terms.orders)

    def lines(self) -> Iterator[str]:
        """The audit in lines for the terminal."""
        name, found = self.attack.adversary, self.found
        asks = f"query {found.worst}" if name.repeats else "each query"
        often = f", {self.attack.records} times over" if self.attack.records > 1 else ""
        adds = f"{self.attack.crafted}{often}"
        yield f"{name.value} adds {adds}; it asks {asks}, {found.queries:,} in all"
        headings = (*_HEADINGS, "mean of one")
        yield "  order" + "".join(f"{heading:>14}" for heading in headings)
        for i, order in enumerate(self.terms.orders):
            costs = [getattr(found, column)[i] for column in _COLUMNS]
            cells = "".join(f"{cost:14.4g}" for cost in (*costs, self.mean_exact[i]))
            yield f"{order:7g}{cells}"
        if self.tried:
            orders = "".join(f"{f'order {order:g}':>14}" for order in self.terms.orders)
            yield f"  exact, of each prompt that it tried{'':17}{orders}"
        for crafted, exact in self.tried:
            yield f"    {crafted:<50}{''.join(f'{cost:14.4g}' for cost in exact)}"
        for each in self.refuted:
            yield from each.lines()
        if found.resampled:
            yield "  sums assume teachers trained anew for each query: no bounds for the same ones"
        yield {
            Verdict.FAIL: "  FAIL: the 2-cut exceeds what theory charges, whatever the votes",
            Verdict.PASS: "  PASS: the worlds are told apart, and theory is not refuted",
            Verdict.INCONCLUSIVE: "  INCONCLUSIVE: the labels do not tell the worlds apart; "
            "more --experiments may",
        }[self.verdict]


@dataclass(frozen=True)
class MechanismAudits:
    """The audits of one deployment by several adversaries."""

    deployment: Deployment
    audits: tuple[MechanismAudit, ...]
    confidence: float

    @property
    def verdict(self) -> Verdict:
        """FAIL where any audit fails, else PASS where any distinguishes the worlds."""
        found = {audit.verdict for audit in self.audits}
        return next(v for v in (Verdict.FAIL, Verdict.PASS, Verdict.INCONCLUSIVE) if v in found)

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        deployment, terms = self.deployment, self.audits[0].terms
        return {
            "mechanism": deployment.mechanism,
            "data": deployment.task.name,
            "noise": str(deployment.noise),
            "teachers": deployment.teachers,
            **{name: getattr(deployment, name) for name in _OWN[deployment.mechanism]},
            "experiments": terms.experiments,
            "confidence": self.confidence,
            "delta": self.audits[0].delta,
            "seed": deployment.seed,
            "group": self.audits[0].attack.records,
            "audits": [audit.as_json() for audit in self.audits],
            "verdict": self.verdict.value,
        }

    def as_text(self) -> str:
        """The audits as text for the terminal."""
        deployment, terms = self.deployment, self.audits[0].terms
        neighbours = deployment.mechanism == "private-knn"
        of = f"{deployment.teachers} {'neighbours' if neighbours else 'teachers'}"
        task = deployment.task
        trained = f", votes estimated from {deployment.trainings} trainings"
        head = (
            f"{deployment.mechanism} on {task.name} ({len(task.records):,} records, {task.classes} "
            f"classes, {len(task.queries)} queries numbered from 0)\n{of}, {deployment.noise}"
            f"{trained if deployment.mechanism == 'pate' else ''}; "
            f"{terms.experiments:,} experiments per query and world\n"
            "Rényi costs in nats; 2-cut and region are lower bounds from labels, which all hold "
            f"together with probability {self.confidence:g};\nmean of one: the exact cost of one "
            "answer, the mean over all queries"
        )
        return "\n\n".join([head, *("\n".join(audit.lines()) for audit in self.audits)])


@dataclass(frozen=True)
class Work:
    """How an audit is computed.

    executor: its workers; cache: where trained votes are kept; anew: whether every experiment draws
    votes and adds noise, instead of drawing labels from their exact law; group: how many times an
    adversary adds its record, each time to another teacher.
    """

    executor: Executor
    cache: Path | None
    anew: bool
    group: int = 1


def audit_mechanism(
    deployment: Deployment,
    adversaries: Sequence[tuple[Adversary, Source]],
    terms: Terms,
    delta: float,
    work: Work,
) -> MechanismAudits:
    """Trains, attacks and audits; the adversaries share the error `terms.alpha`.

    Raises ValueError for a deployment or adversary that the records do not allow.
    """

    def train(ensemble: Any, added: Any) -> Any:
        return trained_votes(ensemble, added, work.cache, work.executor)

    shared = replace(terms, alpha=share_of(terms.alpha, len(adversaries)))
    done = []
    for adversary, source in adversaries:
        attack = deployment.attacked(adversary, train, source, work.group)
        found = audited(attack, shared, work.executor, anew=work.anew)
        done.append(MechanismAudit(attack, found, shared, delta))
    return MechanismAudits(deployment, tuple(done), 1.0 - terms.alpha)
