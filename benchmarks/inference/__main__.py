"""What votes say of people: a sensitive attribute, and who was a training record.

`python -m benchmarks.inference [--workers N]` from the repository's root, in a clone with the
extras `bench` and `audit`, writes docs/results/inference.md and three .svg. Where the data
published with Wang et al. 2022 is present (DPASSAY_DATA, else ../shared/data beside the clone) its
votes are attacked too, and teachers are trained on Adult; elsewhere the bundled digits alone. Votes
of teachers are kept, so that a run that was stopped goes on where it was. `--published` attacks the
published votes alone, in seconds, and prints what is found, with `--json` as one object.
"""

import argparse
import json
import sys

from ..long_runs import add_workers, workers
from ..pages import RESULTS, write_page
from .attributes import alignment, all_votes, attacked, data_is_here
from .figures import draw
from .members import SETTINGS, membership
from .page import page
from .published import document, lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Attribute and membership inference from votes.")
    parser.add_argument("--published", action="store_true", help="the published votes alone")
    parser.add_argument("--json", action="store_true", help="with --published: print JSON")
    add_workers(parser)
    options = parser.parse_args()
    if options.published or options.json:
        if not data_is_here():
            sys.exit("no published votes; DPASSAY_DATA names the folder of the published data")
        found = document()
        print(json.dumps(found, indent=1) if options.json else "\n".join(lines(found)))
        return
    with workers(options) as executor:
        people = [attacked(votes) for votes in all_votes(executor)]
        ensembles = [membership(*setting, executor) for setting in SETTINGS]
    draw(RESULTS, people, ensembles)
    write_page("inference.md", page(people, ensembles, alignment() if data_is_here() else None))


if __name__ == "__main__":
    main()
