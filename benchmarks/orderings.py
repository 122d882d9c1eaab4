"""Which orderings of Chadha et al. 2024 (arXiv 2402.09403) come out, as rows of a table."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from .pages import head

Found = dict[tuple[str, ...], dict[str, Any]]
Bar = tuple[str, str, str]
"""A mechanism, an adversary, and where a record that is added comes from."""

SHOWN = (2.0, 20.0)
MINQ, NAT, POIS = ("pois-minq", "test"), ("nat-miaq", "test"), ("pois-miaq", "test")


class Ordering(NamedTuple):
    """What should rise from the first bar to the last, in the exact cost, or in its mean."""

    words: str
    bars: tuple[Bar, ...]
    cost: str = "exact"


ORDERINGS = (
    Ordering(
        "natural queries: PATE, CaPC, PromptPATE",
        tuple((name, *MINQ) for name in ("pate", "capc", "prompt-pate")),
    ),
    *(
        Ordering(
            f"{title}: natural queries, then an adversarial one", ((name, *MINQ), (name, *POIS))
        )
        for name, title in (
            ("pate", "PATE"),
            ("capc", "CaPC"),
            ("prompt-pate", "PromptPATE"),
            ("private-knn", "Private-kNN"),
        )
    ),
    Ordering(
        "PATE, worst query: a true label, then a wrong one", (("pate", *NAT), ("pate", *POIS))
    ),
    Ordering(
        "PATE, mean of all queries: a true label, then a wrong one",
        (("pate", *NAT), ("pate", *POIS)),
        "mean_exact",
    ),
    Ordering(
        "PATE, then CaPC, each with a wrong label at its query", (("pate", *POIS), ("capc", *POIS))
    ),
    Ordering(
        "Private-kNN, natural queries: a point from the queries, the records, anywhere",
        tuple(("private-knn", "pois-minq", source) for source in ("test", "train", "embedding")),
    ),
)


def rows(found: Found) -> Iterator[str]:
    """The table, a row for each ordering and order, a column for each of the data."""
    data = list(dict.fromkeys(key[0] for key in found))
    yield head("rising in the paper | order | " + " | ".join(data))
    for ordering in ORDERINGS:
        for order in SHOWN:
            cells = [told(found, name, ordering, order) for name in data]
            yield f"| {ordering.words} | {order:g} | " + " | ".join(cells) + " |"


def told(found: Found, data: str, ordering: Ordering, order: float) -> str:
    """The figures, and whether they rise."""
    each = [found[(data, *bar)] for bar in ordering.bars]
    costs = [result[ordering.cost][result["orders"].index(order)] for result in each]
    rises = all(low < high for low, high in pairwise(costs))
    figures = ", ".join(f"{cost:.3g}" for cost in costs)
    return f"yes: {figures}" if rises else f"**no**: {figures}"
