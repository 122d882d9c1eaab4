"""The search beside a run: it begins with the plan, and the run waits for it where it asks."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any

from ...reference.clock import check_clock, seconds_left
from ..findings.note import Note
from ..run.request import RunRequest
from ..targets import Target
from ..targets.replies import one_line
from ..text import counted
from .left_out import LeftOut
from .search import InputSource, Reached, Search
from .shadow import Shadow

_LOOK = 0.2  # seconds between two looks at the clock
_SHARE = 0.25  # of the time that a run has left, which it waits at most
OF_FEW_QUERIES = "--queries, or max_queries below 50,000, makes the run smaller than its default"
"""Why a run of numbers or tables does not search."""

_STATE = ("budget_target", "restart", "fresh_state")
"""Keys of `[gate]` that name what lies outside the process of a target."""


@dataclass(frozen=True)
class Searched:
    """What a search came to.

    search: None where the target could not be searched, and why not.
    """

    reached: tuple[Reached, ...] = ()
    search: Search | None = None
    why: str | None = None

    @property
    def left_out(self) -> tuple[Note, ...]:
        """Why nothing was searched, for the warnings of a pass; none where something was."""
        message = f"the decisions in the target's code were not counted: {self.why}"
        return () if self.search is not None else (Note("paths-left-out", message),)

    @property
    def words(self) -> str:
        """What a pass says of it."""
        if self.search is None:
            return ""
        shadow = self.search.shadow
        decisions = [one for one in shadow.decisions if one.shown or len(one.outcomes) > 1]
        files = ", ".join(dict.fromkeys(one.file for one in decisions))
        layers = ", ".join(shadow.layers) or "not confined"
        if not decisions:
            return "no decisions were counted in the target's code, but for any that only refuse"
        some = counted(len(decisions), "decision", "decisions")
        were = "was" if len(decisions) == 1 else "were"
        return f"{some} in {files} {were} counted on a copy ({layers})"


class BackgroundSearch:
    """Searches a copy of a Python target in a thread; it sees none of the run's answers.

    spec: of the target; claim: says how inputs travel, and which variables are secrets; source:
    makes what the kind of release knows of its inputs; refuses: whether a label may be a refusal,
    None where no labels are released.
    """

    def __init__(
        self, spec: str, claim: Any, source: Callable[[], InputSource], refuses: bool | None = None
    ) -> None:
        self._found = Searched(why="the search ended before it was done")
        self._stop = Event()
        self._arguments = spec, claim, source, refuses
        self._thread = Thread(target=self._search, daemon=True)
        self._thread.start()

    def wait(self) -> Searched:
        """What was found, once the search is over, or why the run did not wait for it.

        A run with little time left goes on without it. Raises OutOfTime with the run's time.
        """
        until = monotonic() + _SHARE * seconds_left()
        while self._thread.is_alive():
            check_clock()
            if monotonic() > until:
                self.close()
                return Searched(why="the search took too much of the run's time")
            self._thread.join(_LOOK)
        return self._found

    def close(self) -> None:
        """Ends the search where it is still going on."""
        self._stop.set()

    def _search(self) -> None:
        spec, claim, source, refuses = self._arguments
        secrets = () if claim.http is None else tuple(claim.http.headers.values())
        try:
            with Shadow(
                spec, claim.release, secrets, refuses=refuses, stopped=self._stop.is_set
            ) as shadow:
                if claim.gate.redact:
                    shadow.redact()
                search = Search(shadow, source())
                search.spared = frozenset(claim.gate.allow)
                self._found = Searched(tuple(search.run()), search)
        except LeftOut as why:
            self._found = Searched(why=str(why))
        except Exception as error:  # a run must not end because of what only steers it
            words = one_line(f"{type(error).__name__}: {error}")
            self._found = Searched(why=f"the search ended with {words}")


def left_out_of_few(target: Target, claim: Any, request: RunRequest, why: str) -> tuple[Note, ...]:
    """That no decisions are counted, and why, where another run on the target would count them.

    Nothing of partial runs, and of those that are not to count.
    """
    spec = searched_spec(target, claim, request)
    if spec is None or request.selection.left_out:
        return ()
    return Searched(why=str(spec) if isinstance(spec, LeftOut) else why).left_out


def searched_spec(target: Target, claim: Any, request: RunRequest) -> str | LeftOut | None:
    """The Python spec whose decisions are counted; why not, None where none asks.

    That is the target's own, or the source that the claim names of a server or a program. What a
    claim says of a state outside the process, a budget or a store that is emptied, may be spent or
    emptied by a copy too: there the claim must say `paths = true`, or name the source.
    """
    gate = claim.gate
    if gate.paths is False or request.after_failure == "stop" or request.of_reference:
        return None
    if gate.source is not None:
        source: str = gate.source_spec
        return source
    spec: str | None = getattr(target, "python_spec", None)
    named = [key for key in _STATE if getattr(gate, key)]
    if spec is not None and named and gate.paths is not True:
        return LeftOut(
            f"the claim names {named[0]}, and a copy of the target might touch what that touches; "
            "paths = true in [gate] allows it"
        )
    return spec
