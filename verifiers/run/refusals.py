"""Whether an input is answered may depend on one record: a pair of neighbours that shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..findings.finding import Finding
from ..findings.note import Note
from ..targets import Refused, Target, TargetError
from ..targets.replies import CallError, NoReplyError

TRIED = 3
"""Pairs at most whose refusal a run of numbers would prove: they have equal parts of the share."""

ABOUT_THE_INPUT = ("target-failed", "reply-malformed")
"""Codes of a call that gives no answer: it raised, ended the process, or was of another form."""


@dataclass(frozen=True)
class Steps:
    """Inputs from one that is refused to one that is answered, each the neighbour of the next.

    length: steps between them; at: the input after so many, from 0.
    """

    length: int
    at: Callable[[int], Any]


class Asking:
    """Asks a target for one release of an input, call by call.

    target: None where each call has a process of its own; made: makes the call, and raises as the
    target does, or for a reply of another form; queries: calls so far; end: what the last one that
    is no answer ended in; prepare: is called before each call, where the target is to forget those
    before it.
    """

    def __init__(self, target: Target | None, made: Callable[[Any], object]) -> None:
        self._target, self._made = target, made
        self.queries = 0
        self.prepare: Callable[[], None] | None = None
        self.end: Refused | TargetError | None = None

    def refused(self, values: Any) -> bool:
        """Whether the input is refused, or not answered as the kind of release has it.

        Raises TargetError for what says nothing of the input: a call that was too slow, or lost.
        """
        if self.prepare is not None:
            self.prepare()
        self.queries += 1
        try:
            self._made(values)
        except (Refused, TargetError) as end:
            self.end = end
            if isinstance(end, TargetError):
                self._check(end)
            return True
        return False

    def _check(self, failure: TargetError) -> None:
        if failure.code not in ABOUT_THE_INPUT:
            raise failure
        if isinstance(failure, NoReplyError):
            if self._target is None or self._target.no_restart is not None:
                raise failure
            self._target.restart()

    @property
    def words(self) -> str:
        """What the target said last in place of an answer."""
        return self.end.message if isinstance(self.end, CallError) else str(self.end)


@dataclass(frozen=True)
class Told:
    """Two neighbours, of which `refused` was not answered and `answered` was, when last asked.

    calls: those that prove that it is no chance; proven: whether they did, False where they are
    more than can be made; words: what the target said.
    """

    refused: Any
    answered: Any
    calls: int
    proven: bool
    words: str

    def finding(self, text: Callable[[Any], str], where: str) -> Finding:
        """The finding; text: an input in words; where: from which input the pair was found."""
        message = (
            f"of two neighbours one is never answered, {text(self.refused)}, and the other always, "
            f"{text(self.answered)}: in {self.calls:,} calls, each of the one that a coin chose "
            f"({where}): {self.words}"
        )
        cause = Note(
            "refusal-tells-inputs-apart",
            "whether there is an answer depends on the data",
            {"input": where, "calls": self.calls},
        )
        return Finding.caused(message, cause)

    def undecided(self, text: Callable[[Any], str], where: str, left: int, limit: str = "") -> Note:
        """The warning where it was not proven; limit: what leaves so few, if not the queries."""
        return Note(
            "refusal-not-judged",
            f"{text(self.refused)} was refused, and its neighbour {text(self.answered)} answered "
            f"({where}): {self.words}; whether that is chance takes {self.calls:,} calls to tell, "
            + (limit or f"and max_queries leaves {left:,}"),
            {"input": where, "calls": self.calls, "left": left},
        )


def neighbours(asking: Asking, steps: Steps) -> tuple[Any, Any] | None:
    """Two neighbours among the steps, of which one was not answered and the other was.

    None where the first input is answered, or the last one is not.
    """
    if not asking.refused(steps.at(0)) or asking.refused(steps.at(steps.length)):
        return None
    low, high = 0, steps.length
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if asking.refused(steps.at(middle)) else (low, middle)
    return steps.at(low), steps.at(high)


def told_apart(
    asking: Asking, pair: tuple[Any, Any], calls: int, left: int, rng: np.random.Generator
) -> Told | None:
    """Whether fresh calls prove that a pair is told apart; None where one is refused by chance.

    calls: see `calls_that_prove`; left: calls that may be made in all; rng: the coins.
    """
    told = Told(*pair, calls, calls <= left - asking.queries, asking.words)
    for coin in (rng.random(calls) < 0.5) if told.proven else ():
        if asking.refused(pair[0] if coin else pair[1]) != coin:
            return None
    return told
