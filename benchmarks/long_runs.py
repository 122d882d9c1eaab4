"""Long benchmarks: parts shared by the cores, results kept as they come, a run taken up again."""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import dpassay
from dpassay.reference.parallel.kept import shown
from dpassay.reference.parallel.workers import WorkersError, open_executor
from dpassay.reference.parallel.workers import carried_out as parts_carried_out

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".benchmarks"
"""Where results are kept; git leaves it out."""

DATA = Path(os.environ.get("DPASSAY_DATA", ROOT.parent / "shared" / "data"))
"""The folder of the data published with Wang et al. 2022, which may be absent."""

Part = Sequence[str | int | float]


def carried_out(
    work: Callable[..., Any],
    parts: Sequence[Part],
    name: str,
    executor: Executor,
    made_of: Sequence[Path] = (),
) -> list[Any]:
    """What `work(*part)` gives for each part, in their order; none is done twice.

    work: a function of a module, with arguments and a result that JSON has. name: that of the file
    in which results are kept, beside the sources that gave them: other sources begin anew. made_of:
    the files that alone decide the results, where other libraries than dpassay give them.
    """
    path = KEPT / f"{name}.jsonl"
    done = kept_results(path, made_of)
    left = [part for part in parts if json.dumps(part) not in done]
    with path.open("a") as file:
        found = parts_carried_out(importable(work), left, executor)
        for number, result in shown(found, len(left), name):
            part = left[number]
            done[json.dumps(part)] = result
            file.write(json.dumps({"part": part, "result": result}) + "\n")
            file.flush()
    return [done[json.dumps(part)] for part in parts]


def kept_results(path: Path, made_of: Sequence[Path] = ()) -> dict[str, Any]:
    """Results of an earlier run of the same sources; those of others are removed.

    So is what a run that was killed left half-written, without the end of its line.
    """
    head = json.dumps({"sources": _sum_of(made_of) if made_of else sources()})
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
    zoos = (
        ROOT / "tests" / zoo
        for zoo in ("zoo", "numeric_zoo", "table_zoo", "tally_zoo", "batch_zoo", "claimed_sizes")
    )
    folders = (*map(Path, dpassay.__path__), *zoos, ROOT / "benchmarks")
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return _sum_of([*files, ROOT / "tests" / "same_as_zoo.py"])


def _sum_of(files: Iterable[Path]) -> str:
    sums = hashlib.sha256()
    for path in files:
        sums.update(path.read_bytes())
    return sums.hexdigest()[:16]


def add_workers(parser: argparse.ArgumentParser, default: int | None = None) -> None:
    """Adds the options `--workers` and `--dask` to those of a benchmark; default: all cores."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--workers",
        "--processes",
        type=_count,
        metavar="N",
        help=f"processes side by side, {default or 'as many as cores'} without --dask",
    )
    either.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="of a scheduler whose workers have this folder on their PYTHONPATH",
    )
    parser.set_defaults(usual_workers=default or os.cpu_count() or 1)


def need_adult() -> None:
    """Ends the program in one line where the records of Adult are absent."""
    if not (DATA / "adult_income_train.csv.gz").is_file():
        sys.exit(f"{DATA}: no Adult records; DPASSAY_DATA names the folder of the published data")


@contextmanager
def workers(asked: argparse.Namespace) -> Iterator[Executor]:
    """The executor that those options name; ends the program in one line where there is none."""
    count = asked.usual_workers if asked.workers is None and asked.dask is None else asked.workers
    try:
        with open_executor(count, asked.dask) as executor:
            yield executor
    except ModuleNotFoundError as error:
        sys.exit(f"this needs {error.name}, which is not installed: pip install {error.name}")
    except WorkersError as error:
        sys.exit(str(error))


def _count(text: str) -> int:
    """A number of workers."""
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1")
    return int(text)


def importable(work: Callable[..., Any]) -> Callable[..., Any]:
    """The function under a name by which other processes can import it.

    In a benchmark that was started with `python -m`, functions belong to `__main__`.
    """
    main = sys.modules["__main__"].__spec__
    if work.__module__ != "__main__" or main is None:
        return work
    found: Callable[..., Any] = getattr(import_module(main.name), work.__qualname__)
    return found
