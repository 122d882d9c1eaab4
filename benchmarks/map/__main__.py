"""`python -m benchmarks.map`: docs/map.md, each theorem, figure and table of the sources.

With `--run WORDS` the commands of the rows that have these words in item or command are run first,
and the figures that they print kept; `--run ""` runs all, `--source KEY` those of one source.
"""

import argparse

from ..long_runs import ROOT
from .render import pages
from .shown import run_and_keep
from .sources import ORDER, sources


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.map", description=__doc__)
    parser.add_argument("--run", metavar="WORDS")
    parser.add_argument("--source", choices=ORDER)
    asked = parser.parse_args()
    for source in sources():
        if asked.run is not None and asked.source in (None, source.key):
            run_and_keep(source, asked.run)
    for path, text in pages().items():
        (ROOT / path).parent.mkdir(exist_ok=True)
        (ROOT / path).write_text(text)
        print(f"written: {path}")


if __name__ == "__main__":
    main()
