"""A law of differential privacy, to which a function of somebody's accountant is held."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

Function = Callable[..., Any]

EXAMPLES = 200
"""Examples within which every known wrong variant is found (docs/results/laws.md)."""

_ALL = list(HealthCheck)  # examples that are slow, or often alike, are no matter


class _BrokenError(Exception):
    """Ends a count."""


@dataclass(frozen=True)
class Law:
    """A property of a function, with what it is shown.

    name: a word or two; signature: what the function takes and gives; source: who proved it;
    inputs: a strategy of examples; violation: (function, example) to what is wrong, in one line, or
    None. A function may charge more than it must, and keeps the law all the same.
    """

    name: str
    signature: str
    source: str
    inputs: st.SearchStrategy[Any]
    violation: Callable[[Function, Any], str | None]

    def check(self, function: Function, examples: int = EXAMPLES) -> None:
        """Raises AssertionError with the simplest example found that breaks the law.

        The same examples each time.
        """

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            print_blob=False,
            suppress_health_check=_ALL,
        )
        @given(self.inputs)
        def holds(example: Any) -> None:
            wrong = self.violation(function, example)
            if wrong is not None:
                raise AssertionError(f"{self.name}: {wrong} ({self.source})")

        holds()

    def first_broken(self, function: Function, seed: int, examples: int = EXAMPLES) -> int | None:
        """The number of the first example that breaks the law, from 1; None where none does."""
        shown: list[bool] = []

        @seeded(seed)
        @settings(
            max_examples=examples,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=_ALL,
        )
        @given(self.inputs)
        def count(example: Any) -> None:
            if True not in shown:
                shown.append(self.violation(function, example) is not None)
            if shown[-1]:
                raise _BrokenError

        try:
            count()
        except _BrokenError:
            return len(shown)
        return None
