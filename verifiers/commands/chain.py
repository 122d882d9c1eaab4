"""`dpassay chain`: from private records to what an attacker infers of people.

What it trains loads late: it needs packages that may be absent.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
from click.core import ParameterSource
from pydantic import Field

from ..cli.exit_statuses import fail, json_option, need, on_stdout, print_found
from ..cli.options import WholeNumber, option_with_default, over_workers, working
from ..findings.document import Document
from ..inputs.input_error import OptionsError
from .figure import (
    Figure,
    Measured,
    answers_figures,
    column_and_value,
    linkage_figures,
    votes_figures,
)

if TYPE_CHECKING:
    from ...attacks.inference.chain import Chain, ChainSetting
    from ...attacks.inference.linkage import Linkage
    from ...reference.ensembles.records import People
    from ...reference.parallel.executors import Workers

_SIGMA = 0.16  # noise scale over the number of teachers, as 40 to 250

_TYPED = ParameterSource.COMMANDLINE
_TRAINING = ("label", "asked", "teachers", "learner", "sigma", "seed", "folder")
"""Options of what is trained."""


@click.command()
@click.option("--data", metavar="FILE", help="CSV of records; without it, bundled digits.")
@click.option("--label", metavar="COLUMN", help="What teachers predict.")
@click.option("--hidden", metavar="COLUMN=VALUE", help="What no teacher sees, and attackers infer.")
@option_with_default(
    "--asked",
    type=WholeNumber(20, 10**6),
    default=600,
    help="People asked about; teachers train on the others.",
)
@option_with_default("--teachers", type=WholeNumber(2, 10_000), default=50)
@option_with_default(
    "--learner", type=click.Choice(["forest", "logistic", "nearest", "tree"]), default="forest"
)
@click.option(
    "--sigma", type=float, help="Of the noise, in votes; without it, 16 % of the teachers."
)
@option_with_default("--seed", type=WholeNumber(min=0), default=0)
@click.option(
    "--votes",
    metavar="FILE",
    help="Your own votes in place of trained teachers: a histogram for each row of --data.",
)
@click.option(
    "--log", metavar="FILE", help="Your own log of answers, whose ids are the column id of --data."
)
@click.option("--claim", "claim_file", metavar="FILE", help="Of --votes and --log: TOML.")
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    help="For index.html, chain.csv, chain.json and what is kept.",
)
@over_workers
@json_option
@click.pass_context
def chain(
    context: click.Context,
    /,
    *,
    data: str | None,
    votes: str | None,
    log: str | None,
    claim_file: str | None,
    sigma: float | None,
    folder: str | None,
    workers: int | None,
    dask: str | None,
    as_json: bool,
    **others: Any,
) -> None:
    """From private records to what an attacker says of people, measured at every step.

    Teachers are trained on disjoint records and vote; a student learns from noisy labels within a
    budget; an attacker asks again and again, reads the votes, and infers what no teacher is told;
    and what a deployment can do about it. What is trained is kept in DIR, or in .dpassay-chain, so
    that a run that was stopped goes on where it was. It takes minutes; with more than two classes,
    several times as long.

    With --votes or --log nothing is trained: they say what your own votes, or the answers that you
    gave, tell of the people in --data, by the claim's noise.
    """
    if votes is not None or log is not None:
        stray = [name for name in _TRAINING if context.get_parameter_source(name) is _TYPED]
        if stray:
            name = "report" if stray[0] == "folder" else stray[0]
            fail(f"--{name}: nothing is trained with --votes or --log, so that it says nothing")
        needed: dict[str, Any] = {
            "--data": data,
            "--hidden": others["hidden"],
            "--claim": claim_file,
        }
        absent = [name for name, value in needed.items() if value is None]
        if absent:
            fail(f"{absent[0]} is missing: --votes and --log need {', '.join(needed)}")
        need("chain", "sklearn")
        from .own_people import own_people

        with working(workers, dask) as executor:
            try:
                own = own_people(
                    *needed.values(), votes_file=votes, log_file=log, executor=executor
                )
            except ValueError as error:
                fail(error)
        print_found(own, as_json)
        return
    if claim_file is not None:
        fail("--claim belongs to --votes and --log")
    if sigma is not None and not 0 < sigma < 1e9:
        fail(f"--sigma {sigma:g}: expected a positive number of votes", code="value-not-allowed")
    need("chain", "sklearn", *(["pandas"] if data is not None else []))
    from ..reporting.chain import print_chain, write_chain
    from ..reporting.files import ReportFileError

    request = ChainRequest(data=data, sigma=sigma, **others)
    kept = Path(".dpassay-chain" if folder is None else folder) / "kept"
    with working(workers, dask) as executor:
        try:
            found = run_chain(request, executor, kept)
        except ValueError as error:
            fail(error)
    document = ChainFigures.of(found)
    if folder is not None:
        try:
            write_chain(found, document.public(), Path(folder))
        except ReportFileError as error:
            fail(error)
    with on_stdout(kept=folder):
        print(json.dumps(document.public())) if as_json else print_chain(found)


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

    def people(self) -> "People":
        """The people asked about. Raises ValueError for options or data that do not fit."""
        from ...reference.ensembles.records import people_of, rare_digit

        if self.data is None:
            if self.label is not None or self.hidden is not None:
                raise OptionsError(
                    "--label and --hidden say what is in --data FILE: give all three"
                )
            return rare_digit(queries=self.asked)
        if self.label is None or self.hidden is None:
            raise OptionsError("--data FILE needs --label COLUMN and --hidden COLUMN=VALUE")
        return people_of(self.data, self.label, *column_and_value(self.hidden), self.asked)

    def setting(self, people: "People") -> "ChainSetting":
        """The setting of the chain for these people."""
        from ...attacks.inference.chain import ChainSetting

        sigma = _SIGMA * self.teachers if self.sigma is None else self.sigma
        tested = max(1, len(people.task.queries) // 3)
        return ChainSetting(self.learner, self.teachers, sigma, tested=tested, seed=self.seed)


def run_chain(request: ChainRequest, executor: "Workers | None", cache: Path) -> "Chain":
    """Runs the chain; cache: where trained models are kept. Raises ValueError."""
    from ...attacks.inference.chain import chain as measured
    from ...reference.parallel.executors import Here

    people = request.people()
    found = measured(people, request.setting(people), executor or Here(), cache)
    if request.data is None or request.label is None or request.hidden is None:
        return found
    column, _ = column_and_value(request.hidden)
    return replace(found, linkage=_linkage(request.data, (request.label, column)))


def _linkage(path: str, left_out: tuple[str, str]) -> "Linkage | None":
    """How far the columns that teachers see name the rows; None if there are none."""
    import pandas as pd

    from ...attacks.inference.linkage import linkage

    table = pd.read_csv(path, dtype=str).drop(columns=list(left_out))
    names = list(table.columns)
    return linkage(names, table.astype(str).to_numpy().tolist()) if names else None


class ChainFigures(Document):
    """What is measured at every step from private records to what an attacker says of people."""

    task: str
    attribute: str = Field(description="What no teacher is told, and attackers infer.")
    teachers: int = Field(ge=2)
    sigma: float = Field(gt=0, description="Of the noise, in votes.")
    delta: float = Field(gt=0, lt=1, description="At which every epsilon is.")
    seed: int = Field(ge=0)
    figures: tuple[Figure, ...]

    @classmethod
    def of(cls, found: "Chain") -> Self:
        """The document of a chain."""
        return cls(
            task=found.people.task.name,
            attribute=found.people.attribute,
            teachers=found.setting.teachers,
            sigma=found.setting.sigma,
            delta=found.setting.delta,
            seed=found.setting.seed,
            figures=tuple(map(Figure.of_measured, _figures(found))),
        )


def _figures(found: "Chain") -> Iterator[Measured]:
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
    yield from votes_figures(found.direct, advantage=True)
    yield from answers_figures(found.through)
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
        yield "mitigation", name, "epsilon of a person", helped.epsilon
