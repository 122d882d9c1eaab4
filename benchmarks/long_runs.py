"""Long benchmarks: parts shared by the cores, results kept as they come, a run taken up again."""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

import dpassay

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".benchmarks"
"""Where results are kept; git leaves it out."""

LINE_SECONDS = 60.0

Part = Sequence[str | int | float]


def carried_out(
    work: Callable[..., Any], parts: Sequence[Part], name: str, processes: int
) -> list[Any]:
    """What `work(*part)` gives for each part, in their order; none is done twice.

    work: a function of a module, with arguments and a result that JSON has. name: that of the file
    in which results are kept, beside the sources that gave them: other sources begin anew.
    """
    path = KEPT / f"{name}.jsonl"
    done = kept_results(path)
    left = [part for part in parts if json.dumps(part) not in done]
    with path.open("a") as file:
        for part, result in shown(shared(work, left, processes), len(left), name):
            done[json.dumps(part)] = result
            file.write(json.dumps({"part": part, "result": result}) + "\n")
            file.flush()
    return [done[json.dumps(part)] for part in parts]


def kept_results(path: Path) -> dict[str, Any]:
    """Results of an earlier run of the same sources; those of others are removed.

    So is what a run that was killed left half-written, without the end of its line.
    """
    head = json.dumps({"sources": sources()})
    text = path.read_text() if path.exists() else ""
    lines = text[: text.rfind("\n") + 1].splitlines()
    if lines[:1] != [head]:
        lines = [head]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    if lines[1:]:
        print(f"{len(lines) - 1:,} parts are taken from {path}", file=sys.stderr)
    return {json.dumps(line["part"]): line["result"] for line in map(json.loads, lines[1:])}


def sources() -> str:
    """A fingerprint of what is measured: the package as installed, the zoo, the benchmarks."""
    sums = hashlib.sha256()
    for folder in (*map(Path, dpassay.__path__), ROOT / "tests" / "zoo", ROOT / "benchmarks"):
        for path in sorted(folder.rglob("*.py")):
            sums.update(path.read_bytes())
    return sums.hexdigest()[:16]


def shared(
    work: Callable[..., Any], parts: Sequence[Part], processes: int
) -> Iterator[tuple[Part, Any]]:
    """Parts with their results, as they are ready; Ctrl-C waits for none that has not begun."""
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        parts_of = {pool.submit(work, *part): part for part in parts}
        for ready in as_completed(parts_of):
            yield parts_of[ready], ready.result()
    finally:
        pool.shutdown(cancel_futures=True)


def shown(results: Iterable[Any], total: int, name: str) -> Iterator[Any]:
    """The same; a bar with the time left at a terminal, elsewhere one line per minute."""
    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(results, name, total=total, console=console)
        return
    began = told = time.monotonic()
    for place, result in enumerate(results, 1):
        yield result
        now = time.monotonic()
        if now - told >= LINE_SECONDS or place == total:
            told, left = now, (now - began) / place * (total - place)
            said = f"{name}: {place:,} of {total:,} parts in {now - began:,.0f} s"
            print(f"{said}, about {left:,.0f} s left", file=sys.stderr, flush=True)
