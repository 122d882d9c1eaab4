"""Which orderings of Chadha et al. 2024 (arXiv 2402.09403) come out, as rows of tables.

Section 5.4 compares PATE, CaPC and PromptPATE relative to the exact calculation, which is of two
histograms one vote apart: the cost if a vote changed for sure. So shares of that are compared, and
beside them the costs in nats.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .pages import head

Found = dict[tuple[str, ...], dict[str, Any]]
Bar = tuple[str, str, str]
"""A mechanism, an adversary, and where a record that is added comes from."""
Rule = Callable[[Sequence[float]], bool]

SHOWN = (2.0, 20.0)
MINQ, NAT, POIS = ("pois-minq", "test"), ("nat-miaq", "test"), ("pois-miaq", "test")
TEACHERS = ("pate", "capc", "prompt-pate")
EQUAL = 1e-9  # relatively: costs that differ by rounding alone


def rises(costs: Sequence[float]) -> bool:
    return all(low < high for low, high in pairwise(costs))


def rises_from_the_first(costs: Sequence[float]) -> bool:
    """The first below the second, and none after that below the one before it."""
    others = all(low <= high * (1.0 + EQUAL) for low, high in pairwise(costs[1:]))
    return costs[0] < costs[1] and others


def is_least(costs: Sequence[float]) -> bool:
    return costs[0] < min(costs[1:])


def is_below_half(costs: Sequence[float]) -> bool:
    """The first below half of each other: what "much lower" is taken to say."""
    return costs[0] < 0.5 * min(costs[1:])


class Ordering(NamedTuple):
    """What should hold of some bars.

    cost: "exact", its mean over queries ("mean_exact"), or "share", of the exact cost in what a
    vote that changed for sure would cost.
    """

    words: str
    bars: tuple[Bar, ...]
    rule: Rule
    cost: str = "exact"


_NAMES = (
    ("pate", "PATE"),
    ("capc", "CaPC"),
    ("prompt-pate", "PromptPATE"),
    ("private-knn", "Private-kNN"),
)
_ADVERSARIES = (("Nat-MIAQ", NAT), ("Pois-MIAQ", POIS), ("Pois-MINQ", MINQ))

SHARES = tuple(
    Ordering(
        f"{title}: PATE, CaPC, PromptPATE",
        tuple((name, *adversary) for name in TEACHERS),
        rises_from_the_first,
        "share",
    )
    for title, adversary in _ADVERSARIES
)
NATS = (
    *(
        Ordering(
            f"{title}: PATE less than CaPC and PromptPATE",
            tuple((name, *adversary) for name in TEACHERS),
            is_least,
        )
        for title, adversary in _ADVERSARIES[:2]
    ),
    Ordering("Pois-MINQ: PATE, CaPC, PromptPATE", tuple((name, *MINQ) for name in TEACHERS), rises),
    *(
        Ordering(
            f"{title}: Pois-MINQ less than half of Nat-MIAQ and of Pois-MIAQ",
            ((name, *MINQ), (name, *NAT), (name, *POIS)),
            is_below_half,
        )
        for name, title in _NAMES
    ),
    Ordering(
        "PATE, worst query: a true label, then a wrong one",
        (("pate", *NAT), ("pate", *POIS)),
        rises,
    ),
    Ordering(
        "PATE, mean of all queries: a true label, then a wrong one",
        (("pate", *NAT), ("pate", *POIS)),
        rises,
        "mean_exact",
    ),
    Ordering(
        "Private-kNN, natural queries: a point from the queries, the records, anywhere",
        tuple(("private-knn", "pois-minq", source) for source in ("test", "train", "embedding")),
        rises,
    ),
)


def costs_of(found: Found, data: str, ordering: Ordering, order: float) -> list[float]:
    """What the ordering compares, at one of the orders that were measured."""
    costs = []
    for bar in ordering.bars:
        result = found[(data, *bar)]
        place = result["orders"].index(order)
        if ordering.cost == "share":
            costs.append(result["exact"][place] / result["changed"][place])
        else:
            costs.append(result[ordering.cost][place])
    return costs


def data_of(found: Found) -> list[str]:
    return list(dict.fromkeys(key[0] for key in found))


def rows(found: Found, orderings: Sequence[Ordering]) -> Iterator[str]:
    """A table, a row for each ordering and order, a column for each of the data."""
    data = data_of(found)
    yield head("in the paper | order | " + " | ".join(data))
    for ordering in orderings:
        for order in SHOWN:
            cells = [_told(ordering, costs_of(found, name, ordering, order)) for name in data]
            yield f"| {ordering.words} | {order:g} | " + " | ".join(cells) + " |"


def _told(ordering: Ordering, costs: list[float]) -> str:
    """The figures, and whether the rule holds."""
    figures = ", ".join(f"{cost:.3g}" for cost in costs)
    return f"yes: {figures}" if ordering.rule(costs) else f"**no**: {figures}"


def counted(found: Found, orders: Sequence[float]) -> tuple[int, int, list[str]]:
    """In how many cases shares are ordered as in the paper, of how many, and the others in words.

    orders: Rényi orders; a case is one of them, with one of the data and one adversary.
    """
    cases = [
        (f"{name}, {ordering.words.partition(':')[0]}, order {order:g}", ordering, costs)
        for name in data_of(found)
        for ordering in SHARES
        for order in orders
        for costs in [costs_of(found, name, ordering, order)]
    ]
    left = [words for words, ordering, costs in cases if not ordering.rule(costs)]
    return len(cases) - len(left), len(cases), left


def as_json(found: Found) -> list[dict[str, Any]]:
    """Each ordering at each order shown: what is compared, the figures, and whether it holds."""
    listed = []
    for name in data_of(found):
        for ordering in (*SHARES, *NATS):
            for order in SHOWN:
                costs = costs_of(found, name, ordering, order)
                listed.append(
                    {
                        "data": name,
                        "ordering": ordering.words,
                        "compared": ordering.cost,
                        "order": order,
                        "figures": costs,
                        "holds": ordering.rule(costs),
                    }
                )
    return listed
