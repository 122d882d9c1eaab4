"""The search beside a run: it begins with the plan, and the run waits for it where it asks."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Any

from ..run.request import RunRequest
from ..targets import Target
from .left_out import LeftOut
from .search import Asker, Reached, Search
from .shadow import Shadow

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
    def words(self) -> str:
        """What a pass says of it."""
        if self.search is None:
            return f"the decisions in the target's code were not counted: {self.why}"
        shadow = self.search.shadow
        decisions = [one for one in shadow.decisions if one.shown or len(one.outcomes) > 1]
        files = ", ".join(dict.fromkeys(one.file for one in decisions))
        layers = ", ".join(shadow.layers) or "not confined"
        if not decisions:
            return "the target's code has no decisions"
        return f"{len(decisions)} decisions in {files} were counted on a copy ({layers})"


class BackgroundSearch:
    """Searches a copy of a Python target in a thread; it sees none of the run's answers.

    Args:
        spec: of the target.
        release: how inputs travel.
        asker: makes what the kind of release knows of its inputs.
    """

    def __init__(self, spec: str, release: Any, asker: Callable[[], Asker]) -> None:
        self._found = Searched(why="the search ended before it was done")
        self._arguments = spec, release, asker
        self._thread = Thread(target=self._search, daemon=True)
        self._thread.start()

    def wait(self) -> Searched:
        """What was found, once the search is over."""
        self._thread.join()
        return self._found

    def _search(self) -> None:
        spec, release, asker = self._arguments
        try:
            with Shadow(spec, release) as shadow:
                search = Search(shadow, asker())
                self._found = Searched(tuple(search.run()), search)
        except LeftOut as why:
            self._found = Searched(why=str(why))


def searched_spec(target: Target, claim: Any, request: RunRequest) -> str | LeftOut | None:
    """The spec of the Python target whose decisions are counted; why not, None where none asks.

    What a claim says of a state outside the process, a budget or a store that is emptied, may be
    spent or emptied by a copy too: there the claim must say `paths = true`.
    """
    gate = claim.gate
    if gate.paths is False or request.after_failure == "stop" or request.of_reference:
        return None
    spec: str | None = getattr(target, "python_spec", None)
    named = [key for key in _STATE if getattr(gate, key)]
    if spec is not None and named and gate.paths is not True:
        return LeftOut(
            f"the claim names {named[0]}, and a copy of the target might touch what that touches; "
            "paths = true in [gate] allows it"
        )
    return spec
