"""A deployment's own histograms, from `--histogram` and `--histograms`."""

from collections.abc import Sequence
from typing import Any

from ...reference import parse_histogram
from ..inputs.histogram_file import read_histograms

MOST = 1000
"""Most such histograms of a run; each is asked a hundred times, like an explorer."""

Votes = tuple[int, ...]


def own_histograms(texts: Sequence[str], file: str | None, claim: Any) -> list[Votes]:
    """The distinct histograms in `texts`, typed as `12,7,6,30`, and in the rows of a CSV file.

    Raises ValueError with one line for a text that is none, other classes or another total than the
    claim's, votes that no input of the claim has, and too many histograms.
    """
    mechanism, known = claim.mechanism, {row.histogram for row in claim.given}
    of = f"{mechanism.teachers} teachers"
    if mechanism.weights is not None:
        of = f"{mechanism.total} votes of its teachers by their weights"
    named = [(f"--histogram {text[:60]}", _typed(text)) for text in texts]
    if file is not None:
        rows = enumerate(read_histograms(file), 1)
        named += [(f"{file}, histogram {i}", row.histogram) for i, row in rows]
    for place, votes in named:
        if len(votes) != mechanism.classes or sum(votes) != mechanism.total:
            raise ValueError(
                f"{place}: {len(votes)} classes and {sum(votes)} votes, but the claim has "
                f"{mechanism.classes} classes and {of}"
            )
        if known and votes not in known:
            raise ValueError(
                f"{place}: no input of the claim has these votes, and no others are asked"
            )
    found = list(dict.fromkeys(votes for _, votes in named))
    if len(found) > MOST:
        source = "--histogram" if file is None else file
        raise ValueError(f"{source}: {len(found):,} histograms: expected at most {MOST:,}")
    return found


def _typed(text: str) -> Votes:
    try:
        return tuple(int(votes) for votes in parse_histogram(text))
    except ValueError as error:
        raise ValueError(f"--histogram: {error}") from None
