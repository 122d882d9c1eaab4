"""A long piece of work in parts, over any executor: each part once, whoever does it.

What a part is does not depend on who does it: its size is fixed, and its random numbers are its
own (`stream`). So the result is the same with any number of workers, and with one that was lost.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from .executors import Kind, Workers, WorkersError, lost_too_often, open_executor

__all__ = ["Kind", "WorkersError", "carried_out", "open_executor", "stream"]

MOST_LOSSES = 3
"""Times that a part may be lost with its worker, as on Dask: then it may be what ends them."""

AHEAD = 64
"""Parts in flight at most, of an executor that does not say."""

_SHORTEST, _LONGEST = 0.0002, 0.005  # seconds between looks at what is in flight


@dataclass
class _Part:
    number: int
    arguments: Sequence[Any]
    losses: int = 0


def carried_out(
    work: Callable[..., Any],
    parts: Iterable[Sequence[Any]],
    executor: Executor,
    *,
    ahead: int | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """`(number, work(*part))` of each part, once each, as they are ready; numbers count from 0.

    work: a function of a module, where the executor is not of this process; parts: taken as there
    is room for them; executor: any of `concurrent.futures`, also Dask's; ahead: parts in flight at
    most. A part whose worker was lost is done again. What has not begun is cancelled at the end, an
    error or an interrupt among them. Raises what `work` raises, and WorkersError where workers are
    lost again and again.
    """
    ahead = ahead or (executor.ahead if isinstance(executor, Workers) else AHEAD)
    waiting = (_Part(number, part) for number, part in enumerate(parts))
    lost: deque[_Part] = deque()
    flight: dict[Future[Any], _Part] = {}
    try:
        while True:
            while len(flight) < ahead:
                part = lost.popleft() if lost else next(waiting, None)
                if part is None:
                    break
                flight[_submitted(executor, work, part)] = part
            if not flight:
                return
            for future in _ready(flight, executor):
                part = flight.pop(future)
                try:
                    result = future.result()
                except (BrokenExecutor, CancelledError):
                    lost.append(_once_more(part))
                    continue
                except Exception as error:
                    if isinstance(executor, Workers) and (meant := executor.meant(error)) != error:
                        raise meant from None
                    raise
                yield part.number, result
    finally:
        for future in flight:
            future.cancel()


def stream(seed: int | Sequence[int], part: int) -> np.random.Generator:
    """The random numbers of a part: independent of those of others, whoever draws them.

    By numpy's `SeedSequence(seed, spawn_key=(part,))`.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(part,)))


def _submitted(executor: Executor, work: Callable[..., Any], part: _Part) -> Future[Any]:
    try:
        return executor.submit(work, *part.arguments)
    except BrokenExecutor as error:
        raise WorkersError(f"a worker was lost, and there is no other: {error}") from None


def _ready(flight: dict[Future[Any], _Part], executor: Executor) -> list[Future[Any]]:
    """The parts in flight that are done, at least one.

    Asked one by one: `concurrent.futures.as_completed` has failed on Dask's (distributed#3695).
    """
    pause = _SHORTEST
    while not (done := [future for future in flight if future.done()]):
        time.sleep(pause)
        pause = min(2.0 * pause, _LONGEST)
        if isinstance(executor, Workers):
            executor.check()
    return done


def _once_more(part: _Part) -> _Part:
    part.losses += 1
    if part.losses > MOST_LOSSES:
        raise lost_too_often(part.losses)
    return part
