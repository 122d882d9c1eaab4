"""The faults of one line that show what tests would catch are still lines of the package."""

from importlib import import_module
from typing import Any

import pytest

mutants = import_module("benchmarks.mutants.__main__").mutants()


@pytest.mark.parametrize("mutant", mutants, ids=lambda one: one.title)
def test_the_line_of_a_mutant_stands_once(mutant: Any) -> None:
    """Catches a line that was changed while its mutant was not: no test would be held to it."""
    assert mutant.instead in mutant.text
