"""What a run asks of what the search of the target's code has found, for any kind of release."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..findings.note import Note
from ..run.request import RunRequest
from ..run.state import RunState
from ..targets import Refused
from ..targets.replies import CallError
from .background import BackgroundSearch, Searched, searched_spec
from .counting import Outcome
from .left_out import LeftOut
from .lines import not_exercised, stale_allowances
from .search import Candidate, InputSource, Reached, Search, in_turns

Answers = Sequence[tuple[int | None, Any]]
"""What came to calls, in their order: the place of a judged input, None of others, the answer."""

_Key = tuple[Hashable, ...]


class BranchAsker(ABC):
    """How a kind of release asks what a search has found, and judges the answers.

    after: queries before which nothing is asked: what shows earlier does not wait for the search;
    rounds: in which the answers of all inputs are asked; most, most_rows: answers, and rows of
    inputs, in all; refuses: whether a label may be a refusal, None where no labels are released.
    """

    state: RunState
    after: int
    rounds: int
    most: int
    most_rows = math.inf
    refuses: bool | None = None

    @abstractmethod
    def source(self) -> InputSource:
        """What the kind knows of its inputs."""

    @abstractmethod
    def key(self, values: Any) -> Hashable:
        """By which equal inputs are known."""

    @abstractmethod
    def told(self, searched: Searched) -> None:
        """Takes note of what the search came to, before anything is chosen."""

    @abstractmethod
    def begin(self, chosen: Sequence[Reached]) -> None:
        """Tells the checks the judged inputs, in their places, before the first is asked."""

    @abstractmethod
    def ask(self, values: Any, size: int, place: int | None) -> Any:
        """The answer of one call, None where nobody looks at it; place: None of one not judged.

        Raises as the target does, and LeftOut where the sequence cannot be gone on with.
        """

    @abstractmethod
    def show(self, answers: Answers) -> None:
        """Shows the checks what came of one sequence, asked some times."""

    @property
    @abstractmethod
    def goes_on(self) -> bool:
        """Whether there is no failure that ends the run."""

    def hints(self, search: Search) -> Sequence[Note]:
        """What else a pass says of the code that ran."""
        return ()


class Steering:
    """The search beside a run, and what it found.

    asker: of the kind of release; request: of the run.
    """

    def __init__(self, asker: BranchAsker, request: RunRequest) -> None:
        self.asker = asker
        self.searched: Searched | None = None
        self._search: BackgroundSearch | None = None
        self._answered = set[int]()  # places of judged inputs
        self._partly = set[_Key]()  # sequences that were not asked as they are
        self._outcomes = set[Outcome]()  # whose inputs were asked for to the end
        claim = asker.state.claim
        spec = searched_spec(asker.state.target, claim, request)
        if isinstance(spec, LeftOut):
            self.searched = Searched(why=str(spec))
        elif spec is not None:
            self._search = BackgroundSearch(spec, claim, asker.source, asker.refuses)

    def ask(self) -> bool:
        """Asks what was found, once the run has asked enough; False when the run should end."""
        return self.asker.state.queries < self.asker.after or self.ask_now()

    def ask_now(self) -> bool:
        """Asks what was found, once, wherever the run stands; False when the run should end."""
        asker = self.asker
        if self._search is None:
            return True
        if asker.goes_on:
            asker.state.tell("waiting for the search of the code")
            self.searched, self._search = self._search.wait(), None
            asker.told(self.searched)
            most = min(asker.most, asker.state.left)
            chosen = choose(self.searched.reached, asker.key, most, asker.most_rows)
            if chosen:
                asker.begin([*chosen.values()])
                self._ask(chosen)
            asked = chosen.keys() - self._partly
            for one in self.searched.reached:
                if _key(one.candidate, asker.key) in asked:
                    self._outcomes.add(one.outcome)
        return asker.goes_on

    def _ask(self, chosen: dict[_Key, Reached]) -> None:
        """Asks every sequence in rounds, each for its share of what half the noise needs there.

        What comes with every so-manieth call is asked in one round: calls of other inputs between
        would move it to other places.
        """
        asker, left_out = self.asker, set[_Key]()
        for turn in range(asker.rounds):
            place = 0
            for key, reached in chosen.items():
                candidate, first = reached.candidate, place
                place += candidate.judged
                if key in left_out or not asker.goes_on:
                    continue
                asker.state.tell("asking at branches of the code")
                times = range(turn, candidate.repeats, asker.rounds)
                if candidate.every:
                    times = range(candidate.repeats if turn == 0 else 0)
                answers = list[tuple[int | None, Any]]()
                for _ in times:
                    found = self._sequence(key, candidate, first)
                    if found is None:
                        left_out.add(key)
                        break
                    answers += found
                if answers:
                    asker.show(answers)
        self._partly |= left_out

    def _sequence(
        self, key: _Key, candidate: Candidate, first: int
    ) -> list[tuple[int | None, Any]] | None:
        """The answers of a sequence; None where a judged call is refused, or no call can follow.

        first: place of its first judged call. To leave out what was answered before, because of
        what noise may have decided, would not be fair: that it is refused then is an error.
        """
        asker, found = self.asker, list[tuple[int | None, Any]]()
        unjudged = len(candidate.calls) - candidate.judged
        for number, (values, size) in enumerate(candidate.calls):
            place = None if number < unjudged else first + number - unjudged
            try:
                answer = asker.ask(values, size, place)
            except LeftOut:
                return None
            except Refused as refusal:
                if place in self._answered:
                    raise CallError(
                        asker.state.claim.release.text(values, size),
                        f"was refused, although this input was answered before: {refusal}",
                        code="refused-later",
                    ) from None
                if place is not None:
                    return None
                continue
            asker.state.spend(size)
            if getattr(asker.state.target, "parts", (size,)) != (size,):
                self._partly.add(key)  # a slow target's calls are smaller
            if place is not None:
                self._answered.add(place)
            if answer is not None:
                found.append((place, answer))
        return found

    def end(self, *, tells: bool) -> None:
        """Ends a search that is still going on; tells: whether passes are told what was left out.

        That is what was not exercised in the code, and hints.
        """
        if self._search is not None:
            self._search.close()
        if self.searched is None or not tells:
            return
        search, state, lines = self.searched.search, self.asker.state, [*self.searched.left_out]
        if search is not None:
            beyond = search.source.out_of_reach(search)
            lines += not_exercised(search, self._outcomes, state.queries, beyond)
            lines += self.asker.hints(search)
            lines += stale_allowances(state.claim.gate.allow, lines)
        for line in lines:
            state.outcome.warn(line)


def choose(
    reached: Sequence[Reached],
    key: Callable[[Any], Hashable],
    most: float,
    most_rows: float = math.inf,
) -> dict[_Key, Reached]:
    """The sequences that are asked: the cheapest of each outcome first, as far as there is room.

    key: by which equal inputs are known; most: answers of all; most_rows: of all their inputs.
    """
    chosen = dict[_Key, Reached]()
    for one in in_turns(reached):
        candidate, known = one.candidate, _key(one.candidate, key)
        answers = candidate.repeats * sum(size for _, size in candidate.calls)
        rows = candidate.repeats * candidate.rows
        if known not in chosen and answers <= most and rows <= most_rows:
            chosen[known] = one
            most, most_rows = most - answers, most_rows - rows
    return chosen


def _key(candidate: Candidate, key: Callable[[Any], Hashable]) -> _Key:
    return tuple((key(values), size) for values, size in candidate.calls)
