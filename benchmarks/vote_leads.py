"""How far votes lead, and how often the altered one changes: why the costs differ."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpassay.attacks.private_prediction.adversaries import Attack
from dpassay.attacks.private_prediction.models import Capc, Pate, PromptPate
from dpassay.attacks.private_prediction.theory import Worlds
from dpassay.reference.arrays import Vector

from .pages import head


class Lead(NamedTuple):
    """Means over queries: of the expected votes, the first class ahead of the second, in noises.

    changed: the probability that the altered teacher votes otherwise.
    """

    ahead: float
    changed: float


def lead_of(attack: Attack) -> Lead:
    """The mean lead of an attack on teachers, over natural queries."""
    each = [_expected(query.worlds) for query in attack.asked]
    ahead = [np.diff(np.sort(votes)[-2:])[0] / scale for votes, scale, _ in each]
    return Lead(float(np.mean(ahead)), float(np.mean([changed for *_, changed in each])))


def _expected(worlds: Worlds) -> tuple[Vector, float, float]:
    """The votes (c,) expected, the noise's scale, and the chance of another vote."""
    if isinstance(worlds, Pate):
        moved = np.abs(worlds.law - worlds.altered).sum() / 2.0
        return worlds.teachers * worlds.law, worlds.noise.scale, moved
    if isinstance(worlds, Capc):
        own = worlds.parties[list(worlds.altered_parties)]
        moved = np.abs(own - np.atleast_2d(worlds.altered)).sum() / 2.0
        return worlds.parties.sum(0), worlds.noise.scale, moved
    assert isinstance(worlds, PromptPate)
    moved = np.abs(worlds.here - worlds.there).sum() / 2.0
    return worlds.here.astype(np.float64), worlds.noise.scale, moved


def rows(found: dict[tuple[str, str], Lead]) -> Iterator[str]:
    """A table: data and mechanism, lead, change."""
    yield head("data | mechanism | lead of the first class, in noise scales | vote changes")
    for (data, mechanism), lead in found.items():
        yield f"| {data} | {mechanism} | {lead.ahead:.1f} | {100 * lead.changed:.1f} % |"
