"""The embedded deployments with a mistake are found, and so are their causes."""

import pytest

from dpassay.verifiers.demos import BROKEN
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

CODES = {
    "broken": "noise-once-per-call",
    "broken-histogram": "scale-too-small",
    "broken-table": "bound-not-enforced",
    "broken-tally": "mask-kept-across-rounds",
    "broken-budget": "budget-not-enforced",
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", BROKEN)
def test_the_mistake_is_found_and_named(name):
    """At 1e-6; the evidence is 10^10 and more above what refutes, whatever the noise is."""
    demo = BROKEN[name]
    claim = demo.claim()
    chosen = select(demo.checks, (), of=claim.kind.checks.ids)
    report = verify(demo.target(claim.release), claim, selection=chosen)
    assert CODES[name] in {check.code for check in report.checks if check.verdict == "fail"}


@pytest.mark.parametrize("demo", BROKEN.values(), ids=BROKEN)
def test_one_line_is_marked_and_all_are_shown(demo):
    shown = demo.shown.splitlines()
    assert sum(line.startswith(">") for line in shown) == 1
    assert shown[0].split(maxsplit=1)[1] == "class Deployment:"
    assert not any("# !" in line for line in shown)
    assert len(shown) <= 20
