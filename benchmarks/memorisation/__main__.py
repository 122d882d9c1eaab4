"""Exposure: the extrapolation's intervals, and models trained here with and without DP-SGD.

`python -m benchmarks.memorisation` from the repository's root, in a clone with the extras `bench`
and `gradients`, writes docs/results/memorisation.md and a .svg. Stopped, it goes on where it was.
"""

import argparse
from dataclasses import asdict
from typing import Any

from ..long_runs import add_workers, carried_out, workers
from ..pages import write_page
from .figures import draw
from .models import DEFENCES, SEEDS, measured
from .page import page
from .trials import Trial, trial

TRIALS, SEED, PART = 200, 0, 10


def tried(first: int, count: int) -> list[dict[str, Any]]:
    """So many trials from the first one on."""
    return [asdict(trial(number, SEED)) for number in range(first, first + count)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Exposure of canaries, measured.")
    add_workers(parser)
    with workers(parser.parse_args()) as executor:
        models = carried_out(
            measured, [(name, seed) for name in DEFENCES for seed in SEEDS], "exposed", executor
        )
        parts = [(first, PART) for first in range(0, TRIALS, PART)]
        each = carried_out(tried, parts, "extrapolated", executor)
    draw(models)
    write_page("memorisation.md", page(models, [Trial(**one) for some in each for one in some]))


if __name__ == "__main__":
    main()
