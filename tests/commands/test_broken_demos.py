"""The embedded deployments with a mistake are found, and so are their causes."""

import tomllib
from itertools import count

import numpy as np
import pytest

from dpassay.verifiers.demos import BROKEN
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

CODES = {
    "broken": "noise-once-per-call",
    "broken-histogram": "scale-too-small",
    "broken-table": "bound-not-enforced",
    "broken-tally": "mask-kept-across-rounds",
    "broken-budget": "budget-not-enforced",
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", BROKEN)
def test_the_mistake_is_found_and_named(name):
    """With the same noise in every run of the test, so that it cannot flake."""
    demo, starts = BROKEN[name], count()
    claim = parse_claim(tomllib.loads(demo.claim))
    chosen = select(demo.checks, (), of=claim.kind.checks.ids)

    def made():
        deployment = demo.deployment()
        deployment.rng = np.random.default_rng([1, next(starts)])
        return deployment

    target = InProcessTarget(made(), again=made, release=claim.release)
    report = verify(target, claim, seed=1, selection=chosen)
    assert CODES[name] in {check.code for check in report.checks if check.verdict == "fail"}


@pytest.mark.parametrize("demo", BROKEN.values(), ids=BROKEN)
def test_one_line_is_marked_and_all_are_shown(demo):
    shown = demo.shown.splitlines()
    assert sum(line.startswith(">") for line in shown) == 1
    assert shown[0].split(maxsplit=1)[1] == "class Deployment:"
    assert not any("# !" in line for line in shown)
    assert len(shown) <= 20
