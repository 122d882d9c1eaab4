"""How soon the gate finds a fault; of numbers, docs/results/numbers-detection.md is written.

`python -m benchmarks.detection labels` prints queries beside those of a chi-square test, and
`python -m benchmarks.detection numbers [--runs N]` compares draws with the least that anybody
needs. That one, if it is stopped, goes on where it was when it is run again.
"""

import argparse
from typing import Any

from ..long_runs import Part, add_workers, carried_out, workers
from ..pages import write_page
from . import labels, numbers


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon a fault is found.")
    parser.add_argument("kind", choices=("labels", "numbers"), help="what is released")
    parser.add_argument("--runs", type=int, default=20, help="runs of each fault of numbers")
    add_workers(parser)
    asked = parser.parse_args()
    if asked.kind == "labels":
        for row in labels.rows():
            print(f"| {' | '.join(row)} |", flush=True)
        return
    known = list(numbers.cases())
    parts: list[Part] = [(seed, *case) for seed in range(asked.runs) for case in known]
    with workers(asked) as executor:
        results = carried_out(numbers.found_after, parts, "detection-numbers", executor)
    found: dict[tuple[int, str, int], list[Any]] = {case: [] for case in known}
    for part, result in zip(parts, results, strict=True):
        found[part[1:]].append(result)  # type: ignore[index]
    lines = numbers.page(found, asked.runs)
    write_page("numbers-detection.md", lines)


if __name__ == "__main__":
    main()
