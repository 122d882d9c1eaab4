"""Arrays that long work has made, kept on disk as they come, so that a run is taken up again."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .progress import shown
from .workers import carried_out


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
