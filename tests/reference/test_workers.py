"""Work in parts: each once, whoever does it, and whoever is lost over it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parted import drawn, slowly

from dpassay.attacks.auditing import counts_of_laws, counts_of_runs
from dpassay.reference.parallel import executors
from dpassay.reference.parallel.workers import WorkersError, carried_out, open_executor, stream

SIZE, BLOCK = 2350, 100  # the last block is a part of one
ABSENT = "Dask is not installed: pip install distributed"


def counted(executor=None):
    counts = counts_of_runs(drawn, SIZE, 7, executor, block=BLOCK)
    return counts.here.tolist(), counts.there.tolist()


def killed_midway(executor, parts, seconds):
    """Whether all parts come, once each, where the first worker that is seen is killed at once."""
    found, by, killed = {}, [], None
    work = carried_out(slowly, ((number, seconds) for number in range(parts)), executor)
    for number, (value, worker) in work:
        assert number not in found
        found[number] = value
        by.append(worker)
        if killed is None:
            killed = worker
            os.kill(killed, signal.SIGKILL)
    assert set(by) - {killed}
    assert by.count(killed) < parts / 2
    return found == {number: number**2 for number in range(parts)}


@pytest.mark.parametrize("workers", [1, 2])
def test_threads_count_what_one_process_counts(workers) -> None:
    """Catches a stream that is shared, and a rest that is left out."""
    here, there = counted()
    assert sum(here) == sum(there) == SIZE
    with open_executor(workers, kind="threads") as executor:
        assert counted(executor) == (here, there)


@pytest.mark.slow("starts and kills processes; threads count the same")
def test_processes_count_what_one_process_counts_and_one_may_be_killed() -> None:
    """Catches a pool that is broken for good, parts that were in it and are lost, or come twice."""
    with open_executor(2) as executor:
        assert counted(executor) == counted()
        assert killed_midway(executor, 30, 0.03)


def test_a_part_that_ends_its_workers_ends_the_work_with_one_line() -> None:
    with open_executor(1) as executor, pytest.raises(WorkersError) as told:
        list(carried_out(os._exit, [(1,)], executor))
    assert "lost 4 times" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a Dask scheduler with two workers of one thread, which nobody restarts."""
    dask = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install distributed"
    )
    folder = tmp_path_factory.mktemp("dask")
    contact, tests = folder / "scheduler.json", str(Path(__file__).parents[1])
    paths = [tests, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    common = ["--no-dashboard", "--scheduler-file", str(contact)]
    one = [*common, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    local = ["--host", "127.0.0.1", "--port", "0"]
    started = [("scheduler", [*common, *local]), ("worker", one), ("worker", one)]
    with (folder / "log").open("w") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments],
                env=environment,
                stdout=log,
                stderr=log,
            )
            for what, arguments in started
        ]
    try:
        address = _address(contact)
        with dask.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _address(contact):
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        if contact.exists() and (text := contact.read_text()).endswith("}"):
            return json.loads(text)["address"]
        time.sleep(0.05)
    raise TimeoutError("the scheduler did not start")


@pytest.mark.slow("starts a cluster; processes do the same")
def test_a_dask_cluster_counts_what_one_process_counts_and_one_worker_may_be_killed(
    cluster,
) -> None:
    with open_executor(dask=cluster) as executor:
        assert counted(executor) == counted()
        assert killed_midway(executor, 60, 0.03)


@pytest.mark.slow("over half a second")
def test_what_is_no_scheduler_is_said_in_one_line(monkeypatch) -> None:
    """A wrong address, and one where nothing answers, at once where nothing ever will."""
    pytest.importorskip("distributed", reason=ABSENT)
    monkeypatch.setattr(executors, "_REACHED", 0.3)
    for address in ("nonsense", "http://127.0.0.1:8786", "tcp://127.0.0.1:1"):
        with pytest.raises(WorkersError) as told, open_executor(dask=address):
            pass
        message = str(told.value)
        assert message.startswith(f"--dask {address!r}: ")
        assert "no Dask scheduler" in message
        assert message.endswith(" tcp://127.0.0.1:8786")
        assert "\n" not in message


def test_without_distributed_its_name_is_told(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ModuleNotFoundError) as told, open_executor(dask="tcp://127.0.0.1:1"):
        pass
    assert told.value.name == "distributed"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": 2, "dask": "tcp://127.0.0.1:1"}, "give one or the other"),
        ({"workers": 0}, "--workers 0: expected a whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said) -> None:
    with pytest.raises(ValueError, match=said), open_executor(**options):
        pass


class Recorded(Executor):
    """Does a part when it is looked at; the first so many attempts at some parts are lost."""

    def __init__(self, losses=0, error=BrokenExecutor) -> None:
        self.left, self.error = losses, error
        self.flight, self.most = 0, 0

    def submit(self, fn, /, *arguments, **options):
        self.flight += 1
        self.most = max(self.most, self.flight)
        executor = self

        class Lazy(Future[Any]):
            def done(self):
                if not super().done():
                    executor.flight -= 1
                    if executor.left and arguments[0] == 4:
                        executor.left -= 1
                        self.set_exception(executor.error("lost"))
                    else:
                        self.set_result(fn(*arguments))
                return True

        return Lazy()


def test_no_more_parts_are_taken_than_may_be_in_flight() -> None:
    """Catches a future for every part before the first is done: there may be a million."""
    taken = []

    def parts():
        for number in range(2000):
            taken.append(number)
            yield (number,)

    executor = Recorded()
    work = carried_out(lambda number: -number, parts(), executor, ahead=5)
    first = next(work)
    assert first == (0, 0)
    assert len(taken) == executor.most == 5
    assert dict(work) == {number: -number for number in range(1, 2000)}
    assert executor.most == 5


@pytest.mark.parametrize(("losses", "error"), [(1, BrokenExecutor), (3, CancelledError)])
def test_a_lost_part_is_done_again(losses, error) -> None:
    """Cancelled by others, as Dask does where its scheduler was restarted, is lost as well."""
    found = list(carried_out(abs, ((n,) for n in range(20)), Recorded(losses, error), ahead=3))
    assert sorted(found) == [(n, n) for n in range(20)]


def test_a_part_that_is_always_lost_is_given_up() -> None:
    with pytest.raises(WorkersError, match="lost 4 times"):
        list(carried_out(abs, ((n,) for n in range(20)), Recorded(4), ahead=3))


def test_an_executor_that_cannot_go_on_ends_the_work_with_one_line() -> None:
    class Broken(Executor):
        def submit(self, fn, /, *arguments, **options):
            raise BrokenExecutor("a child process terminated abruptly")

    with pytest.raises(WorkersError, match=r"worker.*lost.*: a child"):
        list(carried_out(abs, [(1,)], Broken()))


@pytest.mark.parametrize("workers", [None, 2])
def test_an_error_of_a_part_is_its_own(workers) -> None:
    with open_executor(workers, kind="threads") as executor, pytest.raises(ZeroDivisionError):
        list(carried_out(divmod, [(1, 1), (1, 0)], executor))


def test_what_has_not_begun_is_cancelled() -> None:
    """As Ctrl-C ends the work: catches parts that are all done before it can end."""
    began, go = [], threading.Event()

    def part(number):
        began.append(number)
        if number:
            go.wait(30.0)
        return number

    with ThreadPoolExecutor(1) as executor:
        work = carried_out(part, ((number,) for number in range(50)), executor, ahead=10)
        assert next(work) == (0, 0)
        work.close()
        go.set()
    assert began in ([0], [0, 1])


def test_streams_are_those_of_numpys_spawned_sequences() -> None:
    spawned = np.random.SeedSequence(7).spawn(3)
    for part, sequence in enumerate(spawned):
        assert stream(7, part).random() == np.random.default_rng(sequence).random()


def test_known_laws_are_drawn_in_any_number_each_in_its_world() -> None:
    """Catches worlds that change places, and memory that grows with the number."""
    counts = counts_of_laws([[0.0, 1.0], [1.0, 0.0]], 10**12, stream(1, 0))
    assert counts.here.tolist() == [0, 10**12]
    assert counts.there.tolist() == [10**12, 0]


@pytest.mark.parametrize(
    ("laws", "size", "said"),
    [
        ([[0.5, 0.5]], 10, r"shape \(1, 2\)"),
        ([[0.5, 0.4], [0.5, 0.5]], 10, "sum to"),
        ([[1.5, -0.5], [0.5, 0.5]], 10, "least -0.5"),
        ([[0.5, 0.5], [0.5, 0.5]], 0, "0 experiments: expected from 1"),
    ],
)
def test_what_is_no_law_is_refused(laws, size, said) -> None:
    with pytest.raises(ValueError, match=said):
        counts_of_laws(laws, size, stream(1, 0))
