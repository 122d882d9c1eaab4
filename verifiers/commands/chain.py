"""The work of `dpassay chain`: from private records to what an attacker infers of people."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...attacks.inference.chain import Chain, ChainSetting, chain
from ...attacks.inference.linkage import Linkage, linkage
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
    found = chain(people, request.setting(people), executor or Here(), cache)
    if request.data is None or request.label is None or request.hidden is None:
        return found
    column = request.hidden.partition("=")[0]
    return replace(found, linkage=_linkage(request.data, (request.label, column)))


def _linkage(path: str, left_out: tuple[str, str]) -> Linkage | None:
    """How far the columns that teachers see name the rows; None if there are none."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str).drop(columns=list(left_out))
    names = list(table.columns)
    return linkage(names, table.astype(str).to_numpy().tolist()) if names else None


COLUMNS = ("part", "of", "measure", "value", "low", "high")
"""What a row of the chain's figures holds."""


def rows(found: Chain) -> Iterator[tuple[str, str, str, float, float | None, float | None]]:
    """Every figure, as `COLUMNS` names it: None where it has no interval."""
    for part, what, measure, value in _figures(found):
        if isinstance(value, Estimate):
            yield part, what, measure, value.value, value.low, value.high
        else:
            yield part, what, measure, value, None, None


def _figures(found: Chain) -> Iterator[tuple[str, str, str, float | Estimate]]:
    """Part of the chain, what is measured, the measure and its value."""
    consensus = found.consensus
    for name in ("teacher_accuracy", "plurality_accuracy", "gap", "consensus"):
        yield "teachers", f"{consensus.teachers} teachers", name, getattr(consensus, name)
    yield "student", "without privacy", "accuracy", found.baseline
    for (name, budget), taught in found.students.items():
        what = f"{name}, epsilon {budget:g}"
        yield "student", what, "accuracy", taught.accuracy
        yield "student", what, "epsilon", taught.answers.epsilon
        yield "student", what, "labels", float(taught.given)
        if taught.given:
            yield "student", what, "labels right", taught.labels_right
    yield from linkage_figures(found.linkage)
    for name, one in found.direct.items():
        yield "attribute from votes", name, "area", one.auc
        yield "attribute from votes", name, "recall", one.recall
        yield "attribute from votes", name, "false alarms", one.false_positive_rate
        yield "attribute from votes", name, "precision", one.precision.value
        yield "attribute from votes", name, "advantage", one.advantage.value
    for end in found.through:
        what = f"{end.cell.queries} answers"
        yield "attribute through answers", what, "votes misplaced", end.misplaced
        yield "attribute through answers", what, "area", end.through.auc
        yield "attribute through answers", what, "epsilon", end.cost.person
    for member in found.members:
        what = "votes" if member.labels is None else f"{member.labels} labels"
        yield "membership", what, "area", member.auc
        yield "membership", what, "recall at 1 % false alarms", member.tpr
        if member.bound is not None:
            yield "membership", what, "bound on it", member.bound
    for helped in found.settings:
        name = helped.setting.name
        yield "mitigation", name, "votes misplaced", helped.misplaced
        yield "mitigation", name, "area", helped.auc
        yield "mitigation", name, "answered", helped.utility.answered
        yield "mitigation", name, "as most teachers say", helped.utility.plurality
        if helped.student is not None:
            yield "mitigation", name, "accuracy of a student", helped.student
        yield "mitigation", name, "epsilon of a person", helped.spent.person


def linkage_figures(
    found: Linkage | None,
) -> Iterator[tuple[str, str, str, float | Estimate]]:
    """The figures of a table's columns, none without a table."""
    if found is None:
        return
    what = f"{len(found.columns)} columns"
    yield "linkage", what, "rows alone", found.alone / found.rows
    yield "linkage", what, "smallest group", float(found.least)
    if found.pair:
        yield "linkage", " and ".join(found.pair), "rows alone", found.pair_alone / found.rows
    if found.strangers is not None:
        yield "linkage", "people outside half the table", "match one row", found.strangers


def as_json(found: Chain) -> dict[str, Any]:
    """The chain as one JSON object."""
    return {
        "task": found.people.task.name,
        "attribute": found.people.attribute,
        "teachers": found.setting.teachers,
        "sigma": found.setting.sigma,
        "delta": found.setting.delta,
        "seed": found.setting.seed,
        "figures": [dict(zip(COLUMNS, row, strict=True)) for row in rows(found)],
    }
