"""What a deployment can do against vote leakage, measured: leakage, utility and cost of each.

Between two classes, where all is exact but the answers: the attacker knows what the deployment does
and reads with the posterior, so that no weakness of an attack passes for a defence.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t

from ...reference.accounting.analyses import CountedCost
from ...reference.arrays import Matrix, Vector
from ...reference.mechanisms import ClaimedMechanism
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import carried_out, stream
from ..reconstruct import misplaced
from .measures import ALPHA, Estimate, auc
from .mitigated_student import Lesson, student_accuracy
from .through_answers import low_consensus
from .two_classes import posterior

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class MitigatedDeployment:
    """What a deployment does, and how many answers it gives an attacker about one person.

    Raises ValueError for fewer queries than one.
    """

    name: str
    mechanism: ClaimedMechanism
    queries: int

    def __post_init__(self) -> None:
        if self.queries < 1:
            raise ValueError(f"{self.name}: {self.queries} queries: expected at least 1")

    def log_laws(self, teachers: int) -> Matrix:
        """Log-probabilities (N + 1, o) of the outcomes for each number of votes of a class."""
        first = np.arange(teachers + 1.0)
        votes = np.stack([first, teachers - first], -1)
        return np.asarray(self.mechanism.log_probabilities(votes))

    def answers(self, first: Whole, laws: Matrix, rng: np.random.Generator) -> Matrix:
        """Counts (m, o) of answers about people with votes (m,) of the first class.

        laws: probabilities (N + 1, o) of the outcomes.
        """
        shares = laws / laws.sum(-1, keepdims=True)
        return rng.multinomial(self.queries, shares[first]).astype(np.float64)

    def epsilon(self, delta: float) -> float:
        """The cost of all answers about one person, data-independent."""
        return CountedCost(self.mechanism).epsilon(self.queries, 0, delta)


@dataclass(frozen=True)
class Utility:
    """One answer to every query: share answered, and of the answers what most teachers say."""

    answered: float
    plurality: float


@dataclass(frozen=True)
class Mitigated:
    """A setting's outcome.

    misplaced: share of votes; auc: of the attribute; student: the accuracy of a student that got
    one answer to each of its queries, None where none was taught. All are means over seeds of the
    noise and of the student's split, with intervals for these means: who is asked does not vary;
    epsilon: of all answers about one person, whatever the votes.
    """

    setting: MitigatedDeployment
    misplaced: Estimate
    auc: Estimate
    student: Estimate | None
    utility: Utility
    epsilon: float


def mitigated(
    settings: Iterable[MitigatedDeployment],
    histograms: ArrayLike,
    positive: ArrayLike,
    executor: Executor,
    *,
    lesson: Lesson | None = None,
    seeds: Sequence[int] = range(10),
    delta: float = 1e-5,
) -> list[Mitigated]:
    """What each setting does to leakage, utility and epsilon, on histograms (m, 2) of people.

    positive: who has the attribute (m,); lesson: how a student is taught, whose task has the m
    people as its queries.
    Raises ValueError for other than two classes, and fewer seeds than two.
    """
    votes, hidden = np.asarray(histograms, dtype=np.int64), np.asarray(positive)
    first, total = first_votes(votes)
    listed = list(settings)
    if len(seeds) < 2:
        raise ValueError(f"{len(seeds)} seeds: an interval needs at least two")
    people = _People(first, total, hidden, lesson)
    parts = [(setting, people, seed) for setting in listed for seed in seeds]
    work = carried_out(_attacked, parts, executor)
    done = dict(shown(work, len(parts), "mitigations"))
    found = np.array([done[n] for n in range(len(parts))]).reshape(len(listed), len(seeds), 3)
    return [
        Mitigated(
            setting,
            over_seeds(each[:, 0]),
            over_seeds(each[:, 1]),
            None if lesson is None else over_seeds(each[:, 2]),
            utility(setting, votes),
            setting.epsilon(delta),
        )
        for setting, each in zip(listed, found, strict=True)
    ]


def utility(setting: MitigatedDeployment, histograms: Whole) -> Utility:
    """Exact, over the noise."""
    first, total = first_votes(histograms)
    law = np.exp(setting.log_laws(total))[first][:, :2]
    answered = float(law.sum())
    most = histograms == histograms.max(1, keepdims=True)  # of a tie either is
    return Utility(answered / len(law), float((law * most).sum() / answered))


def over_seeds(values: Vector, alpha: float = ALPHA) -> Estimate:
    """The mean (n,), with Student's interval."""
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
    reach = float(student_t.isf(alpha / 2.0, values.size - 1)) * error
    return Estimate(mean, mean - reach, mean + reach)


def first_votes(histograms: Whole) -> tuple[Whole, int]:
    """Votes (m,) of the first class, and N."""
    if histograms.ndim != 2 or histograms.shape[1] != 2:
        raise ValueError(f"histograms of shape {histograms.shape}: expected (m, 2)")
    totals = np.unique(histograms.sum(1))
    if totals.size != 1:
        raise ValueError(f"histograms of {totals[0]} to {totals[-1]} votes: expected one total")
    return histograms[:, 0], int(totals[0])


class _People(NamedTuple):
    """Votes (m,) of the first class, N, who has the attribute (m,), and how a student is taught."""

    first: Whole
    total: int
    positive: NDArray[np.bool_]
    lesson: Lesson | None


def _attacked(
    setting: MitigatedDeployment, people: _People, seed: int
) -> tuple[float, float, float]:
    """Share of votes misplaced, and AUC, of one attack on everybody; the accuracy of a student."""
    first, total, positive, lesson = people
    rng = stream(seed, 0)
    log_laws = setting.log_laws(total)
    found = posterior(setting.answers(first, np.exp(log_laws), rng), log_laws)
    every = np.arange(total + 1)
    scores = found.mean(low_consensus(np.stack([every, total - every], -1).astype(np.float64)))
    truth = np.stack([first, total - first], -1)
    taught = np.nan
    if lesson is not None:
        taught = student_accuracy(lesson, np.exp(log_laws), first, seed)
    return float(misplaced(found.histograms, truth).mean()), auc(scores, positive).value, taught
