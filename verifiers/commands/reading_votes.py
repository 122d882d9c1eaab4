"""What `dpassay reconstruct` reads: the votes behind labels of a query, their counts, or logs."""

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from pydantic import Field
from scipy.special import chdtrc

from ...attacks import Answers, Method, Reconstruction, reconstruct
from ...reference import ConfidentGNMax
from ...reference.mechanisms import ClaimedMechanism
from ...reference.parallel.executors import Here
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import carried_out
from ..cli.mechanism_options import mechanism_of_options
from ..findings.document import VariedDocument
from ..findings.evidence_text import times_likelier
from ..inputs.files import read_text
from ..inputs.input_error import RowsError
from ..inputs.label_log import read_labels
from ..text import printable
from .other_scales import better_scale, log_supremum

MOST_CLASSES = 1000
ALARM = 1e-6
_MANY = 50  # classes


class ReadVotes(VariedDocument):
    """The votes read from one query's answers."""

    log: str = Field(
        default="", description="Where they were read from; left out where one query is read."
    )
    histogram: tuple[int, ...] | tuple[float, ...] = Field(
        description="The votes of each class, in order; whole where the method gives whole ones."
    )
    interval: tuple[tuple[int, int], ...] = Field(description="95 % intervals of the votes.")
    queries: int = Field(ge=0, description="Answers that were read.")
    method: Method
    misplaced: tuple[float, float, float] = Field(
        description="The share of the votes that is misplaced, about, and a 95 % interval of it."
    )
    converged: bool
    teachers: int = Field(exclude=True)

    @classmethod
    def of(cls, read: Reconstruction, teachers: int, **log: str) -> Self:
        """The document, for which intervals are drawn: most of the work."""
        whole = read.method == "posterior"
        share, low, high = (float(share) for share in read.misplaced)
        return cls(
            **log,
            histogram=tuple(int(v) if whole else float(v) for v in read.histogram),
            interval=tuple((int(low), int(high)) for low, high in read.interval),
            queries=int(read.queries),
            method=read.method,
            misplaced=(share, low, high),
            converged=bool(read.converged),
            teachers=teachers,
        )

    def as_text(self) -> str:
        """A table for the terminal: votes per class, with 95 % intervals."""
        share, low, high = (f"{100 * value:.1f}" for value in self.misplaced)
        lines = [
            f"{self.queries:,} queries read by {self.method}: about {share} % of the "
            f"{self.teachers:,} votes misplaced ({low} to {high} %)",
            "class     votes  95 % interval",
        ]
        for label, (votes, ends) in enumerate(zip(self.histogram, self.interval, strict=True)):
            lines.append(f"{label:5}  {votes:8.1f}  {ends[0]} to {ends[1]}")
        return "\n".join(lines)


class ReadLogs(VariedDocument):
    """The votes read from several logs, each of one query."""

    logs: tuple[ReadVotes, ...]

    def as_text(self) -> str:
        """A table for each log."""
        return "\n\n".join(f"{printable(read.log)}: {read.as_text()}" for read in self.logs)


@dataclass(frozen=True)
class VoteReading:
    """The votes read from one query's answers, with warnings."""

    reconstruction: Reconstruction
    warnings: list[str]

    @property
    def is_slow(self) -> bool:
        """Whether the intervals, which are computed on demand, take long."""
        return len(self.reconstruction.histogram) >= _MANY


def reconstruct_votes(
    labels: str | None, counts: str | None, *, teachers: int, method: Method, **how: Any
) -> VoteReading:
    """Reads the votes behind answers; labels, counts, how: as `asked_answers` takes them.

    Raises ValueError with one line.
    """
    answers, warnings = asked_answers(labels, counts, **how)
    return read_votes(answers, teachers, method, warnings)


def asked_answers(
    labels: str | None,
    counts: str | None,
    *,
    classes: int | None,
    mechanism: tuple[str, float | None, str | None],
    key: str | None = None,
) -> tuple[Answers, list[str]]:
    """Answers of a log of labels (a path, standard input when None) or of counts, and warnings.

    counts: as `n0,n1,...`; mechanism: noise, threshold and threshold noise as typed; key: id of the
    input whose labels are read, where a log names several. Raises ValueError with one line.
    """
    attacked = mechanism_of_options(*mechanism)
    if counts is not None:
        return answers_from_counts(counts, attacked), []
    answers, left_out = answers_from_log(labels or "-", classes, attacked, key)
    if not left_out:
        return answers, []
    return answers, [f"refusals left out: {left_out:,}; with --threshold they are read too"]


def read_votes(
    answers: Answers, teachers: int, method: Method, warnings: Sequence[str] = ()
) -> VoteReading:
    """The votes behind answers; warnings: earlier ones. Raises ValueError with one line."""
    if not answers.counts.any():
        raise RowsError("no labels were counted: nothing to read")
    warnings, attacked = list(warnings), answers.mechanism
    _check_scales(attacked, teachers)
    found = reconstruct(answers, teachers, method)
    misfit = _misfit(answers, found if method == "mle" else reconstruct(answers, teachers))
    if misfit is not None:
        warnings.append(
            f"no votes of {teachers:,} teachers fit these labels well under {attacked.noise}"
            f"{misfit}: check --noise and --teachers"
        )
    if not found.converged:
        warnings.append(f"{method} did not converge")
    return VoteReading(found, warnings)


def _check_scales(mechanism: ClaimedMechanism, teachers: int) -> None:
    """Raises ValueError for noise that is negligible, or overwhelming, beside the votes."""
    screen = [mechanism.threshold_noise] if isinstance(mechanism, ConfidentGNMax) else []
    for noise in (mechanism.noise, *screen):
        if not 1e-6 * teachers <= noise.scale <= 1e6 * teachers:
            raise ValueError(
                f"noise {noise} for {teachers:,} teachers: expected a scale from a millionth of "
                "them to a million times as many"
            )


def _misfit(answers: Answers, likeliest: Reconstruction) -> str | None:
    """The end of a warning that no votes explain the labels; None where some do.

    Without the bound at zero, votes would explain any labels. Another scale is named where one fits
    far better; else a likelihood-ratio test with a false-alarm rate of 10^-6 decides.
    """
    assert likeliest.teachers is not None
    best_known = float(likeliest.log_likelihood) + float(likeliest.gap)
    better = better_scale(answers, likeliest.teachers, best_known)
    if better is not None:
        noise, odds = better
        less = "" if answers.refuses else " or less"
        return (
            f", but some do under about {noise.family}:{noise.scale:.2g}{less} "
            f"({times_likelier(odds / math.log(10))})"
        )
    deviance = 2.0 * max(0.0, log_supremum(answers) - best_known)  # rounding may make less of it
    return None if chdtrc(answers.counts.size - 1, deviance) > ALARM else ""


def answers_from_counts(text: str, mechanism: ClaimedMechanism) -> Answers:
    """Answers from counts `n0,n1,...`. Raises ValueError that shows the wrong part."""
    counts = []
    for part in text.split(","):
        if not (part.strip().isdecimal() and part.isascii()):
            raise ValueError(
                f"--counts {text!r}: {part.strip()!r} is no count: expected a whole number from 0"
            )
        counts.append(float(part))
    try:
        return Answers(np.array(counts), mechanism)
    except ValueError as error:
        raise ValueError(f"--counts {text!r}: {error}") from None


def answers_from_log(
    path: str, classes: int | None, mechanism: ClaimedMechanism, key: str | None = None
) -> tuple[Answers, int]:
    """Answers from a log of labels (`-`: standard input), and how many refusals were left out.

    They are left out where the mechanism has no threshold; the other labels still have its law.
    Raises ValueError that names the file, the line and what is allowed.
    """
    source = "stdin" if path == "-" else path
    text = read_text(None if path == "-" else path)
    labels = read_labels(text.splitlines(), source, key)
    found = max(labels) + 1
    classes = max(found, 2) if classes is None else classes
    if found > classes:
        raise ValueError(
            f"{source}: label {found - 1} of --classes {classes}: expected 0 to {classes - 1}"
        )
    if classes > MOST_CLASSES:
        raise ValueError(f"{source}: label {found - 1}: expected at most {MOST_CLASSES} classes")
    kept = labels if mechanism.refuses else [x for x in labels if x >= 0]
    return Answers.tally(kept, classes, mechanism), len(labels) - len(kept)


def reconstruct_logs(
    logs: Sequence[str], executor: Executor | None, *, teachers: int, method: Method, **how: Any
) -> tuple[ReadLogs, list[tuple[str, str]]]:
    """Reads the votes behind each log, in order, over an executor or in this process; and warnings.

    how: as `asked_answers` takes it. The files are read in this process. Raises ValueError that
    names the log; one that cannot be read is refused before the work begins.
    """
    parts: list[tuple[str, Answers, list[str], int, Method]] = [
        (log, *asked_answers(log, None, **how), teachers, method) for log in logs
    ]
    found = shown(carried_out(_read, parts, executor or Here()), len(parts), "logs")
    done = [read for _, read in sorted(found, key=lambda one: one[0])]
    warnings = [(read.log, warning) for read, told in done for warning in told]
    return ReadLogs(logs=tuple(read for read, _ in done)), warnings


def _read(
    log: str, answers: Answers, warnings: Sequence[str], teachers: int, method: Method
) -> tuple[ReadVotes, list[str]]:
    """The votes of one log, and warnings."""
    try:
        read = read_votes(answers, teachers, method, warnings)
        return ReadVotes.of(read.reconstruction, teachers, log=log), read.warnings
    except ValueError as error:
        raise ValueError(f"{'stdin' if log == '-' else log}: {error}") from None
