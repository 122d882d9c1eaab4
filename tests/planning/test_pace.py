"""The pace of a target, by which a plan tells its time: measured in few calls of a slow one."""

import numpy as np
import pytest

from dpassay.verifiers.commands import planned_run


class OnAClock:
    """Takes so many seconds a call, and a label, on a clock of its own."""

    def __init__(self, call: float, label: float) -> None:
        self.call, self.label, self.now, self.asked = call, label, 0.0, 0

    def ask(self, _histogram, size):
        self.now += self.call + size * self.label
        self.asked += size
        return np.zeros(size, dtype=np.int64)


@pytest.mark.parametrize(("call", "label"), [(0.001, 0.002), (0.1, 0.0), (0.0, 2.5), (3.0, 0.001)])
def test_the_pace_is_measured_and_no_patience_is_lost_on_a_slow_target(
    call, label, monkeypatch
) -> None:
    """Catches 201 labels that are asked of a target which takes seconds for each."""
    target = OnAClock(call, label)
    monkeypatch.setattr("time.perf_counter", lambda: target.now)
    pace = planned_run.pace_of(target, None, None, 1)
    assert pace.seconds(10, 300) == pytest.approx(10 * call + 300 * label, rel=0.01, abs=1e-6)
    assert target.now <= 25.0
