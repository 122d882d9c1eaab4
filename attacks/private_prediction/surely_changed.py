"""The exact cost of a query if the added record changed a vote for sure: what is left to poisoning.

The rest of the way down to the cost of the worlds themselves is what the record fails to do.
"""

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

_RAREST = 1e-300


def surely_changed(worlds: Worlds, orders: ArrayLike) -> Matrix:
    """Rényi divergences (2, n) at orders (n,), in nats.

    The altered teacher votes a in one world and b in the other, for the two classes that give away
    most at each order; all others vote as they do. For Private-kNN the record votes whenever it is
    drawn, with the label that it has. Raises TypeError for worlds of another kind.
    """
    if isinstance(worlds, PrivateKnn):
        most = worlds.inclusion if worlds.sampling is None else worlds.sampling
        return divergences(replace(worlds, inclusion=most), orders)
    logs = np.log(np.maximum(_laws_by_vote(worlds), _RAREST))
    each = renyi_divergence(logs[:, None], logs[None], orders)  # (a, b, orders)
    most = each.max((0, 1))
    return np.stack([most, most])


def _laws_by_vote(worlds: Worlds) -> Matrix:
    """Laws (c, c) of the label: row d where the altered teacher votes d."""
    if isinstance(worlds, Pate):
        return laws_with_one_vote_fixed(worlds.noise, worlds.law, worlds.teachers)
    one_more = np.eye(worlds.classes, dtype=np.int64)
    if isinstance(worlds, PromptPate):
        others = np.minimum(worlds.here, worlds.there)
        if others.sum() == worlds.here.sum():  # a record that changes nothing: take any teacher
            others = worlds.here - one_more[worlds.here.argmax()]
        return np.asarray(probabilities(others + one_more, worlds.noise))
    if isinstance(worlds, Capc):
        rows = []
        for vote in one_more.astype(np.float64):
            parties = worlds.parties.copy()
            parties[worlds.party] = vote
            rows.append(replace(worlds, parties=parties).laws()[0])
        return np.array(rows)
    raise TypeError(f"{type(worlds).__name__}: expected one of the four mechanisms")
