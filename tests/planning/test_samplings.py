"""Other ways to draw teachers: named where a run may have missed them, and what would show them."""

import numpy as np
import pytest

from dpassay.verifiers.kinds.labels.planning.laws import divergences, fault_laws
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.telling import samplings_not_excluded
from dpassay.verifiers.kinds.reading import parse_claim

FEW = {"max_queries": 2_000, "smallest_effect": 0.3}


def plan_of(gate=(), **more):
    mechanism = {"name": "gnmax", "noise": "gaussian:3", "classes": 4, "teachers": 100, **more}
    return make_plan(parse_claim({"mechanism": mechanism, "gate": dict(gate)}), 0)


@pytest.mark.slow("over half a second")
def test_ways_to_draw_that_a_run_may_have_missed_are_named() -> None:
    """Few of many teachers drawn with replacement differ little from as many different ones."""
    left = samplings_not_excluded(plan_of(FEW, sampled="fixed:10"))
    assert left is not None
    assert left.code == "sampling-not-excluded"
    assert "with-replacement:10" in left.message
    assert left.fields["samplings"] >= 1
    assert left.fields["queries"] > 2_000


@pytest.mark.slow("over half a second")
def test_what_is_asked_often_enough_is_not_named() -> None:
    """Of 90 in 100 teachers drawn with replacement a third are drawn twice: that shows soon.

    Catches a warning that every claim with `sampled` gets.
    """
    plan = plan_of(sampled="fixed:90")
    fault = next(f for f in plan.faults if f.note.fields.get("way") == "with-replacement")
    laws = fault_laws((fault,), plan.log_q, plan.histograms.astype(np.float64))
    nats = divergences(laws, plan.log_q[:, None, :])[:, 0] @ plan.queries_of_streams
    assert nats > 100.0
    left = samplings_not_excluded(plan)
    assert left is None or "with-replacement" not in left.message


@pytest.mark.slow("over half a second")
def test_a_claim_of_all_teachers_has_no_such_warning() -> None:
    assert samplings_not_excluded(plan_of()) is None


@pytest.mark.slow("over half a second")
def test_one_teacher_drawn_in_two_ways_is_one_law() -> None:
    """Catches a warning that no number of labels could answer."""
    left = samplings_not_excluded(plan_of(FEW, sampled="fixed:1"))
    assert left is None or "with-replacement:1" not in left.message
