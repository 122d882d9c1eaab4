"""`python -m benchmarks.same_as`: pairs of deployments, different and equal, through `same-as`.

It prints, of each different pair, in how many runs it was found, after how many units (pairs of
calls, or lives) in the median, and how many times as many that is as the best test takes; of each
equal pair how many runs accuse it. Most runs are of the evidence alone, some whole. Stopped, it
goes on where it was when it is run again. With `--real` it judges what `real` lists.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.same_as.same_law import SameLaw
from dpassay.verifiers.kinds.same_as.session import SameAsSession

from ..long_runs import ROOT, Part, add_workers, carried_out, workers
from ..pages import head

sys.path.insert(0, str(ROOT / "tests"))  # where the pairs of the tests are

from same_as_zoo import run

from .different import DIFFERENT
from .equal import EQUAL
from .limits import LIMITS
from .real import real_rows

PAIRS = DIFFERENT | {f"equal {name}": pair for name, pair in EQUAL.items()}
STRICT, LOOSE = 1e-6, 0.05
UNITS, LIVES = 300, 60
"""Of a short run, which equal pairs have."""

REMEMBERING = {"equal kept-single-calls", "equal threshold-single-calls"}
"""Of which evidence is none by itself: before it counts the reference is put against itself."""


def judged(name: str, seed: int, units: int, error: float, whole: int) -> dict[str, Any]:
    """What a run says of a pair.

    units: at most, 0 for as many as a run asks for by itself; whole: 0 for the evidence alone,
    where the reference is not put against itself, nor faults into its replies, which take 20 times
    as long.
    """
    pair, began = PAIRS[name], time.monotonic()
    queries = units * (pair.lives or 1) + len(pair.values) if units else None
    with ExitStack() as left_out:
        if not whole:
            remembers = patch.object(SameAsSession, "_remembers_nothing", lambda *_: True)
            left_out.enter_context(remembers)
            left_out.enter_context(patch.object(SameLaw, "settle", lambda *_: None))
        report = run(pair, seed, queries, error)
    (found,) = (check for check in report.checks if check.id == "same-law")
    return {
        "verdict": found.verdict.value,
        "code": found.code,
        "units": found.fields.get("units"),
        "queries": report.queries,
        "seconds": round(time.monotonic() - began, 2),
    }


def short(name: str) -> int:
    """Units of a short run."""
    return UNITS if PAIRS[name].lives is None else LIVES


def different_row(name: str, runs: list[dict[str, Any]]) -> str:
    """What the runs say of a different pair."""
    limit, lives = LIMITS[name](), DIFFERENT[name].lives
    units = [one["units"] for one in runs if one["verdict"] == Verdict.FAIL.value]
    missed = [one["queries"] // (lives or 1) for one in runs if one["verdict"] != "fail"]
    middle = statistics.median(units + missed)
    known = len(units) > len(missed)
    cells = (
        name.replace("-", " ") + (f" (lives of {lives})" if lives else ""),
        f"{len(units)} of {len(runs)}",
        f"{limit:,.0f}",
        f"{middle:,.0f}" if known else f"over {max(missed):,}",
        f"{middle / limit:.1f}" if known else "-",
    )
    return f"| {' | '.join(cells)} |"


def equal_row(name: str, runs: list[dict[str, Any]]) -> str:
    """What the runs say of an equal pair."""
    others = Counter(one["code"] or one["verdict"] for one in runs if one["verdict"] != "fail")
    accused = sum(one["verdict"] == Verdict.FAIL.value for one in runs)
    told = ", ".join(f"{times} {what}" for what, times in others.most_common())
    return (
        f"| {name.removeprefix('equal ').replace('-', ' ')} | {accused} of {len(runs)} | {told} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_as", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs of each different pair")
    parser.add_argument("--short", type=int, default=35, help="short runs of each equal pair")
    parser.add_argument("--only", default="", help="pairs whose name has this")
    parser.add_argument("--whole", type=int, default=2, help="runs with all that a run does")
    parser.add_argument("--real", action="store_true", help="libraries, versions and a port alone")
    add_workers(parser)
    asked = parser.parse_args()
    if asked.real:
        print(head("target for reference | verdict | queries | diagnosis"))
        for line in real_rows(seed=1, only=asked.only):
            print(line, flush=True)
        return
    names = [name for name in PAIRS if asked.only in name]
    different = [name for name in names if name in DIFFERENT]
    equal = [name for name in names if name not in DIFFERENT]
    alone = [name for name in equal if name not in REMEMBERING]
    parts: dict[str, list[Part]] = {
        "different": [(n, s, 0, STRICT, 0) for s in range(asked.runs) for n in different],
        "different, whole runs": [
            (n, s, 0, STRICT, 1) for s in range(asked.whole) for n in different
        ],
    }
    for error in (LOOSE, STRICT):
        parts[f"equal, {error:g}"] = [
            (n, s, short(n), error, 0) for s in range(asked.short) for n in alone
        ]
        parts[f"equal, {error:g}, whole runs"] = [
            (n, s, short(n), error, 1) for s in range(asked.whole) for n in equal
        ]
    with workers(asked) as executor:
        for told, some in parts.items():
            kept = "same-as-" + told.replace(", ", "-").replace(" ", "-")
            results = carried_out(judged, some, kept, executor)
            show(told, [str(name) for name, *_ in some], results)


def show(told: str, names: list[str], results: list[dict[str, Any]]) -> None:
    """Prints a table."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for name, result in zip(names, results, strict=True):
        by_name.setdefault(name, []).append(result)
    if not by_name:
        return
    different = told.startswith("different")
    print(
        head(
            "pair | found | best test | median | times" if different else f"{told} | accused | else"
        )
    )
    for name, runs in by_name.items():
        print((different_row if different else equal_row)(name, runs))
    accused = sum(one["verdict"] == Verdict.FAIL.value for one in results)
    print(f"\n{accused:,} of {len(results):,} runs {'found' if different else 'accused'}\n")


if __name__ == "__main__":
    main()
