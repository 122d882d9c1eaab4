"""The guide's table of what a pass must exclude is that of the registries."""

import math
import re
from pathlib import Path

import pytest

from dpassay.verifiers.kinds import kinds

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "verdicts.md"
ROW = re.compile(r"\| (\w+) \| `([a-z-]+)` \| (.+) \|")


def told() -> dict[tuple[str, str], str]:
    """(kind, check) -> the size, as the page has it."""
    section = PAGE.read_text().split("## What a pass must exclude")[1].split("\n## ")[0]
    return {(kind, check): size for kind, check, size in ROW.findall(section)}


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_each_least_of_a_registry_is_in_the_guide(kind) -> None:
    """Catches a check that is added, or a size that is changed, in one of the two alone."""
    sizes = {}
    for entry in kind.checks.entries:
        if entry.least is not None and entry.absent is None:
            least, field = entry.least, entry.least.field.replace("_", " ")
            size = f"{field} {least.most:g}" if math.isfinite(least.most) else f"any {field}"
            size = f"a scale off by {least.most:g} of it" if field == "factor" else size
            sizes[kind.name, entry.id] = size if field else "any fault"
    assert {key: size for key, size in told().items() if key[0] == kind.name} == sizes
