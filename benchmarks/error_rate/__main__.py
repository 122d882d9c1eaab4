"""How often correct mechanisms fail; of numbers, docs/results/numbers-error-rate.md is written.

`python -m benchmarks.error_rate labels|numbers|zoos [--runs N] [--full N]` from the repository's
root: RUNS short runs in each setting, then FULL runs of all checks. Ville's inequality bounds every
rate; shown is what was counted, with 99 % Clopper-Pearson bounds. Stopped, it goes on where it was
when it is run again.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from importlib import import_module

from scipy.stats import beta

from ..long_runs import add_workers, carried_out, workers
from ..pages import write_page
from . import numbers

KINDS = ("labels", "numbers", "zoos")


def main() -> None:
    parser = argparse.ArgumentParser(description="How often correct mechanisms fail.")
    parser.add_argument(
        "kind", choices=KINDS, help="what the mechanisms release, or those of all zoos"
    )
    parser.add_argument("--runs", type=int, default=2000, help="short runs, in each setting")
    parser.add_argument("--full", type=int, default=100, help="runs of all checks, in each setting")
    add_workers(parser)
    asked = parser.parse_args()
    kind, rows = import_module(f".{asked.kind}", __package__), list[str]()
    for name, parts in kind.settings(asked.runs, asked.full):
        if not parts:
            continue
        with workers(asked) as executor:
            results = carried_out(kind.verdicts, parts, f"error-rate-{asked.kind}", executor)
        rows.append(row(name, [each for part in results for each in part]))
        print(rows[-1], flush=True)
    if asked.kind == "numbers":
        write_page("numbers-error-rate.md", numbers.page(rows, asked.runs, asked.full))


def row(name: str, found: Sequence[tuple[str, str]]) -> str:
    """A row about runs, of which each has a verdict and the names of the checks that failed."""
    failed = [checks for verdict, checks in found if verdict == "fail"]
    passed = sum(verdict == "pass" for verdict, _ in found)
    k, n = len(failed), len(found)
    low = float(beta.ppf(0.005, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(0.995 if k else 0.99, k + 1, n - k)) if k < n else 1.0
    by = Counter(check for checks in failed for check in checks.split(", "))
    which = ", ".join(f"{check} {times}" for check, times in by.most_common()) or "-"
    bounds = f"{low:.4f} to {high:.4f}" if k else f"at most {high:.4f}"
    return f"| {n:,} of {name} | {k} | {k / n:.4f} ({bounds}) | {which} | {passed} |"


if __name__ == "__main__":
    main()
