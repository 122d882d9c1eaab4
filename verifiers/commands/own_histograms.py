"""A deployment's own histograms, as `--histogram` and `--histograms` name them."""

from collections.abc import Sequence
from typing import Any

from ...reference import parse_histogram
from ..inputs.histogram_file import read_histograms

MOST = 1000
"""Histograms of a run at most: each is asked as often as any that is looked at in passing."""

Votes = tuple[int, ...]


def own_histograms(texts: Sequence[str], file: str | None, claim: Any) -> list[Votes]:
    """Histograms as typed, `12,7,6,30`, then the rows of a CSV file; each once.

    Raises ValueError of one line for text that is none, one of other classes or another total than
    the claim's, one that no input of the claim has, and too many.
    """
    mechanism, known = claim.mechanism, {row.histogram for row in claim.given}
    named = [(f"--histogram {text[:60]}", _typed(text)) for text in texts]
    if file is not None:
        rows = enumerate(read_histograms(file), 1)
        named += [(f"{file}, histogram {i}", row.histogram) for i, row in rows]
    for place, votes in named:
        if len(votes) != mechanism.classes or sum(votes) != mechanism.teachers:
            raise ValueError(
                f"{place}: {len(votes)} classes and {sum(votes)} votes, but the claim has "
                f"{mechanism.classes} classes and {mechanism.teachers} teachers"
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
