"""Large calls in parts: sizes follow the speed of the target, and nothing is lost or reordered."""

import numpy as np
import pytest

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.targets import PacedTarget, TargetError, paced

HISTOGRAM = np.array([3, 2, 1])
TIMEOUT = 30.0


class Clocked:
    """Answers with running numbers and takes `overhead + each * size` seconds of a false clock."""

    def __init__(self, monkeypatch, overhead=0.0, each=0.0):
        self.now, self.overhead, self.each = 0.0, overhead, each
        self.calls, self.answered = [], 0
        monkeypatch.setattr(paced, "monotonic", lambda: self.now)

    def ask(self, histogram, size):
        assert histogram is HISTOGRAM
        self.calls.append(size)
        self.now += self.overhead + self.each * size
        self.answered += size
        return list(range(self.answered - size, self.answered))


def test_a_fast_target_is_soon_asked_for_all_at_once(monkeypatch) -> None:
    """The gate's own sizes, which double, are never split."""
    fast = Clocked(monkeypatch, overhead=0.002, each=1e-6)
    target = PacedTarget(fast, TIMEOUT)
    sizes = [1, 7, 2, 32, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
    for size in sizes:
        target.ask(HISTOGRAM, size)
        assert target.parts == (size,)
    assert fast.calls == sizes


def test_no_call_is_larger_than_allowed(monkeypatch) -> None:
    """Where the deployment serves no more at a time, however fast it is."""
    fast = Clocked(monkeypatch, overhead=0.002, each=1e-6)
    target = PacedTarget(fast, TIMEOUT, largest=5)
    assert target.ask(HISTOGRAM, 1000).tolist() == list(range(1000))
    assert max(fast.calls) == 5
    assert set(target.parts[1:-1]) == {5}


def test_parts_are_joined_in_order(monkeypatch) -> None:
    target = PacedTarget(Clocked(monkeypatch), TIMEOUT)
    assert target.ask(HISTOGRAM, 10_000).tolist() == list(range(10_000))
    assert sum(target.parts) == 10_000
    assert target.parts[0] < 100  # its speed was unknown


@pytest.mark.parametrize("each", [0.004, 0.05, 0.9])
def test_a_slow_target_is_never_asked_for_too_much(monkeypatch, each) -> None:
    """Too large a first size, growth without a look at the clock, or none: all are caught."""
    slow = Clocked(monkeypatch, overhead=0.1, each=each)
    PacedTarget(slow, TIMEOUT).ask(HISTOGRAM, 8192)
    assert slow.answered == 8192
    assert max(slow.calls) * each + 0.1 < TIMEOUT
    assert max(slow.calls[3:-1]) * each > TIMEOUT / 5


def test_what_is_slow_whatever_the_size_is_asked_for_much(monkeypatch) -> None:
    """Four seconds a call: by seconds per label alone, 8192 labels would take days."""
    far = Clocked(monkeypatch, overhead=4.0)
    target = PacedTarget(far, TIMEOUT)
    target.ask(HISTOGRAM, 1)
    target.ask(HISTOGRAM, 50_000)
    assert len(far.calls) < 25


def test_a_target_that_becomes_slow_is_asked_for_less(monkeypatch) -> None:
    tiring = Clocked(monkeypatch)
    target = PacedTarget(tiring, TIMEOUT)
    target.ask(HISTOGRAM, 8192)
    tiring.each = 0.003  # 25 s for the next call
    target.ask(HISTOGRAM, 8192)
    target.ask(HISTOGRAM, 8192)
    assert max(target.parts) * tiring.each < TIMEOUT / 2


def test_a_wrong_part_is_named_by_its_own_size(monkeypatch) -> None:
    class TooFew(Clocked):
        def ask(self, histogram, size):
            labels = super().ask(histogram, size)
            return labels if size < 100 else labels[1:]

    target = PacedTarget(TooFew(monkeypatch), TIMEOUT)
    with pytest.raises(TargetError, match=r"size=256\) .* shape \(255,\)"):
        target.ask(HISTOGRAM, 8192)


def test_one_part_of_words_does_not_spoil_the_others(monkeypatch) -> None:
    """numpy joins numbers and texts to texts: each part is looked at alone."""

    class Words(Clocked):
        def ask(self, histogram, size):
            return ["0"] * size if self.calls else super().ask(histogram, size)

    with pytest.raises(TargetError, match=r"size=256\).*labels of type"):
        PacedTarget(Words(monkeypatch), TIMEOUT).ask(HISTOGRAM, 8192)


def test_a_budget_that_ends_amid_the_parts_says_how_many_were_answered(monkeypatch) -> None:
    class Budgeted(Clocked):
        def ask(self, histogram, size):
            if self.answered + size > 1000:
                raise BudgetExhausted("spent")
            return super().ask(histogram, size)

    target = PacedTarget(Budgeted(monkeypatch), TIMEOUT)
    with pytest.raises(BudgetExhausted):
        target.ask(HISTOGRAM, 8192)
    assert target.parts == (32, 256)
