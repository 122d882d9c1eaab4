"""`python -m benchmarks.reconstruction [FOLDER] [--seeds N]`: a table, a CSV file, SVG figures.

Stopped, it goes on where it was when it is run again.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ..long_runs import add_workers, carried_out, workers
from .ensembles import ensembles
from .experiments import ATTACKS, Outcome, attacked, settings
from .figures import draw_all


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reconstruction", description=__doc__
    )
    parser.add_argument("folder", nargs="?", default="reconstruction", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    add_workers(parser)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    parts = [(place, options.seeds) for place in range(len(settings(ensembles(), options.seeds)))]
    with workers(options) as executor:
        results = carried_out(attacked, parts, "reconstruction", executor)
    outcomes = [Outcome(**row) for rows in results for row in rows]
    with (options.folder / "outcomes.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(outcomes[0].as_row()))
        writer.writeheader()
        writer.writerows(o.as_row() for o in outcomes)
    Console(width=160).print(table(outcomes))
    for path in draw_all(outcomes, options.folder):
        print(path)


def table(outcomes: Sequence[Outcome]) -> Table:
    """Mean shares of misplaced votes, and their standard errors over seeds, a row a setting."""
    shown = Table(title="share of votes misplaced: mean over histograms (standard error)")
    for column in ("data", "queries", "variant", "sigma", *ATTACKS, "limit"):
        shown.add_column(column, no_wrap=column == "sigma")
    keys = dict.fromkeys((o.dataset, o.experiment, o.variant, o.sigma) for o in outcomes)
    for key in keys:
        same = [o for o in outcomes if (o.dataset, o.experiment, o.variant, o.sigma) == key]
        cells = [_mean([o for o in same if o.attack == attack]) for attack in ATTACKS]
        limit = f"{np.mean([o.limit for o in same]):.4f}"
        shown.add_row(key[0], key[1], key[2], f"{key[3]:g}", *cells, limit)
    return shown


def _mean(outcomes: Sequence[Outcome]) -> str:
    """The standard error is that of the runs: histograms are fixed, seeds are not."""
    samples = sorted({o.sample for o in outcomes})
    errors = np.array([[o.error for o in outcomes if o.sample == s] for s in samples])
    seeds = errors.shape[1]
    spread = np.sqrt(errors.var(1, ddof=1).sum() / seeds) / len(samples) if seeds > 1 else np.nan
    return f"{errors.mean():.4f} ({spread:.4f})"


if __name__ == "__main__":
    main()
