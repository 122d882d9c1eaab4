"""In which order streams are asked: each as often as planned, telling ones late too."""

from collections import Counter

import pytest

from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.plan import FRESH, LATE
from dpassay.verifiers.planner import FRESH_CALL, make_plan
from dpassay.verifiers.schedule import LARGEST_BATCH, sweeps

GNMAX = {"name": "gnmax", "noise": "gaussian:40", "classes": 10, "teachers": 250}
SCREENED = {"name": "confident-gnmax", "threshold": 200.0, "threshold_noise": "gaussian:150"}
PRIVACY = {"epsilon": 2.65, "delta": 1e-5, "queries": 286}


def plan(mechanism=GNMAX, effect=0.02, other_totals=True, own=0, **tables):
    gate = {"smallest_effect": effect}
    made = parse_claim({"mechanism": mechanism, "gate": gate, **tables})
    histograms = tuple((250 - i, i, *[0] * 8) for i in range(own))
    return make_plan(made, 7, other_totals, histograms)


TINY = {"name": "gnmax", "noise": "gaussian:1", "classes": 2, "teachers": 1}
PLANS = {
    "default": {},
    "privacy": {"privacy": PRIVACY},
    "one-total": {"other_totals": False},
    "caching": {"mechanism": GNMAX | {"caching": True}},
    "screened": {"mechanism": GNMAX | SCREENED},
    "coarse": {"effect": 0.9, "own": 60},  # few sweeps, many histograms
    "tiny": {"mechanism": TINY, "effect": 0.5},
}


@pytest.mark.parametrize("name", PLANS)
def test_each_stream_is_asked_as_often_as_planned(name):
    """Catches a part kept for the end and forgotten, or asked twice."""
    made, asked = plan(**PLANS[name]), Counter()
    for stream, size in sweeps(made):
        assert 0 < size <= LARGEST_BATCH
        asked[stream] += size
    for i, stream in enumerate(made.streams):
        opening = FRESH_CALL if stream.kind == FRESH else 0  # the run's first call
        assert asked[i] == stream.queries - opening, stream.kind


def test_the_end_of_a_run_tells_the_noise_scale():
    """A clear winner alone would not: the last tenth has a quarter of the telling anchors."""
    made = plan()
    batches = list(sweeps(made))
    late = made.first(LATE)
    first = batches.index(next(batch for batch in batches if batch[0] == late))
    kinds = Counter()
    for stream, size in batches[first:]:
        kinds[made.streams[stream].kind] += size
    for kind in ("informative", "near-tie"):
        planned = made.streams[made.first(kind)].queries
        assert kinds[kind] >= planned // 4 - planned // 16
    assert set(kinds) == {"informative", "near-tie", "late"}
