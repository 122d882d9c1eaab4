"""Services with several workers, asked over parallel connections and judged in the order asked."""

import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from http_server import Server, replying
from runs import result
from small import small_claim

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.claims.open_target import in_process, open_claimed
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import TargetError, open_target
from dpassay.verifiers.targets.http import HttpTarget

SERVICE = Path(__file__).parents[1] / "forked_service.py"
HISTOGRAM = np.array([20, 10, 6, 4])


@contextmanager
def service(kind, folder, workers=4):
    """The address of a service whose workers are forked after it has seeded."""
    words = [sys.executable, str(SERVICE), kind, str(workers), str(folder)]
    with subprocess.Popen(words) as running:
        try:
            while not (folder / "port").exists():
                assert running.poll() is None
                time.sleep(0.02)
            yield f"http://127.0.0.1:{(folder / 'port').read_text()}"
        finally:
            running.terminate()


def run(address, at_once=8, name="gnmax", **gate):
    claim = small_claim(name, gate={"concurrency": at_once, **gate})
    target = open_claimed(address, claim)
    try:
        return verify(target, claim, seed=0)
    finally:
        target.close()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "kind", ["alike", pytest.param("by-time", marks=pytest.mark.slow("a seed in common too"))]
)
def test_workers_with_one_generator_are_found_at_once(kind, tmp_path) -> None:
    """Within the first calls: each worker gives the same labels first. Sound at 1e-6 too."""
    with service(kind, tmp_path) as address:
        report = run(address, false_alarm=1e-6)
    fresh = result(report, "fresh-noise")
    assert fresh.verdict == "fail"
    assert report.found_after <= 2000


@pytest.mark.slow("a whole run behind HTTP")
def test_workers_with_generators_of_their_own_pass(tmp_path) -> None:
    with service("own", tmp_path) as address:
        assert run(address).verdict == "pass"


@pytest.mark.slow("a whole run behind HTTP")
def test_refusals_that_end_sooner_accuse_nobody(tmp_path) -> None:
    """Labels taken as they arrive would have the refusals first."""
    with service("slow-answers", tmp_path) as address:
        report = run(address, name="confident-gnmax", smallest_effect=0.3, tolerance=0.5)
    assert report.verdict == "pass", [check.message for check in report.checks]


@pytest.fixture
def served():
    servers = []

    def start(handle):
        servers.append(Server(handle))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


class Counting:
    """Answers with labels of the call's size; the more calls came before, the sooner."""

    def __init__(self):
        self.lock, self.flying, self.most, self.seen = threading.Lock(), 0, 0, 0

    def __call__(self, handler):
        with self.lock:
            self.seen, self.flying = self.seen + 1, self.flying + 1
            self.most = max(self.most, self.flying)
            pause = max(0.0, 0.3 - 0.05 * self.seen)
        size = handler.content["size"]
        time.sleep(pause)
        with self.lock:
            self.flying -= 1
        replying({"labels": [size % 4] * size})(handler)


def test_replies_stand_in_the_order_of_the_calls(served) -> None:
    handle = Counting()
    target = HttpTarget(served(handle).url, 5.0, at_once=3)
    found = target.ask_each([(HISTOGRAM, size) for size in [1, 2, 3, 1, 2]])
    target.close()
    assert found == [[1], [2, 2], [3, 3, 3], [1], [2, 2]]
    assert handle.most == 3


def test_the_first_failure_in_order_is_raised(served) -> None:
    """Whichever came first: a run must not depend on it."""

    def handle(handler):
        if handler.content["size"] == 2:
            time.sleep(0.2)
            return replying({"error": "spent"}, 429)(handler)
        return replying({"error": "broken"}, 500)(handler)

    target = HttpTarget(served(handle).url, 5.0, at_once=2)
    with pytest.raises(BudgetExhausted):
        target.ask_each([(HISTOGRAM, size) for size in [2, 3]])
    with pytest.raises(TargetError, match=r"size=3\) .*status 500: "):
        target.ask_each([(HISTOGRAM, size) for size in [3, 2]])
    target.close()


def test_calls_beyond_a_limit_of_rate_are_made_again(served) -> None:
    """Only those that were refused; the others drew their labels."""
    asked = []

    def handle(handler):
        size = handler.content["size"]
        asked.append(size)
        if asked.count(size) == 1 and size > 2:
            return replying({}, 429, **{"Retry-After": "0"})(handler)
        return replying({"labels": [0] * size})(handler)

    target = open_target(served(handle).url, 5.0, at_once=4)
    target.ask(HISTOGRAM, 4)  # so that its size is known to be allowed
    asked.clear()
    found = target.ask_each([(HISTOGRAM, size) for size in [1, 2, 3, 4]])
    target.close()
    assert [labels.size for labels in found] == [1, 2, 3, 4]
    assert target.parts == (1, 2, 3, 4)
    assert sorted(asked) == [1, 2, 3, 3, 4, 4]


def test_no_call_is_begun_after_one_has_failed(served) -> None:
    """Those in flight come to their end; what is left would only wait, or draw for nothing."""

    def handle(handler):
        time.sleep(0.1)
        replying({"error": "broken"}, 500)(handler)

    server = served(handle)
    target = HttpTarget(server.url, 5.0, at_once=3)
    with pytest.raises(TargetError, match="HTTP status 500"):
        target.ask_each([(HISTOGRAM, size) for size in [1] * 40])
    target.close()
    assert len(server.asked) == 3


@pytest.mark.slow("over half a second")
def test_a_limit_of_rate_holds_back_what_is_still_to_be_sent(served) -> None:
    """Four calls per turn of the clock: no more than what was in flight is asked in vain."""
    begun = []

    def handle(handler):
        begun.append(None)
        if len(begun) % 6 in (5, 0):
            return replying({}, 429, **{"Retry-After": "0"})(handler)
        return replying({"labels": [0]})(handler)

    target = HttpTarget(served(handle).url, 5.0, at_once=2)
    assert target.ask_each([(HISTOGRAM, size) for size in [1] * 40]) == [[0]] * 40
    target.close()
    assert len(begun) <= 64


@pytest.mark.slow("over half a second")
def test_the_opening_keeps_to_the_budget(tmp_path) -> None:
    with service("own", tmp_path) as address:
        assert run(address, at_once=64, max_queries=300).queries <= 300


@pytest.mark.parametrize("spec", ["exec:true", "aggregator.py:aggregate"])
def test_what_has_no_connections_is_misuse(spec) -> None:
    claim = small_claim(gate={"concurrency": 8})
    with pytest.raises(TargetError, match=r"concurrency = 8 .*\[gate\].*http://") as error:
        open_claimed(spec, claim)
    assert "\n" not in str(error.value)
    with pytest.raises(TargetError, match=r"concurrency = 8 in \[gate\]"):
        in_process(lambda histogram, size: [0] * size, claim)
