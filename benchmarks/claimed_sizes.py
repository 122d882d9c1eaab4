"""What each check claims to exclude is run: `python -m benchmarks.claimed_sizes`.

For each kind of release and each check, at the smallest budget that a plan accepts and at the
default, a target is wrong by as much as the entry of a pass says (tests/claimed_sizes/), and a run
of the check by the plan of its claim is recorded for each seed. At a power of .99, fewer than 17 of
20 fail with probability 4e-5; at one of .7, as many do with .11. Stopped, it goes on where it was.
"""

import argparse
import json
import sys
from typing import Any

from .long_runs import ROOT, Part, add_workers, carried_out, workers

sys.path.insert(0, str(ROOT / "tests"))  # where claims and wrong targets of each kind are

from claimed_sizes import runs

BUDGETS = (runs.LEAST, runs.MOST)
ENOUGH = 0.85  # of the runs fail, at least: 17 of 20


def measured(name: str, budget: str, check: str, place: int, seed: int) -> dict[str, Any] | None:
    """One run on the target whose fault is as large as the entry says; None without the entry."""
    found = runs.run(name, budget, check, place, seed)
    return None if found is None else found._asdict()


def entries(names: list[str], budgets: list[str], only: str) -> list[tuple[str, str, str, int]]:
    """All entries of what passes exclude: claim, budget, check, and place among its entries."""
    return [
        (name, budget, check, place)
        for budget in budgets
        for name in names
        for check, found in runs.planned(name, budget, 0).excluded.items()
        for place in range(len(found))
        if only in check
    ]


def row(entry: tuple[str, str, str, int], found: list[dict[str, Any] | None]) -> dict[str, Any]:
    """A row of the table: an entry, and how many of the runs failed."""
    name, budget, check, place = entry
    excluded = runs.planned(name, budget, 0).excluded[check][place]
    made = [one for one in found if one is not None]
    verdicts = [one["verdict"] for one in made]
    return {
        "claim": name,
        "budget": budget,
        "check": check,
        "code": excluded.code,
        "size": excluded.size,
        "probability": excluded.probability,
        "runs": len(made),
        "failed": verdicts.count("fail"),
        "passed": verdicts.count("pass"),
        "queries": max(one["queries"] for one in made),
    }


def as_text(one: dict[str, Any]) -> str:
    """A row of a table in Markdown."""
    size = ", ".join(
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in one["size"].items()
    )
    detected = f"{one['failed']} of {one['runs']}"
    few = "" if one["failed"] >= ENOUGH * one["runs"] else " **(too few)**"
    cells = one["claim"], one["check"], one["code"], size, one["budget"], detected + few
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claimed_sizes", description=__doc__)
    parser.add_argument("--claims", nargs="*", choices=runs.ALL, default=list(runs.ALL))
    parser.add_argument("--budgets", nargs="*", choices=BUDGETS, default=list(BUDGETS))
    parser.add_argument("--only", default="", metavar="WORDS", help="that a check's id has")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="a row of the table on each line")
    add_workers(parser)
    asked = parser.parse_args()
    chosen = entries(asked.claims, asked.budgets, asked.only)
    parts: list[Part] = [(*entry, seed) for entry in chosen for seed in range(asked.seeds)]
    with workers(asked) as executor:
        found = carried_out(measured, parts, "claimed_sizes", executor)
    if not asked.json:
        print("| claim | check | fault | size | budget | detected |\n|---|---|---|---|---|---|")
    for place, entry in enumerate(chosen):
        of_entry = found[place * asked.seeds : (place + 1) * asked.seeds]
        one = row(entry, of_entry)
        print(json.dumps(one) if asked.json else as_text(one))


if __name__ == "__main__":
    main()
