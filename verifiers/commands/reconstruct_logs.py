"""`dpassay reconstruct` of several logs, spread over workers."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from ...attacks import Answers, Method
from ...reference.parallel.executors import Here
from ...reference.parallel.progress import shown
from ...reference.parallel.workers import carried_out
from .reconstruct import asked_answers, read_votes


@dataclass(frozen=True)
class ReadLog:
    """The votes read from one log, as JSON and as text, with warnings."""

    log: str
    as_json: dict[str, Any]
    as_text: str
    warnings: list[str]


def reconstruct_logs(
    logs: Sequence[str],
    executor: Executor | None,
    *,
    classes: int | None,
    mechanism: tuple[str, float | None, str | None],
    teachers: int,
    method: Method,
    key: str | None = None,
) -> list[ReadLog]:
    """Reads the votes behind each log, in order, over an executor or in this process.

    The files are read in this process. The other arguments are those of `reconstruct_votes`. Raises
    ValueError that names the log; one that cannot be read is refused before the work begins.
    """
    parts: list[tuple[str, Answers, list[str], int, Method]] = []
    for log in logs:
        answers, warnings = asked_answers(log, None, classes=classes, mechanism=mechanism, key=key)
        parts.append((log, answers, warnings, teachers, method))
    found = shown(carried_out(_read, parts, executor or Here()), len(parts), "logs")
    return [read for _, read in sorted(found, key=lambda one: one[0])]


def _read(
    log: str, answers: Answers, warnings: Sequence[str], teachers: int, method: Method
) -> ReadLog:
    """The votes of one log, with intervals, which are most of the work."""
    try:
        read = read_votes(answers, teachers, method, warnings)
        return ReadLog(log, read.as_json(), read.as_text(), read.warnings)
    except ValueError as error:
        raise ValueError(f"{'stdin' if log == '-' else log}: {error}") from None
