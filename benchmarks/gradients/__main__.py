"""What gradients say of the people of Adult (Li et al. 2024), and what five defences change.

`python -m benchmarks.gradients [--workers N] [--seeds N]` from the repository's root, in a clone
with the extras `bench` and `gradients` and the data published with Wang et al. 2022 (DPASSAY_DATA,
else ../shared/data beside the clone), writes docs/results/gradients.md, docs/results/gradients.csv
and the .svg. Parts are kept, so that a run that was stopped goes on where it was.
"""

import argparse
import os
import sys
import time

from ..long_runs import KEPT, add_workers, carried_out, need_adult, workers
from ..pages import RESULTS, write_page
from .figures import draw
from .games import measured
from .page import page
from .people import PEOPLE, told_apart
from .rows import Found, rows
from .settings import SEEDS, settings
from .speed import speeds


def main() -> None:
    parser = argparse.ArgumentParser(description="Inference from gradients, on Adult.")
    add_workers(parser)
    parser.add_argument("--seeds", type=int, choices=range(2, SEEDS + 1), default=SEEDS)
    asked = parser.parse_args()
    need_adult()
    # each worker compiles the same functions: once is enough
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(KEPT / "compiled"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
    games = [(name, seed) for name in settings() for seed in range(asked.seeds)]
    people = [(name, seed) for name in PEOPLE for seed in range(asked.seeds)]
    with workers(asked) as executor:
        results = carried_out(measured, games, "gradients", executor)
        others = carried_out(told_apart, people, "gradients-people", executor)
    found = Found.of(games, results), Found.of(people, others)
    draw(RESULTS, found[0])
    (RESULTS / "gradients.csv").write_text(rows(found[0]))
    write_page("gradients.md", page(*found, speeds()))


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
