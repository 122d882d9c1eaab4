"""The exact cost of a query if the added record changed a vote for sure: what is left to poisoning.

The rest of the way down to the cost of the worlds themselves is what the record fails to do.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...reference import probabilities
from ...reference.accounting.divergences import renyi_divergence
from ...reference.arrays import Matrix
from ..auditing import laws_with_one_vote_fixed
from .knn_model import PrivateKnn
from .models import Capc, Pate, PromptPate
from .worlds import Worlds, divergences


def surely_changed(worlds: Worlds, orders: ArrayLike) -> Matrix:
    """Rényi divergences (2, n) at orders (n,), in nats.

    The altered teacher votes a in one world and b in the other, all others as they do. Each order
    has the two classes that give away most there, so that the figures are an envelope and belong to
    no one pair of worlds. Where no vote of PromptPATE changed, the teacher is the one from which
    most is given away. For Private-kNN the record keeps its label, and votes whenever it is drawn.
    Raises TypeError for worlds of another kind.
    """
    if isinstance(worlds, PrivateKnn):
        most = worlds.inclusion if worlds.sampling is None else worlds.sampling
        return divergences(replace(worlds, inclusion=most), orders)
    found = []
    for laws in _laws_by_vote(worlds):
        logs = np.log(np.maximum(laws, worlds.rarest))
        found.append(renyi_divergence(logs[:, None], logs[None], orders).max((0, 1)))
    most_of_all = np.max(found, axis=0)
    return np.stack([most_of_all, most_of_all])


def _laws_by_vote(worlds: Worlds) -> Iterator[Matrix]:
    """For each teacher that may be altered, laws (c, c) of the label: row d where it votes d."""
    one_more = np.eye(worlds.classes, dtype=np.int64)
    if isinstance(worlds, Pate):
        yield laws_with_one_vote_fixed(worlds.noise, worlds.law, worlds.teachers)
    elif isinstance(worlds, PromptPate):
        moved = (worlds.here != worlds.there).any()
        givers = np.flatnonzero(worlds.here > worlds.there if moved else worlds.here)
        for giver in givers:
            yield probabilities(worlds.here - one_more[giver] + one_more, worlds.noise)
    elif isinstance(worlds, Capc):
        rows = []
        for vote in one_more.astype(np.float64):
            parties = worlds.parties.copy()
            parties[worlds.party] = vote
            rows.append(replace(worlds, parties=parties).laws()[0])
        yield np.array(rows)
    else:
        raise TypeError(f"{type(worlds).__name__}: expected one of the four mechanisms")
