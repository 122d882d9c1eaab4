"""The exact cost of a query if the added record changed a vote for sure: what is left to poisoning.

The rest of the way down to the cost of the worlds themselves is what the record fails to do.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from ...reference import probabilities
from ...reference.accounting.divergences import renyi_divergence
from ...reference.arrays import Matrix
from ..auditing import laws_with_shifts
from .knn_model import PrivateKnn
from .models import Capc, Pate, PromptPate
from .worlds import Worlds, divergences


def surely_changed(worlds: Worlds, orders: ArrayLike) -> Matrix:
    """Rényi divergences (2, n) at orders (n,), in nats.

    The altered teachers vote a in one world and b in the other, all others as they do. Each order
    has the two classes that give away most there, so that the figures are an envelope and belong to
    no one pair of worlds. Where no vote of PromptPATE changed, the teacher is the one from which
    most is given away; of several, those whose vote did not change are of the class with most
    votes. For Private-kNN the records keep their label, and vote whenever they are drawn.
    Raises TypeError for worlds of another kind.
    """
    if isinstance(worlds, PrivateKnn):
        most = worlds.inclusion if worlds.sampling is None else worlds.sampling
        group = None
        if worlds.group is not None:
            drawn = np.arange(worlds.records + 1)
            group = np.asarray(binom.pmf(drawn, worlds.records, most))
        return divergences(replace(worlds, inclusion=most, group=group), orders)
    found = []
    for laws in _laws_by_vote(worlds):
        logs = np.log(np.maximum(laws, worlds.rarest))
        found.append(renyi_divergence(logs[:, None], logs[None], orders).max((0, 1)))
    most_of_all = np.max(found, axis=0)
    return np.stack([most_of_all, most_of_all])


def _laws_by_vote(worlds: Worlds) -> Iterator[Matrix]:
    """For teachers that may be altered, laws (c, c) of the label: row d where they vote d."""
    together = worlds.records * np.eye(worlds.classes, dtype=np.int64)
    if isinstance(worlds, Pate):
        others = worlds.teachers - worlds.records
        yield laws_with_shifts(worlds.noise, worlds.law, others, together)
    elif isinstance(worlds, PromptPate):
        for votes in _others(worlds):
            yield probabilities(votes + together, worlds.noise)
    elif isinstance(worlds, Capc):
        rows = []
        for vote in np.eye(worlds.classes):
            parties = worlds.parties.copy()
            parties[list(worlds.altered_parties)] = vote
            rows.append(replace(worlds, parties=parties).laws()[0])
        yield np.array(rows)
    else:
        raise TypeError(f"{type(worlds).__name__}: expected one of the four mechanisms")


def _others(worlds: PromptPate) -> Iterator[NDArray[np.int64]]:
    """Votes (c,) of the teachers that are not altered."""
    same = np.minimum(worlds.here, worlds.there)
    left = worlds.records - int((worlds.here - same).sum())
    if left and worlds.records == 1:
        for giver in np.flatnonzero(same):
            yield same - np.eye(worlds.classes, dtype=np.int64)[giver]
        return
    for _ in range(left):
        same[same.argmax()] -= 1
    yield same
