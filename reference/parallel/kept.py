"""Arrays that long work has made, kept on disk as they come, so that a run is taken up again."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .workers import carried_out

LINE_SECONDS = 60.0

Result = TypeVar("Result")


def shown(results: Iterable[Result], total: int, name: str) -> Iterator[Result]:
    """Yields the results, with a progress bar at a terminal, elsewhere one line per minute."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(results, name, total=total, console=console, transient=True)
        return
    began = last_line = time.monotonic()
    for place, result in enumerate(results, 1):
        yield result
        now = time.monotonic()
        if now - last_line >= LINE_SECONDS:
            last_line, left = now, (now - began) / place * (total - place)
            message = f"{name}: {place:,} of {total:,} parts in {now - began:,.0f} s"
            with contextlib.suppress(OSError):  # a broken stderr is no reason to end
                print(f"{message}, about {left:,.0f} s left", file=sys.stderr, flush=True)


def kept_arrays(
    work: Callable[[Any], NDArray[Any]],
    part: Callable[[int], Any],
    paths: Sequence[Path | None],
    executor: Executor,
    name: str,
) -> list[NDArray[Any]]:
    """`work(part(i))` for each path, in their order; what a path holds already is not done anew.

    work: a function of a module; part: makes its argument when it is needed; paths: of .npy files,
    None where nothing is kept; name: for the bar that says how far it is.
    """
    found = {i: kept for i, path in enumerate(paths) if (kept := kept_array(path)) is not None}
    left = [i for i in range(len(paths)) if i not in found]
    parts = ((part(i),) for i in left)
    for number, made in shown(carried_out(work, parts, executor), len(left), name):
        i = left[number]
        found[i] = made
        if (path := paths[i]) is not None:
            file = BytesIO()
            np.save(file, made)
            keep(path, file.getvalue())
    return [found[i] for i in range(len(paths))]


def kept_array(path: Path | None) -> NDArray[Any] | None:
    """What was kept there; None where nothing was, or a file that a full disk left in pieces."""
    if path is None or not path.exists():
        return None
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError):
        return None


def keep(path: Path, content: bytes) -> None:
    """Whole or not at all: a run that is killed leaves no half of a file under its name."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def kept_folder(folder: Path) -> None:
    """Makes the folder where it is missing. Raises ValueError of one line where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"{folder.parent}: no folder to keep votes in: {error.strerror}"
        ) from error
