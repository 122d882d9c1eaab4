"""The calls of a run, made once more on a copy of the target whose decisions are counted.

That is for kinds of release for which no inputs are searched.
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..findings.note import Note
from ..run.checks import EvidenceCheck
from ..run.request import RunRequest
from ..run.state import RunState
from ..targets import PacedTarget
from .background import BackgroundSearch, Searched, searched_spec
from .left_out import LeftOut
from .lines import HALF_THE_NOISE, not_exercised, stale_allowances
from .search import InputSource, PlannedCalls, executions

MOST_CALLS = 5_000
"""Executions of the copy: a pass on one pair of inputs has 4,062 calls, most others have fewer."""

TOGETHER = 500
"""Calls of which the copy remembers those before: so many of a slow target are done in time."""

ShareShown = Callable[[Any, Any, float], float]
"""What one answer brings of the evidence that a fault behind a decision takes to show, from 0 to 1.

Given the check that would see it, the input, and how often that was asked for.
"""


class CallsAgain(InputSource):
    """Hears the calls of a run; at its end makes them on a copy, as far as these are not too many.

    Of a longer run each distinct call is made equally often, so that none is left out. state: of
    the run; spec: of what is copied, or why nothing is; told: id of the check that would see a
    fault behind a decision, whose pass says how many decisions were counted; shown: of an answer;
    None: nothing is said of what few answers took; together: calls in one process of the copy;
    most: executions in all; fault: what would not have shown, in words.
    """

    needed, turns = 1.0, 0

    def __init__(
        self,
        state: RunState,
        spec: str | LeftOut,
        told: str,
        *,
        shown: ShareShown | None = None,
        together: int = TOGETHER,
        most: int = MOST_CALLS,
        fault: str = HALF_THE_NOISE,
    ) -> None:
        self._claim, self._spec, self._told = state.claim, spec, told
        self._shown, self._together, self._most, self._fault = shown, together, most, fault
        self._inputs, self._calls = dict[int, Any](), list[tuple[int, int]]()
        self._check: EvidenceCheck | None = None
        if isinstance(state.target, PacedTarget):
            state.target.listen(self._hear)

    def _hear(self, values: Any, size: int) -> None:
        self._inputs[id(values)] = values  # kept, so that no other input gets this id
        self._calls.append((id(values), size))

    def count(self, checks: Sequence[EvidenceCheck]) -> list[Note]:
        """What no call of the run took, or too few, for the warnings of a pass; or why not."""
        if isinstance(self._spec, LeftOut):
            return [*Searched(why=str(self._spec)).left_out]
        self._check = next((check for check in checks if check.id == self._told), None)
        if self._check is None or not self._calls:
            return []
        searched = BackgroundSearch(self._spec, self._claim, lambda: self).wait()
        if searched.search is None:
            return [*searched.left_out]
        made, asked = searched.search.shadow.executions, len(self._calls)
        part = f"{made:,} of " if made < asked else ""
        self._check.of_code = f"{searched.words}, by {part}the {asked:,} calls of the run"
        answers = sum(size for _, size in self._calls)
        lines = not_exercised(searched.search, (), answers, fault=self._fault)
        never = f" (in {made:,} of {asked:,} calls)" if part else ""
        told = [
            replace(line, message=line.message + never * (line.code == "path-never"))
            for line in lines
        ]
        return [*told, *stale_allowances(self._claim.gate.allow, told)]

    def planned(self) -> Iterator[PlannedCalls]:
        """The calls in their order, in parts, each with other noise."""
        asked = Counter(self._calls)
        answers = Counter[int]()
        for (key, size), times in asked.items():
            answers[key] += size * times
        most = _times_of_each(asked, self._most)
        kept, left, made = Counter[tuple[int, int]](), self._most, list[tuple[int, int]]()
        for call in self._calls:
            if kept[call] < most and left > 0:
                kept[call] += 1
                left -= executions(call[1])
                made.append(call)
        for noise, start in enumerate(range(0, len(made), self._together), 1):
            part = made[start : start + self._together]
            yield PlannedCalls(
                tuple((self._inputs[key], size) for key, size in part),
                tuple(str(key).encode() for key, _ in part),
                tuple(call[1] * asked[call] / kept[call] for call in part),
                tuple(self._share(key, answers[key]) for key, _ in part),
                noise,
            )

    def _share(self, key: int, answers: float) -> float:
        if self._shown is None:
            return math.inf
        return self._shown(self._check, self._inputs[key], answers)


def hear_calls(state: RunState, request: RunRequest, told: str, **how: Any) -> CallsAgain | None:
    """What hears the calls of a run; None where it is partial, or nothing of its code is counted.

    how: the further arguments of `CallsAgain`.
    """
    spec = searched_spec(state.target, state.claim, request)
    if spec is None or request.selection.left_out:
        return None
    return CallsAgain(state, spec, told, **how)


def _times_of_each(asked: Counter[tuple[int, int]], in_all: int) -> int:
    """How often each distinct call is made at most, so that all are about so many executions."""

    def cost(most: int) -> int:
        return sum(min(times, most) * executions(size) for (_, size), times in asked.items())

    return max(1, bisect(range(1, max(asked.values()) + 1), in_all, key=cost))
