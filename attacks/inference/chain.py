"""The whole chain once: private records, teachers, votes, a student; answers, votes read, people.

Wang et al. 2022 (section 2, appendix E) on a deployment as Papernot et al. 2017 describe it. Each
part is of a module of its own; here they are put together at one setting.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...reference import ConfidentGNMax, Gaussian, NoisyArgmax
from ...reference.accounting.analyses import CountedCost
from ...reference.ensembles.records import People
from ...reference.ensembles.taught import Student, Taught, teach, without_privacy
from ...reference.ensembles.teachers import Teachers, votes_of
from ...reference.ensembles.votes import Consensus, Votes, consensus_of
from ...reference.mechanisms import ClaimedMechanism
from ...reference.parallel.kept import shown
from .attack_cost import bound_of_claims
from .attribute import AttributeScore, by_consensus
from .linkage import Linkage
from .measures import Estimate, auc, tpr_at_fpr
from .membership import by_votes, released_laws, shadow_ensembles
from .mitigated_student import Lesson
from .mitigations import Mitigated, MitigatedDeployment, mitigated
from .through_answers import Cell, EndToEnd, through_answers

_SCREEN = 3.75  # of Confident-GNMax: its threshold noise over sigma, 150 of 40
_THRESHOLD = 0.8  # its threshold as a share of the teachers, 200 of 250
_SEEDS = range(8)
_RATE = 0.01


@dataclass(frozen=True)
class ChainSetting:
    """sigma: of GNMax, in votes; budgets: epsilons of students; tested: queries kept from them.

    queries: answers about each person, from the fewest on; ensembles: that are trained to say who
    was a training record, none where 0.
    """

    learner: str
    teachers: int
    sigma: float
    delta: float = 1e-5
    budgets: tuple[float, ...] = (2.0, 8.0)
    queries: tuple[int, ...] = (1, 10, 100, 1000)
    tested: int = 200
    ensembles: int = 40
    seed: int = 0


@dataclass(frozen=True)
class Membership:
    """How well members are told from others, at 1 % false positives; bound: of released labels.

    labels: of each record, that the attacker saw; None where it saw the votes themselves.
    """

    labels: int | None
    auc: Estimate
    tpr: Estimate
    bound: float | None


@dataclass(frozen=True)
class Chain:
    """What came of each part.

    students: by name of the mechanism and budget; direct: attribute inference by who sees the
    votes; through: through answers; settings: mitigations, empty for more than two classes;
    linkage: of the table, if it is the vendor's.
    """

    people: People
    setting: ChainSetting
    votes: Votes
    consensus: Consensus
    baseline: float
    students: dict[tuple[str, float], Taught]
    direct: dict[str, AttributeScore]
    through: list[EndToEnd]
    members: list[Membership]
    settings: list[Mitigated]
    linkage: Linkage | None = None


def chain(
    people: People, setting: ChainSetting, executor: Executor, cache: Path | None = None
) -> Chain:
    """Trains, asks, attacks and measures; a few minutes on two cores for the bundled digits.

    executor: who does the parts; cache: a folder in which teachers' votes and attacked parts are
    kept, so that a run that was stopped goes on where it was. Raises ValueError for a setting that
    the task does not allow, such as more teachers than records.
    """
    task = people.task
    votes = votes_of(
        Teachers(task, setting.learner, setting.teachers, setting.seed), executor, cache
    )
    histograms, positive = votes.histograms, people.hidden == 1
    noise = NoisyArgmax(Gaussian(setting.sigma))
    baseline, students = _students(people, setting, votes)
    cells = [Cell(noise, queries) for queries in setting.queries]
    kept = None if cache is None else cache / "answers"
    through = through_answers(
        histograms, positive, cells, executor, delta=setting.delta, seed=setting.seed, kept=kept
    )
    return Chain(
        people,
        setting,
        votes,
        consensus_of(votes, task.truths),
        baseline,
        students,
        by_consensus(histograms, positive),
        through,
        _members(people, setting, executor, cache) if setting.ensembles else [],
        _mitigations(people, setting, votes, executor) if task.classes == 2 else [],
    )


def mechanisms(setting: ChainSetting) -> dict[str, ClaimedMechanism]:
    """The aggregators that students learn from, by name."""
    sigma, screen = Gaussian(setting.sigma), Gaussian(_SCREEN * setting.sigma)
    confident = ConfidentGNMax(sigma, _THRESHOLD * setting.teachers, screen)
    return {"GNMax": NoisyArgmax(sigma), "Confident-GNMax": confident}


def _students(
    people: People, setting: ChainSetting, votes: Votes
) -> tuple[float, dict[tuple[str, float], Taught]]:
    """The accuracy without privacy, and a student for each mechanism and budget."""
    task, student = people.task, Student("label-spreading")
    first, found = None, {}
    wanted = [(n, m, b) for n, m in mechanisms(setting).items() for b in setting.budgets]
    for name, mechanism, budget in shown(wanted, len(wanted), "students"):
        taught = teach(
            task,
            votes,
            mechanism,
            budget=budget,
            delta=setting.delta,
            tested=setting.tested,
            student=student,
            seed=setting.seed,
            release=False,
            baseline=float("nan"),
        )
        if first is None:
            first = without_privacy(task, student, taught.tested, setting.seed)
        found[name, budget] = taught
    return float("nan") if first is None else first, found


def _members(
    people: People, setting: ChainSetting, executor: Executor, cache: Path | None
) -> list[Membership]:
    """Membership from votes, then from released labels beside what their cost allows."""
    shadows = shadow_ensembles(
        people.task,
        setting.learner,
        min(setting.teachers, len(people.task.records) // 2),
        setting.ensembles,
        seed=setting.seed,
        cache=cache,
        executor=executor,
    )
    mechanism = NoisyArgmax(Gaussian(setting.sigma))
    inside = shadows.members.ravel()
    scores = by_votes(shadows).ravel()
    found = [Membership(None, auc(scores, inside), tpr_at_fpr(scores, inside, _RATE), None)]
    released, cost = released_laws(shadows, mechanism, executor), CountedCost(mechanism)
    for queries in setting.queries:
        scores = released.scores(released.drawn(queries, setting.seed)).ravel()
        most = float(bound_of_claims([_RATE], partial(cost.epsilon, queries, 0))[0])
        seen = tpr_at_fpr(scores, inside, _RATE)
        found.append(Membership(queries, auc(scores, inside), seen, most))
    return found


def _mitigations(
    people: People, setting: ChainSetting, votes: Votes, executor: Executor
) -> list[Mitigated]:
    """What a deployment can do, at the most answers that an attacker gets."""
    many = max(setting.queries)
    noise, less, more = (NoisyArgmax(Gaussian(x * setting.sigma)) for x in (1.0, 0.5, 2.0))
    confident = mechanisms(setting)["Confident-GNMax"]
    listed = [
        MitigatedDeployment("nothing done", noise, many),
        MitigatedDeployment("answers kept: one for each input", noise, 1),
        MitigatedDeployment("at most 10 answers per input", noise, 10),
        MitigatedDeployment("low consensus refused (Confident-GNMax)", confident, many),
        MitigatedDeployment("half the noise, same epsilon", less, max(many // 4, 1)),
        MitigatedDeployment("twice the noise, same epsilon", more, 4 * many),
    ]
    return mitigated(
        listed,
        votes.histograms,
        people.hidden == 1,
        executor,
        lesson=Lesson(people.task, Student("label-spreading"), setting.tested),
        seeds=_SEEDS,
        delta=setting.delta,
    )
