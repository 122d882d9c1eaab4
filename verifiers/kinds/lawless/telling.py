"""By which numbers of a reply the inputs of a pair are told apart: for diagnoses alone."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....attacks.auditing.coin import CoinAudit, Guarantee
from ....reference.arrays import Vector
from .pair_audit import PairAudit

_MOST = 3  # numbers that a cause names
_SURE = math.log(1e4)  # nats by which a number must tell the inputs apart to be named


def told_by(found: PairAudit, claimed: Guarantee, refutes: float) -> str | None:
    """What of the replies tells the inputs apart, in words; None where nothing by itself does.

    claimed: the guarantee that the draws refute; refutes: evidence that refutes, natural log.
    """
    if found.features is None or not len(found.outputs):
        return None
    coins = found.coins[-len(found.outputs) :]
    columns = [found.outputs[:, place] for place in range(found.outputs.shape[1])]
    alone = [_evidence(column, coins, claimed) for column in columns]
    if max(alone) >= refutes:
        order = [place for place in np.argsort(alone)[::-1] if alone[place] >= refutes]
        each = [_shown(found.features.paths[p], columns[p], coins) for p in order]
        return f"{_listed(each)}, by {'itself' if len(each) == 1 else 'each of them alone'}"
    nothing = Guarantee(0.0, claimed.delta)
    tells = [_evidence(column, coins, nothing) for column in columns]
    least = _SURE + math.log(len(columns))
    order = [place for place in np.argsort(tells)[::-1] if tells[place] >= least]
    names = list(dict.fromkeys(_name(found.features.paths[place]) for place in order))
    if len(names) < 2:
        return names[0] if names else None
    return (
        f"{_listed(names)} together, none of which refutes the claim alone: each may "
        "be released at the whole epsilon, where they share it"
    )


def _evidence(column: Vector, coins: Any, against: Guarantee) -> float:
    """Evidence of one number of each reply (n,) against a guarantee, natural log."""
    audit = CoinAudit([against], 1)
    audit.observe(column[:, None], coins, None)
    return float(audit.log_e_value)


def _shown(path: str, column: Vector, coins: Any) -> str:
    """A number as causes name it, with its values where it has one on each input."""
    here, there = np.unique(column[~coins]), np.unique(column[coins])
    name = _name(path)
    if here.size == there.size == 1:
        return f"{name}, which is {here[0]:g} in all replies to `here` and {there[0]:g} to `there`"
    return name


def _name(path: str) -> str:
    """A number of a reply as a user finds it there: `meta.rows`, or the length of it."""
    where, _, what = path.partition(" ")
    where = f"`{where.lstrip('.')}`" if where else "the reply"
    return f"{what} of {where}" if what else where


def _listed(names: Sequence[str]) -> str:
    """The first few, and how many more there are: of a text each two words are a number."""
    if len(names) > _MOST + 1:
        names = [*names[:_MOST], f"{len(names) - _MOST} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
