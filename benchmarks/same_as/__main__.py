"""`python -m benchmarks.same_as`: pairs of deployments through `same-as`; docs/results/same-as.md.

Of each different pair the page says in how many runs it was found, after how many units (pairs of
calls, or lives) in the median, and how many times as many that is as the best test takes; of each
equal pair how many runs accuse it. Most runs are of the evidence alone, some whole. Stopped, it
goes on where it was when it is run again. With `--only` it prints the page of some pairs, with
`--real` it judges what `real` lists.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any
from unittest.mock import patch

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.same_as.same_law import SameLaw
from dpassay.verifiers.kinds.same_as.session import SameAsSession

from ..long_runs import ROOT, Part, add_workers, carried_out, workers
from ..pages import head, print_or_write

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

MANY = {"one-party-of-ten-absent": 80_000, "whole-for-rounded": 80_000}
"""Pairs of calls, where three times as many as the best test takes are more than a run asks."""


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


def equal_row(name: str, runs: Iterable[list[dict[str, Any]]]) -> str:
    """How many runs of each sort accuse an equal pair."""
    cells = [f"{_failed(some)} of {len(some)}" if some else "-" for some in runs]
    return f"| {name.removeprefix('equal ').replace('-', ' ')} | {' | '.join(cells)} |"


def _failed(runs: Iterable[dict[str, Any]]) -> int:
    return sum(one["verdict"] == Verdict.FAIL.value for one in runs)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_as", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs of each different pair")
    parser.add_argument("--short", type=int, default=35, help="short runs of each equal pair")
    parser.add_argument("--only", default="", help="pairs whose name has this")
    parser.add_argument("--whole", type=int, default=1, help="whole runs of each equal pair")
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
    sorts: dict[str, list[Part]] = {
        "found": [(n, s, MANY.get(n, 0), STRICT, 0) for s in range(asked.runs) for n in different],
        "loose": [(n, s, short(n), LOOSE, 0) for s in range(asked.short) for n in alone],
        "strict": [(n, s, short(n), STRICT, 0) for s in range(asked.short) for n in alone],
        "equal-whole": [(n, s, 0, STRICT, 1) for s in range(asked.whole) for n in equal],
    }
    with workers(asked) as executor:
        found = {
            sort: by_name(parts, carried_out(judged, parts, f"same-as-{sort}", executor))
            for sort, parts in sorts.items()
        }
    print_or_write("same-as.md", page(different, equal, found), asked.only)


def by_name(parts: list[Part], results: list[Any]) -> dict[str, list[dict[str, Any]]]:
    """Results of each pair."""
    found: dict[str, list[dict[str, Any]]] = {}
    for (name, *_), result in zip(parts, results, strict=True):
        found.setdefault(str(name), []).append(result)
    return found


def page(
    different: list[str], equal: list[str], found: dict[str, dict[str, list[dict[str, Any]]]]
) -> str:
    """The page; found: results of each sort of runs, by pair."""
    rows = [different_row(name, found["found"][name]) for name in different if found["found"]]
    sorts = ("loose", "strict", "equal-whole")
    equals = [equal_row(name, [found[sort].get(name, []) for sort in sorts]) for name in equal]
    total = {
        sort: f"{_failed(runs):,} of {len(runs):,}"
        for sort, by in found.items()
        for runs in [[one for some in by.values() for one in some]]
    }
    return f"""# The same law as a reference: pairs of deployments

Generated by `python -m benchmarks.same_as`; do not edit. dpassay {version("dpassay")}.

{len(DIFFERENT)} pairs of a target and a reference that differ, and {len(EQUAL)} that are equal but
written otherwise (`tests/same_as_zoo.py`, `benchmarks/same_as`), judged by `same-as` with
`false_alarm = 1e-6` and the queries that a run asks by itself: 20,000 pairs of calls, or 500 lives.

- Runs that found a difference, of the evidence alone: **{total["found"]}**. Of two pairs the best
  test takes about half of the 20,000 or more: their runs ask 80,000.
- Equal pairs accused: **{total["equal-whole"]}** whole runs, **{total["strict"]}** short ones
  ({UNITS} pairs of calls, or {LIVES} lives), and **{total["loose"]}** short ones with 1 in 20
  allowed.

## Different pairs

The best test: pairs of calls, or lives, after which the best test that must hold for any two equal
laws reaches 10^6, which is ln(10^6) over the Jensen-Shannon divergence of the two products and 20
at least. Then the median of the runs, and how many times as many that is.

{head("pair | found | best test | median | times")}
{chr(10).join(rows)}

## Equal pairs

Runs that accuse them. Two pairs remember their noise and have no `lives`: their whole runs end
before they are judged, and name that.

{head("pair | short, 1 in 20 | short, 1 in a million | whole, 1 in a million")}
{chr(10).join(equals)}
"""


if __name__ == "__main__":
    main()
