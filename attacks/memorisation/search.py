"""Extraction of a canary: complete strings of a template, the likeliest first.

The shortest-path search of Carlini et al. 2019 (arXiv 1802.08232), after Dijkstra: beginnings of
strings are nodes, and what a further symbol adds to the log-perplexity is the length of an edge.
"""

import heapq
import math
from collections.abc import Iterator

from .exposure import Scorer, scores_of
from .template import Template

_SLACK = 1e-5  # by which rounding may let a score fall, as a share of it


def likeliest(scorer: Scorer, template: Template, most: int) -> Iterator[str]:
    """The strings of the template by rising log-perplexity, until `most` beginnings are scored.

    scorer: of beginnings of strings too, as the log-perplexity of what is there; that of a longer
    one is never lower. Raises ValueError where it is.
    """
    waiting, scored = [(-math.inf, "")], 0
    while waiting:
        score, symbols = heapq.heappop(waiting)
        if len(symbols) == len(template.alphabets):
            yield template.begun(symbols)
            continue
        longer = [symbols + symbol for symbol in template.alphabets[len(symbols)]]
        scored += len(longer)
        if scored > most:
            return
        found = scores_of(scorer, [template.begun(each) for each in longer])
        if found.min() < score - _SLACK * max(abs(score), 1.0):
            raise ValueError(
                f"score {found.min():g} of a string that goes on from {template.begun(symbols)!r}, "
                f"which has {score:g}: expected no lower one; log-perplexities add up"
            )
        for each, value in zip(longer, found.tolist(), strict=True):
            heapq.heappush(waiting, (value, each))


def guesses(scorer: Scorer, template: Template, canary: str, most: int) -> int | None:
    """How many strings an attacker tries until the canary comes; None if `most` is too few.

    The rank of the canary, exactly, without the rest of the space.
    """
    for guess, string in enumerate(likeliest(scorer, template, most), 1):
        if string == canary:
            return guess
    return None
