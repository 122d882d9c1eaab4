"""The search beside a run: it begins with the plan, and the run waits for it where it asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any

from ..findings.note import Note
from ..run.request import RunRequest
from ..targets import Target
from .left_out import LeftOut
from .search import Asker, Reached, Search
from .shadow import Shadow


@dataclass(frozen=True)
class Searched:
    """What a search came to.

    search: None where the target could not be searched, and why not.
    """

    reached: tuple[Reached, ...] = ()
    search: Search | None = None
    why: str | None = None


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


def searched_spec(
    target: Target, claim: Any, request: RunRequest, own: Sequence[str] = ()
) -> str | Note | None:
    """The spec of the Python target whose decisions are counted; why not, None where none asks.

    What a claim says of a state outside the process, a budget or a store that is emptied, may be
    spent or emptied by a copy too: there the claim must say `paths = true`.
    """
    gate = claim.gate
    if gate.paths is False or request.after_failure == "stop" or request.of_reference:
        return None
    spec: str | None = getattr(target, "python_spec", None)
    if spec is None:
        return None
    named = [key for key in ("budget_target", "restart", "fresh_state") if getattr(gate, key)]
    if named and gate.paths is not True:
        message = (
            f"the decisions in the code were not counted: the claim names {named[0]}, and a copy "
            "of the target might touch what that touches; paths = true in [gate] allows it"
        )
        return Note("paths-left-out", message, {"key": named[0]})
    return spec
