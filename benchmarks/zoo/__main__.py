"""The gate on a zoo in tests/, over many seeds; writes zoo.md or numbers-zoo.md of docs/results.

`python -m benchmarks.zoo labels|numbers [--runs N] [--only ID]` from the repository's root.
Stopped, it goes on where it was when it is run again.
"""

import argparse

from ..long_runs import Part, add_workers, carried_out, workers
from ..pages import write_page
from . import labels, numbers
from .kind import Outcomes, outcome_of

ZOOS = {"labels": labels.ZOO, "numbers": numbers.ZOO}


def main() -> None:
    parser = argparse.ArgumentParser(description="The gate on a zoo, over many seeds.")
    parser.add_argument("kind", choices=ZOOS, help="what the aggregators release")
    parser.add_argument("--runs", type=int, default=20, help="runs of each aggregator")
    parser.add_argument("--only", metavar="ID", help="one aggregator, printed and not written")
    add_workers(parser)
    asked = parser.parse_args()
    zoo = ZOOS[asked.kind]
    if asked.only not in (None, *zoo.entries):
        parser.error(f"--only {asked.only}: no aggregator of this name in the zoo of {asked.kind}")
    wanted = {name: zoo.runs_of(entry, asked.runs) for name, entry in zoo.entries.items()}
    if asked.only:
        wanted = {asked.only: asked.runs}
    parts: list[Part] = [
        (seed, *names)
        for seed in range(asked.runs)  # outside: what there is after an hour is of every entry
        for names in zoo.together(name for name, runs in wanted.items() if seed < runs)
    ]
    with workers(asked) as executor:
        found = carried_out(zoo.assayed, parts, f"zoo-{asked.kind}", executor)
    outcomes: Outcomes = {}
    for told in found:
        for name, table in told.items():
            outcomes.setdefault(name, []).append(outcome_of(table))
    if asked.only:
        print(zoo.row(zoo.entries[asked.only], outcomes[asked.only]))
    else:
        write_page(zoo.page_name, zoo.page(outcomes, asked.runs))


if __name__ == "__main__":
    main()
