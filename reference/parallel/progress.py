"""How far long work has come, on stderr: a bar at a terminal, a line a minute elsewhere."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

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
