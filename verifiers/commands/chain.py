"""The work of `dpassay chain`: from private records to what an attacker infers of people."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...attacks.inference.chain import Chain, ChainSetting, chain
from ...attacks.inference.measures import Estimate
from ...reference.ensembles.people import People, people_of, rare_digit
from ...reference.parallel.executors import Here, Workers

_SIGMA = 0.16  # noise scale over the number of teachers, as 40 to 250


@dataclass(frozen=True)
class ChainRequest:
    """The options of the command; data, label, hidden: None for the bundled digits."""

    data: str | None
    label: str | None
    hidden: str | None
    asked: int
    teachers: int
    learner: str
    sigma: float | None
    seed: int

    def people(self) -> People:
        """The people asked about. Raises ValueError for options or data that do not fit."""
        if self.data is None:
            if self.label is not None or self.hidden is not None:
                raise ValueError("--label and --hidden say what is in --data FILE: give all three")
            return rare_digit(queries=self.asked)
        if self.label is None or self.hidden is None:
            raise ValueError("--data FILE needs --label COLUMN and --hidden COLUMN=VALUE")
        column, separator, value = self.hidden.partition("=")
        if not separator:
            raise ValueError(f"--hidden {self.hidden[:60]!r}: expected COLUMN=VALUE")
        return people_of(self.data, self.label, column, value, self.asked)

    def setting(self, people: People) -> ChainSetting:
        """The setting of the chain for these people."""
        sigma = _SIGMA * self.teachers if self.sigma is None else self.sigma
        tested = max(1, len(people.task.queries) // 3)
        return ChainSetting(self.learner, self.teachers, sigma, tested=tested, seed=self.seed)


def run_chain(request: ChainRequest, executor: Workers | None, cache: Path) -> Chain:
    """Runs the chain; cache: where trained models are kept. Raises ValueError."""
    people = request.people()
    return chain(people, request.setting(people), executor or Here(), cache)


def rows(found: Chain) -> Iterator[tuple[str, str, str, float, float | None, float | None]]:
    """Every figure: part of the chain, object, measure, value, and ends of its interval."""
    consensus = found.consensus
    for name in ("teacher_accuracy", "plurality_accuracy", "gap", "consensus"):
        yield (
            "teachers",
            f"{consensus.teachers} teachers",
            name,
            getattr(consensus, name),
            None,
            None,
        )
    yield "student", "without privacy", "accuracy", found.baseline, None, None
    for (name, budget), taught in found.students.items():
        what = f"{name}, epsilon {budget:g}"
        yield "student", what, "accuracy", taught.accuracy, None, None
        yield "student", what, "epsilon", taught.answers.epsilon, None, None
        yield "student", what, "labels", float(taught.given), None, None
        if taught.given:
            yield "student", what, "labels right", taught.labels_right, None, None
    for name, one in found.direct.items():
        yield from _measured("attribute from votes", name, one.auc, "area")
        yield from _measured("attribute from votes", name, one.recall, "recall")
        yield from _measured("attribute from votes", name, one.false_positive_rate, "false alarms")
        yield "attribute from votes", name, "precision", one.precision.value, None, None
        yield "attribute from votes", name, "advantage", one.advantage.value, None, None
    for end in found.through:
        what = f"{end.cell.queries} answers"
        yield "attribute through answers", what, "votes misplaced", end.misplaced, None, None
        yield from _measured("attribute through answers", what, end.through.auc, "area")
        yield "attribute through answers", what, "epsilon", end.cost.person, None, None
    for member in found.members:
        what = "votes" if member.labels is None else f"{member.labels} labels"
        yield from _measured("membership", what, member.auc, "area")
        yield from _measured("membership", what, member.tpr, "recall at 1 % false alarms")
        if member.bound is not None:
            yield "membership", what, "bound on it", member.bound, None, None
    for helped in found.settings:
        name = helped.setting.name
        yield from _measured("mitigation", name, helped.misplaced, "votes misplaced")
        yield from _measured("mitigation", name, helped.auc, "area")
        yield "mitigation", name, "answered", helped.utility.answered, None, None
        yield "mitigation", name, "as most teachers say", helped.utility.plurality, None, None
        if helped.student is not None:
            yield from _measured("mitigation", name, helped.student, "accuracy of a student")
        yield "mitigation", name, "epsilon of a person", helped.spent.person, None, None


def _measured(
    part: str, what: str, found: Estimate, measure: str
) -> Iterator[tuple[str, str, str, float, float, float]]:
    yield part, what, measure, found.value, found.low, found.high


def as_json(found: Chain) -> dict[str, Any]:
    """The chain as one JSON object."""
    names = ("part", "of", "measure", "value", "low", "high")
    return {
        "task": found.people.task.name,
        "attribute": found.people.attribute,
        "teachers": found.setting.teachers,
        "sigma": found.setting.sigma,
        "delta": found.setting.delta,
        "seed": found.setting.seed,
        "figures": [dict(zip(names, row, strict=True)) for row in rows(found)],
    }
