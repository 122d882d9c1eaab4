"""Teachers whose votes weigh differently: the weighted votes of an input, and inputs to ask.

What a run calls the histogram of an input is then its weighted votes, whole numbers too: its law is
that of plain votes. A teacher of weight w who votes otherwise moves w of them.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....reference.accounting.analyses import CountedCost
from ....reference.accounting.neighbourhood import Neighbourhood
from ...findings.note import Note
from ...inputs.input_file import Input
from .mechanism import Groups, LabelsMechanism

_DELTA = 1e-5
_SHOWN = 6  # weights whose cost is told; of more, the lightest and the heaviest
_INPUTS = 320  # that are made where a claim names none
_TWINS = 40  # of them with other class numbers, and as many with more votes for the leader
_APART = 0.5  # share of the inputs on which the groups vote apart


def cost_by_weight(mechanism: LabelsMechanism) -> Note | None:
    """What an answer costs a teacher of each weight; None without weights.

    Epsilon at delta 1e-5 by the data-independent analysis, between w votes that move together.
    """
    if mechanism.weights is None:
        return None
    weights = sorted({weight for _, weight in mechanism.weights})
    if len(weights) > _SHOWN:
        weights = [weights[0], weights[-1]]
    made = mechanism.mechanism()
    costs = {w: CountedCost(made, Neighbourhood(votes=w)).epsilon(1, 0, _DELTA) for w in weights}
    words = ", ".join(f"{cost:.3g} for one of weight {w}" for w, cost in costs.items())
    return Note(
        "costs-by-weight",
        f"an answer costs each teacher by its weight: epsilon {words} (at delta {_DELTA:g}, by the "
        "data-independent analysis)",
        {"delta": _DELTA, **{f"epsilon_of_weight_{w}": cost for w, cost in costs.items()}},
    )


def each_weight(weights: Groups) -> NDArray[np.int64]:
    """The weight of each teacher (teachers,)."""
    return np.repeat([w for _, w in weights], [n for n, _ in weights]).astype(np.int64)


def weighed(votes: NDArray[np.int64], weight: NDArray[np.int64], classes: int) -> tuple[int, ...]:
    """Weighted votes (c,) of the class (teachers,) and the weight (teachers,) of each teacher."""
    counted = np.zeros(classes, dtype=np.int64)
    np.add.at(counted, votes, weight)
    return tuple(counted.tolist())


def weighed_inputs(
    rows: tuple[Input, ...], weights: Groups, classes: int, source: str
) -> tuple[Input, ...]:
    """Inputs with weighted votes as their histograms. Raises ValueError for one without votes."""
    weight, found = each_weight(weights), []
    for row in rows:
        if row.votes is None:
            raise ValueError(f"{source}: {row.name} has no votes, which weights need in every row")
        votes = np.array(row.votes, dtype=np.int64)
        found.append(replace(row, histogram=weighed(votes, weight, classes)))
    return tuple(found)


def made_inputs(weights: Groups, classes: int) -> tuple[Input, ...]:
    """Inputs on which groups vote alike or apart, always the same; histograms are weighted."""
    weight, rng = each_weight(weights), np.random.default_rng(0)
    found: dict[tuple[int, ...], Input] = {}
    for votes in _votes(weights, classes, rng):
        key = weighed(votes, weight, classes)
        found.setdefault(key, Input(key, votes=tuple(votes.tolist())))
    return tuple(found.values())


def _votes(weights: Groups, classes: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """The class of each teacher (teachers,), for each input."""
    group = np.repeat(np.arange(len(weights)), [number for number, _ in weights])
    for place in range(_INPUTS):
        leaders = rng.permutation(classes)[: min(classes, 3)]
        shares = _shares(len(weights), leaders.size, rng)
        of = group if rng.random() < _APART else np.zeros_like(group)
        given = leaders[(rng.random((group.size, 1)) > shares[of].cumsum(1)[:, :-1]).sum(1)]
        yield given
        if place < _TWINS:
            yield rng.permutation(classes)[given]
            turned = given.copy()
            behind = np.flatnonzero(turned != leaders[0])
            turned[behind[: behind.size // 2]] = leaders[0]
            yield turned


def _shares(groups: int, leaders: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Chances (g, k) of the classes that groups vote for: two camps, and a few for a third."""
    first = rng.beta(0.7, 0.7, groups)
    rest = rng.choice([0.0, 0.05, 0.2], groups) if leaders > 2 else np.zeros(groups)
    return np.stack([first * (1 - rest), (1 - first) * (1 - rest), rest], 1)[:, :leaders]


def moves_of_one(
    here: NDArray[np.int64],
    votes: NDArray[np.int64],
    weights: Groups,
    among: NDArray[np.intp],
) -> Iterator[NDArray[np.int64]]:
    """Neighbours (c,) of weighted votes: the heaviest teacher of a class votes for another.

    here: weighted votes (c,); votes: the class of each teacher (teachers,); among: the classes (k,)
    between which votes are moved.
    """
    weight = each_weight(weights)
    for source in np.intersect1d(among, votes):
        heaviest = int(weight[votes == source].max())
        for to in among[among != source]:
            there = here.copy()
            there[source] -= heaviest
            there[to] += heaviest
            yield there
