"""`python -m benchmarks.reconstruction`: the attack of Wang et al. 2022 on their own histograms.

It writes docs/results/reconstruction.md with its figures. Stopped, it goes on where it was when it
is run again. With options that choose settings or attacks, or with `--json`, it measures these
alone, anew, and prints them: the figures of the page, unless `--seeds` asks for others. Without the
published histograms (DPASSAY_DATA) digits that a package carries stand in, and are printed.
"""

import argparse
import json
import sys

from ..long_runs import DATA, add_workers, workers
from ..pages import RESULTS, write_page
from .ensembles import SIGMAS
from .experiments import ALL_ANSWERED, ATTACKS, BUDGET, MANY, Setting, settings
from .figures import draw_all
from .page import NAMES, cost_table, document, page, table
from .results import SEEDS, all_results, results_of
from .summaries import costs


def main() -> None:
    options = _parser().parse_args()
    named = ("only", "queries", "answered", "sigma", "attacks", "seeds", "json")
    if settings()[0].dataset in NAMES and not any(getattr(options, name) for name in named):
        with workers(options) as executor:
            results = all_results(executor)
        draw_all(results, RESULTS)
        write_page("reconstruction.md", page(results))
        return
    if options.only and settings()[0].dataset not in NAMES:
        sys.exit(f"{DATA}: no published votes; DPASSAY_DATA names the folder of the published data")
    chosen = [setting for setting in settings() if _is_asked(setting, options)]
    if not chosen:
        sys.exit("--queries budget is of sigma 40 alone")
    results = results_of(chosen, options.attacks or ATTACKS, options.seeds)
    if options.json:
        print(json.dumps(document(results), indent=1))
        return
    print("\n".join(table(results)))
    if costs(results):
        print("\n".join(["", *cost_table(results)]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reconstruction", description=__doc__
    )
    parser.add_argument("--only", choices=tuple(NAMES), help="histograms of this data set")
    parser.add_argument("--queries", choices=("budget", "10000"), help="of each histogram")
    parser.add_argument("--answered", action="store_true", help="only where each is answered")
    parser.add_argument("--sigma", type=float, choices=SIGMAS, help="the noise scale")
    parser.add_argument("--attacks", nargs="+", choices=ATTACKS)
    parser.add_argument("--seeds", type=int, help=f"sets of answers read; without it {SEEDS}")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_workers(parser)
    return parser


def _is_asked(setting: Setting, options: argparse.Namespace) -> bool:
    """Whether the options let a setting through."""
    queries = {"budget": BUDGET, "10000": MANY}.get(options.queries)
    return (
        options.only in (None, setting.dataset)
        and queries in (None, setting.experiment)
        and options.sigma in (None, setting.sigma)
        and (not options.answered or setting.variant == ALL_ANSWERED)
    )


if __name__ == "__main__":
    main()
