"""The work of `dpassay chain` with `--votes` and `--log`: one's own votes or log, and a column."""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...attacks.inference.linkage import Linkage, linkage
from ...attacks.inference.own_people import FromAnswers, FromVotes, from_answers, from_votes
from ...attacks.inference.through_answers import Cell, EndToEnd, through_answers
from ...reference import REFUSAL
from ...reference.parallel.executors import Here
from ..findings.document import Document
from ..inputs.files import read_text
from ..inputs.histogram_file import read_histograms
from ..inputs.input_error import ColumnsError, UnclaimedError
from ..inputs.label_log import labels_by_id
from ..inputs.log_names import PLAIN
from ..inputs.people_file import PeopleColumn, read_people_column
from ..kinds.labels.reading import read_labels_claim
from ..reporting.chain import flags, of_answers, of_linkage, of_votes, percent, with_interval
from ..text import counted, epsilon_text, printable
from .figure import (
    Figure,
    Measured,
    answers_figures,
    column_and_value,
    linkage_figures,
    votes_figures,
)

QUERIES = (1, 10, 100, 1000)
"""Answers about each person that are simulated where votes are given."""

DELTA = 1e-5


class OwnPeople(Document):
    """What votes, and answers to them, and a log say of the people of a file."""

    attribute: str = Field(description="What is inferred.")
    people: int = Field(ge=2)
    positive: int = Field(ge=1, description="How many of them have the attribute.")
    teachers: int = Field(ge=1, description="Votes on each person.")
    delta: float = Field(gt=0, lt=1, description="At which every epsilon is.")
    figures: tuple[Figure, ...]
    lines: tuple[str, ...] = Field(exclude=True)

    def as_text(self) -> str:
        """One line for each main figure."""
        return "\n".join(map(printable, self.lines))


def own_people(
    people_file: str,
    hidden: str,
    claim_file: str,
    *,
    votes_file: str | None,
    log_file: str | None,
    executor: Executor | None,
) -> OwnPeople:
    """Reads the files and attacks. Raises ValueError or ClaimError in the words of a line."""
    column, value = column_and_value(hidden)
    claim = read_labels_claim(claim_file)
    people = read_people_column(people_file, column, value)
    mechanism, teachers = claim.mechanism.mechanism(), claim.mechanism.total
    votes = None
    if votes_file is not None:
        votes = _votes(votes_file, people, claim.mechanism.classes, teachers)
    through = []
    if votes is not None:
        cells = [Cell(mechanism, queries, "briefly") for queries in QUERIES]
        through = through_answers(votes, people.positive, cells, executor or Here(), delta=DELTA)
    log, missing = None, 0
    if log_file is not None:
        counts, met = _counts(log_file, people, claim)
        missing = len(people) - int(met.sum())
        log = from_answers(
            counts,
            mechanism,
            teachers,
            people.positive[met],
            delta=DELTA,
            histograms=None if votes is None else votes[met],
            executor=executor,
        )
    told = None if votes is None else from_votes(votes, people.positive)
    columns, values = people.others
    linked = linkage(columns, values) if columns else None
    found = _Found(people, teachers, told, through, log, missing, linked)
    return OwnPeople(
        attribute=people.attribute,
        people=len(people),
        positive=int(people.positive.sum()),
        teachers=teachers,
        delta=DELTA,
        figures=tuple(map(Figure.of_measured, _figures(found))),
        lines=tuple(_lines(found)),
    )


def _votes(path: str, people: PeopleColumn, classes: int, teachers: int) -> NDArray[np.int64]:
    """Histograms (n, c), a row for each person in the order of their file."""
    rows = [row.histogram for row in read_histograms(path)]
    if len(rows) != len(people):
        raise UnclaimedError(
            f"{path}: {len(rows):,} histograms of {len(people):,} people: expected one for each, "
            "in their order"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != classes or sum(row) != teachers:
            raise UnclaimedError(
                f"{path}, histogram {number}: {len(row)} classes and {sum(row)} votes, but the "
                f"claim has {classes} classes and {teachers} votes"
            )
    return np.array(rows, dtype=np.int64)


def _counts(
    path: str, people: PeopleColumn, claim: Any
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """How often each outcome (m, o) was answered about the people in the log, and who they are."""
    if people.ids is None:
        raise ColumnsError("--log names people by id: the file of --data needs a column named id")
    lines = read_text(None if path == "-" else path, 512_000_000).splitlines()
    answers = labels_by_id(lines, path, PLAIN if claim.log is None else claim.log.names)
    known = set(people.ids)
    unknown = next((key for key in answers if key not in known), None)
    if unknown is not None:
        raise UnclaimedError(f"{path}: id {unknown[:60]!r} is not in the file of people")
    classes = claim.mechanism.classes
    refuses = claim.mechanism.threshold is not None
    counts = np.zeros((len(people), classes + refuses), dtype=np.int64)
    place = {key: k for k, key in enumerate(people.ids)}
    for key, labels in answers.items():
        for label in labels:
            if label >= classes or (label == REFUSAL and not refuses):
                allowed = f"0 to {classes - 1}" + (", or -1 for a refusal" if refuses else "")
                raise ValueError(f"{path}: label {label} of id {key[:60]!r}: expected {allowed}")
            counts[place[key], label] += 1  # a refusal, -1, is the last outcome
    met = counts.sum(1) > 0
    some = people.positive[met]
    if not some.any() or some.all():
        raise ValueError(
            f"{path}: {int(some.sum())} of the {len(some)} people in it have {people.attribute}: "
            "expected some and not all"
        )
    return counts[met], met


@dataclass(frozen=True)
class _Found:
    """What the votes, and answers to them, and a log say of the people of a file.

    Attributes:
        votes, through: None and empty without votes.
        log: None without one.
        missing: people of the file about whom the log has no answer.
    """

    people: PeopleColumn
    teachers: int
    votes: FromVotes | None
    through: list[EndToEnd]
    log: FromAnswers | None
    missing: int
    linkage: Linkage | None


def _figures(found: _Found) -> Iterator[Measured]:
    yield from linkage_figures(found.linkage)
    if found.votes is not None:
        yield from votes_figures(found.votes.attacks)
        if found.votes.within is not None:
            yield "attribute from votes", "among people of one label", "area", found.votes.within
    yield from answers_figures(found.through, ", simulated")
    if found.log is not None:
        log = found.log
        yield "attribute from the log", "answers", "area", log.found.auc
        yield "attribute from the log", "answers", "recall", log.found.recall
        yield "attribute from the log", "answers", "false alarms", log.found.false
        yield "attribute from the log", "the most answers", "epsilon", log.epsilon
        if log.misplaced is not None:
            yield "attribute from the log", "answers", "votes misplaced", log.misplaced


def _lines(found: _Found) -> list[str]:
    """One line for each main figure."""
    some, many = int(found.people.positive.sum()), len(found.people)
    lines = [
        f"{many:,} people, {some:,} of whom have {found.people.attribute} "
        f"({percent(some / many)}); {found.teachers:,} votes on each",
        f"epsilon is at delta {DELTA:g}, and of the records that teachers are trained on: it "
        "protects nobody who is asked about",
        "areas are under the curve, 0.5 is a guess; in brackets, intervals of 95 %",
        f"saying of everybody what most are is right in {percent(max(some, many - some) / many)}",
    ]
    if found.votes is not None:
        lines += ["", "by who sees the votes:"]
        lines += of_votes(found.votes.attacks)
        if found.votes.within is not None:
            within = with_interval(found.votes.within)
            lines.append(f"  among people of one label, beyond what the label says: area {within}")
        lines += ["", "by who sees answers alone, simulated from these votes:"]
        lines += of_answers(found.through, epsilon_text)
    if found.log is not None:
        lines += ["", *_of_log(found)]
    return lines + of_linkage(found.linkage)


def _of_log(found: _Found) -> list[str]:
    log = found.log
    assert log is not None
    about = f"{log.fewest:,}" if log.fewest == log.most else f"{log.fewest:,} to {log.most:,}"
    read = "" if log.misplaced is None else f"{percent(log.misplaced)} of the votes misplaced, "
    lines = [
        f"by who sees the log, {log.answers:,} answers about {log.people:,} people, {about} each:",
        f"  votes read from them: {read}area {with_interval(log.found.auc)}, "
        f"{flags(log.found.recall, log.found.false)}",
        f"  {counted(log.most, 'answer', 'answers')} about one person cost epsilon "
        f"{epsilon_text(log.epsilon)} (data-independent, charging realised)",
    ]
    if found.missing:
        lines.append(f"  the log has no answer about {found.missing:,} people of the file")
    return lines
