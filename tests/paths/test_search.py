"""The search reaches ways through a target's code that a plan of labels hardly takes.

A search that knew constants alone, or sizes alone, would miss some of these targets. The correct
ones have the same branches, so that a search which told faults from the source would accuse them.
"""

from pathlib import Path

import pytest

from dpassay.verifiers.kinds.labels.claim import LabelsClaim
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.steering.asking import MOST_QUERIES
from dpassay.verifiers.kinds.labels.steering.candidates import LabelSource
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.paths.lines import not_exercised
from dpassay.verifiers.paths.search import Search
from dpassay.verifiers.paths.shadow import Shadow
from dpassay.verifiers.targets.labels import LABELS

CLAIM = {
    "mechanism": {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250},
}
NEEDED = 55.0

TARGET = """
import numpy as np

rng = np.random.default_rng()
LEADS = {{"sure": 6 * 9}}


class Aggregator:
    def __init__(self):
        self.last, self.streak, self.calls = None, 0, 0

    def sample(self, histogram, size):
        h = np.asarray(histogram)
        self.calls += 1
        leader = int(h.argmax())
        self.streak = self.streak + 1 if leader == self.last else 0
        self.last = leader
        second, most = (int(v) for v in np.sort(h)[-2:])
        {branch}
        return (h + rng.normal(0, 40.0, (size, h.size))).argmax(-1)


target = Aggregator()
"""

BRANCHES = {
    "second": "if second == 43: size = int(size)",
    "lead": "if most - second == LEADS['sure']: size = int(size)",
    "count of a class": "if h[7] == 91: size = int(size)",
    "remainder of the size": "if size > 900 and size % 1024 == 7: size = int(size)",
    "streak": "if self.streak >= 17: size = int(size)",
    "every so-manieth call": "if size == 1 and self.calls % 13 == 5: size = int(size)",
    "mask": "h = h + 0 * (h.sum() == 2 * 313)",
}


@pytest.fixture(scope="module")
def asker() -> LabelSource:
    claim = parse_claim(CLAIM)
    assert isinstance(claim, LabelsClaim)
    plan = make_plan(claim, 3, True, ())
    return LabelSource(plan, 3, NEEDED, other_totals=True)


def _written(folder: Path, branch: str) -> str:
    (folder / "target.py").write_text(TARGET.format(branch=branch))
    return f"{folder / 'target.py'}:target"


@pytest.mark.slow("a search of seconds each")
@pytest.mark.parametrize("branch", BRANCHES)
def test_a_branch_of_votes_sizes_or_sequences_is_reached(
    tmp_path: Path, asker: LabelSource, branch: str
) -> None:
    spec = _written(tmp_path, BRANCHES[branch])
    with Shadow(spec, LABELS) as shadow:
        search = Search(shadow, asker)
        found = search.run()
    line = TARGET.splitlines().index("        {branch}") + 1
    costs = [
        one.candidate.cost
        for one in found
        if one.decision.line == line and one.outcome[1] == "true"
    ]
    assert min(costs, default=float("inf")) < MOST_QUERIES


@pytest.mark.slow("a search of seconds")
def test_the_same_target_and_seed_are_searched_alike(tmp_path: Path, asker: LabelSource) -> None:
    spec = _written(tmp_path, BRANCHES["second"])
    found = []
    for _ in range(2):
        claim = asker.claim
        again = LabelSource(make_plan(claim, 3, True, ()), 3, NEEDED, other_totals=True)
        with Shadow(spec, LABELS) as shadow:
            reached = Search(shadow, again).run()
        found.append(
            [(r.outcome, [(v.tolist(), n) for v, n in r.candidate.calls]) for r in reached]
        )
    assert found[0] == found[1]


@pytest.mark.slow("a search of seconds")
def test_a_branch_out_of_reach_is_named_and_a_noisy_one_is_not_asked(
    tmp_path: Path, asker: LabelSource
) -> None:
    branch = "if h[0] * h[1] * 3 == h[2] * h[3] + 40_001: size = int(size)"
    spec = _written(tmp_path, f"{branch}\n        if rng.random() < 0.001: size = int(size)")
    with Shadow(spec, LABELS) as shadow:
        search = Search(shadow, asker)
        found = search.run()
        lines = not_exercised(search, {one.outcome for one in found}, 190_000)
    assert not any("random" in one.decision.text for one in found)
    never = [line for line in lines if line.code == "path-never"]
    assert any("40_001" in str(line.fields["text"]) for line in never)
    assert len(lines) <= 5
