"""An interrupt that arrives while Python collects garbage is noticed all the same."""

import gc
import signal
import sys

import pytest

from dpassay.verifiers.interrupts import remembered_interrupts


def test_an_interrupt_lost_in_the_garbage_collector_is_raised_later(monkeypatch):
    """With Python's own handler the run would go on as if nothing had been pressed."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    def collecting(phase, info):
        if phase == "start":
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with remembered_interrupts() as check:
        check()
        gc.callbacks.append(collecting)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(collecting)
        assert told == []
        with pytest.raises(KeyboardInterrupt):
            check()
    assert signal.getsignal(signal.SIGINT) is before
    assert sys.unraisablehook == told.append


def test_an_interrupt_is_raised_at_once_where_it_can_be():
    with remembered_interrupts(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
