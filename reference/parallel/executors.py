"""Where long work is done: in this process, in threads, in other processes, on a Dask cluster.

Each is a `concurrent.futures.Executor`, so that `workers.carried_out` does not know which.
"""

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Literal

Kind = Literal["threads", "processes"]

_EACH = 4  # parts in flight of a worker: it finds the next one there as it ends one
_REACHED = 10.0  # seconds in which a cluster must answer, and have a worker
_ALONE = 60.0  # seconds that a cluster may be without any worker: some are started anew
_LOOK = 1.0  # seconds between looks at a cluster's workers


class WorkersError(RuntimeError):
    """Workers that cannot be had, or were lost too often; of one line, for the user."""


class Workers(Executor):
    """An executor that says how much it wants at a time, and whether anybody is there to work."""

    ahead = 1
    """Parts in flight at most."""

    def check(self) -> None:
        """Raises WorkersError where waiting is in vain."""

    def meant(self, error: Exception) -> Exception:
        """What an error of a part means, in a line, where it is of the workers and not its own."""
        return error


class Here(Workers):
    """Works at once, in the calling thread: one process, and no workers."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Done when it returns; an interrupt passes through."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Threads(ThreadPoolExecutor, Workers):
    """Threads of this process: for work that numpy does without Python's lock."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.ahead = _EACH * workers


class Processes(Workers):
    """Spawned processes; where one was lost, and its pool with it, the next part gets a new pool.

    Ctrl-C at a terminal reaches them as well, and ends them at once and in silence.
    """

    def __init__(self, workers: int) -> None:
        self._workers, self.ahead = workers, _EACH * workers
        self._pool = self._fresh()

    def _fresh(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._workers,
            mp_context=get_context("spawn"),  # a fork would copy generators and locks
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_DFL),
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submits as any executor does, and is not refused because a worker was lost."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self._pool.shutdown()
            self._pool = self._fresh()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shuts down as any executor does."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


class Cluster(Workers):
    """The workers of a Dask scheduler. It repeats by itself what a lost worker was doing.

    address: such as tcp://host:8786. Raises WorkersError where no scheduler with a worker answers
    there, ModuleNotFoundError where `distributed` is not installed.
    """

    def __init__(self, address: str) -> None:
        from distributed import Client

        self.address = address
        try:
            with ThreadPoolExecutor(1) as apart:  # the caller's thread may have a loop of its own
                apart.submit(lambda: asyncio.run(_identity(address))).result()
            self._client = Client(address, timeout=_REACHED, set_as_default=False)
        except Exception as error:  # of many kinds, by what is wrong with the address
            raise WorkersError(
                f"--dask {address!r}: no Dask scheduler answers there ({_first_line(error)}): "
                "expected the address of one, such as tcp://127.0.0.1:8786"
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=_REACHED)
        except TimeoutError:
            self._client.close()
            raise WorkersError(
                f"--dask {address!r}: the scheduler has no workers: start some with "
                f"`dask worker {address}`"
            ) from None
        self.ahead = _EACH * max(1, sum(self._client.nthreads().values()))
        self._executor = self._client.get_executor(pure=False)
        self._log = logging.getLogger("distributed.client")
        self._level = self._log.level
        self._log.setLevel(logging.CRITICAL + 1)  # what is lost, we say in a line
        self._looked = self._seen = time.monotonic()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submits as any executor does. Raises WorkersError where the scheduler is gone."""
        if self._client.status != "running":
            raise self._gone()
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def check(self) -> None:
        """Raises WorkersError where the scheduler is gone, or has had no worker for a minute."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        if self._client.status != "running":
            raise self._gone()
        try:
            if self._client.nthreads():
                self._seen = now
        except Exception:
            raise self._gone() from None
        if now - self._seen > _ALONE:
            raise WorkersError(
                f"--dask {self.address!r}: all workers are gone, for {_ALONE:g} seconds"
            )

    def meant(self, error: Exception) -> Exception:
        """A part whose workers were lost again and again, or one that they cannot read."""
        if type(error).__name__ == "KilledWorker":  # it has counted by itself
            return lost_too_often(error.args[2] + 1)
        if isinstance(error, ModuleNotFoundError):
            missing = f"a worker has no {error.name}"
        elif str(error).startswith("Error during deserialization"):
            missing = "the scheduler or a worker cannot read the work"
        else:
            return error
        return WorkersError(
            f"--dask {self.address!r}: {missing}: install there what is installed here"
        )

    def _gone(self) -> WorkersError:
        return WorkersError(f"--dask {self.address!r}: the scheduler does not answer any more")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster as it was found, without what was asked of it and is not done."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()
        self._log.setLevel(self._level)


@contextmanager
def open_executor(
    workers: int | None = None, dask: str | None = None, kind: Kind = "processes"
) -> Iterator[Workers]:
    """The executor for so many workers, or for a Dask cluster; without either, this process.

    workers: how many threads or spawned processes of this machine; dask: a scheduler's address,
    such as tcp://host:8786, whose workers have the same version of dpassay. What has not begun is
    cancelled at the end. Raises WorkersError of one line, ValueError for what makes no sense.
    """
    if workers is not None and dask is not None:
        raise ValueError("--workers and --dask: give one or the other")
    if workers is not None and workers < 1:
        raise ValueError(f"--workers {workers}: expected a whole number from 1")
    executor: Workers
    if dask is not None:
        executor = Cluster(dask)
    elif workers is None:
        executor = Here()
    else:
        executor = Threads(workers) if kind == "threads" else Processes(workers)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def lost_too_often(times: int) -> WorkersError:
    """What to say of a part that no worker lives to end."""
    return WorkersError(
        f"a worker was lost {times} times over the same part of the work: killed, "
        "perhaps for want of memory"
    )


async def _identity(address: str) -> None:
    """Raises where what answers is no scheduler.

    Asked before there is a client: one that could not connect takes long to go, and is loud.
    """
    from distributed.core import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=_REACHED, connection_args=arguments) as there:
        kind = (await asyncio.wait_for(there.identity(), _REACHED))["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind.lower()} does")


def _first_line(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"nothing within {_REACHED:g} seconds"
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
