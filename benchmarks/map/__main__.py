"""`python -m benchmarks.map`: docs/map.md, each theorem, figure and table of the sources."""

from ..long_runs import ROOT
from .render import pages


def main() -> None:
    for path, text in pages().items():
        (ROOT / path).parent.mkdir(exist_ok=True)
        (ROOT / path).write_text(text)
        print(f"written: {path}")


if __name__ == "__main__":
    main()
