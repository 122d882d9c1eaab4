"""From noisy answers to people, and what a deployment can do about it: tables and figures.

`python -m benchmarks.mitigations` from the repository's root, in a clone with the extras `bench`
and `audit`, writes docs/results/mitigations.md and two .svg, on the embedded ensemble and, where
they are found, the votes published with Wang et al. 2022. Stopped, it goes on where it was.
"""

import argparse

from dpassay.attacks.inference.mitigations import mitigated
from dpassay.attacks.inference.through_answers import through_answers

from ..long_runs import KEPT, add_workers, sources, workers
from ..pages import write_page
from .conclusions import closing
from .figures import draw_inference, draw_noise
from .grid import DELTA, SEEDS, cells, settings
from .page import opening, section
from .people import embedded, published


def main() -> None:
    parser = argparse.ArgumentParser(description="From answers to people, and what helps.")
    add_workers(parser)
    asked = parser.parse_args()
    lines, ends = list(opening()), []
    with workers(asked) as executor:
        for data in filter(None, (embedded(executor), published())):
            grid = cells(data)
            found = through_answers(
                data.histograms,
                data.positive,
                grid,
                executor,
                delta=DELTA,
                kept=KEPT / f"answers-{sources()}",
            )
            done = mitigated(
                settings(data),
                data.histograms,
                data.positive,
                executor,
                lesson=data.lesson,
                seeds=SEEDS,
                delta=DELTA,
            )
            ends.append((data, found))
            lines += section(data, found, done)
    draw_inference(ends)
    draw_noise()
    write_page("mitigations.md", [*lines, *closing()])


if __name__ == "__main__":
    main()
