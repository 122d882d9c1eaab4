"""`dpassay audit --mechanism`: adversaries against private prediction on real records.

With --group, also what the bounds for a group of records refute for one.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NoReturn, Self

from pydantic import Field

from ...attacks.auditing import epsilon_if_the_bounds_were_exact, share_of
from ...attacks.auditing.counts import checked_orders
from ...attacks.private_prediction.adversaries import Adversary, Attack
from ...attacks.private_prediction.audited import Audited, Terms, audited, exact_of_all, mean_exact
from ...attacks.private_prediction.deployments import Mechanism, PredictionDeployment
from ...attacks.private_prediction.neighbours import Source
from ...attacks.private_prediction.theory import least_order, per_record, per_record_if_gaussian
from ...attacks.private_prediction.trainings import trained_votes
from ...reference import Gaussian, parse_noise
from ...reference.accounting.adjacency import Adjacency
from ...reference.arrays import Vector
from ...reference.ensembles.records import Task, digits, mnist, table
from ...reference.parallel.executors import Here
from ..cli.exit_statuses import fail, print_and_exit
from ..cli.options import working
from ..findings.document import Document, VariedDocument
from ..findings.verdict import Verdict, verdict_of
from ..inputs.input_error import InputError, OptionsError

Costs = tuple[Annotated[float, Field(ge=0)], ...]

BUNDLED = {"digits": digits, "mnist": mnist}
_COLUMNS = ("theory", "changed", "exact", "two_cut", "region")
_OWN: dict[Mechanism, tuple[str, ...]] = {
    "pate": ("learner", "trainings"),
    "capc": ("learner", "trainings"),
    "prompt-pate": (),
    "private-knn": ("sampling",),
}
"""Settings of a deployment that only some mechanisms have."""
_ORDER = (Verdict.FAIL, Verdict.PASS, Verdict.INCONCLUSIVE)
_HEADINGS = ("theory", "vote changed", "exact", "2-cut", "region")


def audit_by_name(options: dict[str, Any], *, as_json: bool) -> NoReturn:
    """Audits the mechanism that the options describe, prints what was found, and exits."""
    try:
        orders = checked_orders(options["orders"])
        noise = parse_noise(options["noise"])
        if not isinstance(noise, Gaussian):
            fail(
                f"--noise {noise}: expected gaussian, which the published analyses are of",
                code="value-not-allowed",
            )
        deployment = PredictionDeployment(
            options["mechanism"],
            task_of(options["data"], options["label"], options["queries"]),
            noise,
            options["teachers"],
            options["learner"],
            options["trainings"],
            options["sampling"],
            options["seed"],
        )
        terms = Terms(orders, options["times"], options["experiments"], 0.05, options["seed"])
        adversaries = [(Adversary(a), options["source"]) for a in options["adversaries"]]
        with working(options["workers"], options["dask"]) as executor:
            work = Work(executor or Here(), options["cache"], options["anew"], options["group"])
            found = audit_mechanism(deployment, adversaries, terms, options["delta"], work)
    except (ValueError, OSError) as error:
        fail(InputError(" ".join(str(error).split())))
    print_and_exit(found, as_json)


def task_of(data: str, label: str | None, queries: int) -> Task:
    """The bundled task of a name, or the task in a CSV file. Raises ValueError."""
    if data in BUNDLED:
        if label is not None:
            raise OptionsError(f"--label {label}: {data} has its own labels")
        return BUNDLED[data]().with_queries(queries)
    if label is None:
        raise OptionsError(
            f"--data {data}: expected {' or '.join(BUNDLED)}, or a CSV file with --label COLUMN"
        )
    return table(data, label, queries)


"""Rényi costs in nats, one for each order."""


class Refuted(Document):
    """Lower bounds for one record: a claim that charges less at an order is refuted."""

    claims: str = Field(description="Which claims, in words.")
    orders: tuple[float, ...]
    two_cut: Costs = Field(description="The bounds in nats, by the 2-cut.")
    region: Costs = Field(description="The same by the region of error rates.")

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
        refuted.append(_refuted_claims("of any mechanism", at, cut, whole))
    if attack.asked[0].worlds.adjacency is Adjacency.REPLACE_ONE:
        bounds = [per_record_if_gaussian(b, records) for b in (found.two_cut, found.region)]
        refuted.append(_refuted_claims("of gaussian noise on the votes", orders, *bounds))
    return tuple(refuted)


def _refuted_claims(claims: str, orders: Vector, two_cut: Vector, region: Vector) -> Refuted:
    return Refuted(
        claims=claims,
        orders=tuple(orders.tolist()),
        two_cut=tuple(two_cut.tolist()),
        region=tuple(region.tolist()),
    )


class Tried(Document):
    """A prompt that the adversary chose from."""

    crafted: str
    exact: Costs = Field(description="The exact cost of all queries in nats, one for each order.")


class Converted(Document):
    """Costs at the orders, converted to epsilon at delta; null for costs of zero."""

    charged: float | None
    theory: float | None
    changed: float | None
    exact: float | None
    two_cut: float | None
    region: float | None


class MechanismAudit(Document):
    """The audit of a deployment by one adversary, with the verdict on the theory.

    Costs are of Rényi divergence in nats, one for each order, of all queries.
    """

    adversary: str
    crafted: str = Field(description="The record that is added.")
    worst_query: int = Field(ge=0, description="Which query costs most, numbered from 0.")
    queries: int = Field(ge=1)
    records_altered: int = Field(ge=1)
    teachers_trained_anew_for_each_query: bool = Field(
        description="Whether sums assume this, so that they bound nothing for the same teachers."
    )
    orders: tuple[float, ...]
    charged: Costs = Field(description="What theory charges for any votes.")
    theory: Costs = Field(description="What theory charges for these votes.")
    changed: Costs = Field(description="The exact cost where a vote surely changes.")
    exact: Costs
    two_cut: Costs = Field(description="A lower bound from labels, by the 2-cut.")
    region: Costs = Field(description="A lower bound from many labels, by the region of errors.")
    mean_exact: Costs = Field(description="Of one answer: the mean over all queries.")
    tried: tuple[Tried, ...]
    epsilon_if_the_bounds_were_exact: Converted
    refuted_of_one_record: tuple[Refuted, ...]
    verdict: Verdict

    @classmethod
    def of(cls, attack: Attack, found: Audited, terms: Terms, delta: float) -> Self:
        """The document of what was found, with costs at the orders of the terms."""
        orders = terms.orders
        costs = {name: getattr(found, name) for name in Converted.model_fields}
        return cls(
            adversary=attack.adversary.value,
            crafted=attack.crafted,
            worst_query=found.worst,
            queries=found.queries,
            records_altered=attack.records,
            teachers_trained_anew_for_each_query=found.resampled,
            orders=tuple(orders.tolist()),
            **{name: cost.tolist() for name, cost in costs.items()},
            mean_exact=tuple(mean_exact(attack, orders).tolist()),
            tried=tuple(
                Tried(crafted=each.crafted, exact=tuple(exact_of_all(each, orders).tolist()))
                for each in attack.tried
            ),
            epsilon_if_the_bounds_were_exact=Converted(
                **{
                    name: epsilon_if_the_bounds_were_exact(cost, orders, delta)
                    if cost.max() > 0
                    else None
                    for name, cost in costs.items()
                }
            ),
            refuted_of_one_record=refuted_of_one_record(attack, found, orders),
            verdict=_verdict(found),
        )

    def lines(self) -> Iterator[str]:
        """The audit in lines for the terminal."""
        query = self.worst_query
        asks = f"query {query}" if Adversary(self.adversary).repeats else "each query"
        often = f", {self.records_altered} times over" if self.records_altered > 1 else ""
        adds = f"{self.crafted}{often}"
        yield f"{self.adversary} adds {adds}; it asks {asks}, {self.queries:,} in all"
        headings = (*_HEADINGS, "mean of one")
        yield "  order" + "".join(f"{heading:>14}" for heading in headings)
        for i, order in enumerate(self.orders):
            costs = [getattr(self, column)[i] for column in _COLUMNS]
            cells = "".join(f"{cost:14.4g}" for cost in (*costs, self.mean_exact[i]))
            yield f"{order:7g}{cells}"
        if self.tried:
            orders = "".join(f"{f'order {order:g}':>14}" for order in self.orders)
            yield f"  exact, of each prompt that it tried{'':17}{orders}"
        for each in self.tried:
            yield f"    {each.crafted:<50}{''.join(f'{cost:14.4g}' for cost in each.exact)}"
        for one in self.refuted_of_one_record:
            yield from one.lines()
        if self.teachers_trained_anew_for_each_query:
            yield "  sums assume teachers trained anew for each query: no bounds for the same ones"
        yield {
            Verdict.FAIL: "  FAIL: the 2-cut exceeds what theory charges, whatever the votes",
            Verdict.PASS: "  PASS: the worlds are told apart, and theory is not refuted",
            Verdict.INCONCLUSIVE: "  INCONCLUSIVE: the labels do not tell the worlds apart; "
            "more --experiments may",
        }[self.verdict]


def _verdict(found: Audited) -> Verdict:
    """FAIL if the 2-cut exceeds what theory charges for any votes, PASS if a bound is above 0.

    The 2-cut holds for any number of labels. The region holds for large numbers only, so it cannot
    refute.
    """
    exceeds = bool((found.two_cut > found.charged * (1 + 1e-9)).any())
    return verdict_of(exceeds, max(found.two_cut.max(), found.region.max()) > 0)


class MechanismAudits(VariedDocument):
    """The audits of one deployment by several adversaries."""

    mechanism: Mechanism
    data: str
    noise: str
    teachers: int = Field(ge=1, description="Of private-knn, the nearest records that vote.")
    learner: str = Field(default="", description="Of pate and capc.")
    trainings: int = Field(
        default=0, ge=0, description="Of pate and capc: votes are estimated from them."
    )
    sampling: float = Field(
        default=0.0, ge=0, le=1, description="Of private-knn: a record's probability."
    )
    experiments: int = Field(ge=2, description="Of each query and world.")
    confidence: float = Field(gt=0, lt=1, description="Of all lower bounds together.")
    delta: float = Field(gt=0, lt=1)
    seed: int = Field(ge=0)
    group: int = Field(ge=1, description="To how many teachers the record is added.")
    audits: tuple[MechanismAudit, ...]
    verdict: Verdict = Field(
        description="Fail where any audit fails, else pass where any tells the worlds apart."
    )
    task: str = Field(exclude=True)

    def as_text(self) -> str:
        """The audits as text for the terminal."""
        neighbours = self.mechanism == "private-knn"
        of = f"{self.teachers} {'neighbours' if neighbours else 'teachers'}"
        trained = f", votes estimated from {self.trainings} trainings"
        head = (
            f"{self.mechanism} on {self.data} ({self.task} numbered from 0)\n{of}, {self.noise}"
            f"{trained if self.mechanism == 'pate' else ''}; "
            f"{self.experiments:,} experiments per query and world\n"
            "Rényi costs in nats; 2-cut and region are lower bounds from labels, which all hold "
            f"together with probability {self.confidence:g};\nmean of one: the exact cost of one "
            "answer, the mean over all queries"
        )
        return "\n\n".join([head, *("\n".join(audit.lines()) for audit in self.audits)])


@dataclass(frozen=True)
class Work:
    """How an audit is computed.

    Attributes:
        executor: its workers.
        cache: where trained votes are kept.
        anew: whether every experiment draws votes and adds noise, instead of drawing labels from
            their exact law.
        group: how many times an adversary adds its record, each time to another teacher.
    """

    executor: Executor
    cache: Path | None
    anew: bool
    group: int = 1


def audit_mechanism(
    deployment: PredictionDeployment,
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
        done.append(MechanismAudit.of(attack, found, shared, delta))
    task, verdicts = deployment.task, {audit.verdict for audit in done}
    return MechanismAudits(
        mechanism=deployment.mechanism,
        data=task.name,
        noise=str(deployment.noise),
        teachers=deployment.teachers,
        **{name: getattr(deployment, name) for name in _OWN[deployment.mechanism]},
        experiments=terms.experiments,
        confidence=1.0 - terms.alpha,
        delta=delta,
        seed=deployment.seed,
        group=done[0].records_altered,
        audits=tuple(done),
        verdict=next(verdict for verdict in _ORDER if verdict in verdicts),
        task=f"{len(task.records):,} records, {task.classes} classes, {len(task.queries)} queries",
    )
