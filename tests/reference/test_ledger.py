"""The ledger: charges on disk before release, whoever writes, and whatever crashed."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from dpassay.reference import (
    BudgetExhausted,
    ConfidentGNMax,
    Gaussian,
    InteractiveGNMax,
    NoisyArgmax,
)
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.ledger import Ledger

GNMAX = NoisyArgmax(Gaussian(40.0))
CONFIDENT = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def open_ledger(path, mechanism=GNMAX, budget=5.0):
    return Ledger(path, mechanism, delta=1e-5, budget=budget)


def epsilon(queries, cost=ORDERS / 1600):
    return to_epsilon(ORDERS, queries * cost, 1e-5).epsilon


def test_spent_is_the_data_independent_cost(path) -> None:
    ledger = open_ledger(path)
    assert ledger.spent == 0
    ledger.charge()
    ledger.charge(answered=9)
    assert ledger.spent == pytest.approx(epsilon(10), rel=1e-12)


def test_refused_queries_cost_their_test_alone(path) -> None:
    ledger = open_ledger(path, CONFIDENT)
    ledger.charge(answered=0, refused=50)
    assert ledger.spent == pytest.approx(epsilon(50, ORDERS / (2 * 150.0**2)), rel=1e-12)


def test_the_budget_is_never_exceeded_and_used_to_the_last(path) -> None:
    ledger = open_ledger(path, budget=2.0)
    fits = ledger.remaining()
    assert epsilon(fits) <= 2.0 < epsilon(fits + 1)
    ledger.charge(fits - 1)
    assert ledger.remaining() == 1
    with pytest.raises(BudgetExhausted, match="would exceed 2"):
        ledger.charge(2)
    ledger.charge()
    before = path.read_bytes()
    with pytest.raises(BudgetExhausted):
        ledger.charge()
    assert path.read_bytes() == before


def test_exhaustion_tells_no_outcome(path) -> None:
    """Where a refusal would fit and an answer would not, raising for answers alone would tell
    which it was: of draws without number, at no charge."""
    mechanism = ConfidentGNMax(Gaussian(1.0), 250.0, Gaussian(20.0))
    ledger = open_ledger(path, mechanism, budget=8.0)
    test = ORDERS / (2 * 20.0**2)
    assert epsilon(1, test) < epsilon(1, test + ORDERS) <= 8.0
    ledger.charge()
    assert epsilon(1, ORDERS + 2 * test) <= 8.0 < epsilon(2, test + ORDERS)
    messages = []
    for outcome in ((1, 0), (0, 1)):
        with pytest.raises(BudgetExhausted) as raised:
            ledger.charge(*outcome)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    assert ledger.remaining() == 0


def test_a_restart_forgets_nothing(path) -> None:
    open_ledger(path).charge(7)
    assert open_ledger(path).spent == pytest.approx(epsilon(7))


def test_what_a_crash_tore_is_charged(path) -> None:
    """The last line half-written, then more charges: nothing is lost, nothing runs together."""
    open_ledger(path).charge(7)
    with path.open("ab") as file:
        file.write(b'{"answered": 1, "ref')
    ledger = open_ledger(path)
    assert ledger.spent == pytest.approx(epsilon(8))
    ledger.charge(2)
    assert open_ledger(path).spent == pytest.approx(epsilon(10))


def test_a_new_file_is_kept_in_its_folder(path, monkeypatch) -> None:
    """The folder is synced once, when the file is made; without it a crash may lose the file."""
    synced, fsync = [], os.fsync

    def watched(number):
        synced.append((os.fstat(number).st_dev, os.fstat(number).st_ino))
        fsync(number)

    monkeypatch.setattr(os, "fsync", watched)
    ledger = open_ledger(path)
    ledger.charge()
    file, folder = ((p.stat().st_dev, p.stat().st_ino) for p in (path, path.parent))
    assert synced == [file, folder, file]


def test_threads_and_ledgers_share_a_file(path) -> None:
    ledgers = [open_ledger(path) for _ in range(3)]

    def spend(ledger):
        for _ in range(20):
            ledger.charge()

    threads = [threading.Thread(target=spend, args=(ledgers[i % 3],)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledgers[0].spent == pytest.approx(epsilon(120))


SPEND = """
import sys
from dpassay.reference import BudgetExhausted, Gaussian, NoisyArgmax
from dpassay.reference.accounting.ledger import Ledger

ledger, charged = Ledger(sys.argv[1], NoisyArgmax(Gaussian(40.0)), delta=1e-5, budget=0.5), 0
try:
    while True:
        ledger.charge()
        charged += 1
except BudgetExhausted:
    print(charged)
"""


@pytest.mark.slow("over half a second")
def test_processes_together_do_not_overspend(path) -> None:
    """Three at once get as many answers in all as one alone would."""
    alone = open_ledger(path, budget=0.5).remaining()
    command = [sys.executable, "-c", SPEND, str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    charged = [int(process.communicate(timeout=120)[0]) for process in running]
    assert sum(charged) == alone
    assert open_ledger(path, budget=0.5).spent <= 0.5


def test_the_file_is_append_only(path) -> None:
    ledger = open_ledger(path)
    seen = path.read_bytes()
    for _ in range(5):
        ledger.charge()
        now = path.read_bytes()
        assert now.startswith(seen)
        seen = now
    assert json.loads(seen.split(b"\n")[1]) == {"answered": 1, "refused": 0}


def test_a_student_that_learns_keeps_its_ledger_and_pays_for_teachers_alone(path) -> None:
    """Catches a ledger that tells one prediction from another, or charges confirmed labels."""
    first = InteractiveGNMax(Gaussian(40.0), 50.0, Gaussian(150.0), (0.5, 0.5), 250.0, 0.9)
    open_ledger(path, first).charge(answered=3, refused=40)
    later = open_ledger(path, replace(first, prediction=(0.99, 0.01)))
    cost = 43 * ORDERS / (2 * 150.0**2) + 3 * ORDERS / 40.0**2
    assert later.spent == pytest.approx(to_epsilon(ORDERS, cost, 1e-5).epsilon, rel=1e-12)
    with pytest.raises(ValueError, match="a ledger of"):
        open_ledger(path, replace(first, threshold_noise=Gaussian(151.0)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: open_ledger(path, "gnmax"), "a ledger is not known for it"),
        (lambda path: Ledger(path, GNMAX, delta=0.0, budget=1.0), "delta 0: expected"),
        (lambda path: Ledger(path, GNMAX, delta=0.1, budget=0.0), "budget 0: expected"),
        (lambda path: open_ledger(path).charge(-1), "-1 answered, 0 refused"),
        (lambda path: open_ledger(path).charge(0, 1), "refuses no query"),
    ],
)
def test_what_it_does_not_know_is_refused(path, make, message) -> None:
    with pytest.raises(ValueError, match=message):
        make(path)


def test_a_file_of_something_else_is_refused_and_left_alone(path) -> None:
    open_ledger(path).charge()
    with pytest.raises(ValueError, match="a ledger of"):
        open_ledger(path, NoisyArgmax(Gaussian(80.0)))
    path.write_text("not a ledger\n")
    with pytest.raises(ValueError, match="not a ledger"):
        open_ledger(path)
    assert path.read_text() == "not a ledger\n"
