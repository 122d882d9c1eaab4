"""The gate for numbers on a zoo of aggregators: broken ones fail, correct ones pass."""

from typing import Any

import pytest
from numeric_zoo import BROKEN, CORRECT
from zoo_entry import Entry

from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify


def shelf(entries: list[Entry], quick: int) -> list[Any]:
    """Every entry; so many of each kind, by the check that catches it, are in the quick suite."""
    seen: dict[str, int] = {}
    found = []
    for entry in entries:
        kind = entry.caught[0] if entry.caught else ""
        seen[kind] = seen.get(kind, 0) + 1
        more = seen[kind] > quick
        marks = pytest.mark.slow("more of what others of its kind show") if more else ()
        found.append(pytest.param(entry, id=entry.name, marks=marks))
    return found


def judged(entry: Entry, seed: int) -> Report:
    """A report on an entry, which is made anew."""
    return verify(entry.target(seed, 99), entry.claim, seed=seed)


@pytest.mark.parametrize("entry", shelf(BROKEN, 1))
@pytest.mark.quick_cases(2)
def test_a_broken_one_fails(entry: Entry) -> None:
    report = judged(entry, 1)
    failed = {check.id for check in report.checks if check.verdict is Verdict.FAIL}
    assert failed & set(entry.caught), (report.verdict, failed)


@pytest.mark.parametrize("entry", shelf(CORRECT, 1))
def test_a_correct_one_passes(entry: Entry) -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(entry, 1)
    messages = [(c.id, c.message) for c in report.checks if c.verdict is not Verdict.PASS]
    assert report.verdict is Verdict.PASS, messages
