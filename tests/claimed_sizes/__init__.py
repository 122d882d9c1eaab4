"""Deployments that are wrong by as much as a pass claims to exclude, made from its own entry."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.verifiers.findings.excluded import Excluded

from . import batches, keys, labels, numbers, replies, tables, tallies

Make = Callable[[np.random.Generator], Any]

_KINDS: dict[str, Callable[..., Make | None]] = {
    "labels": labels.wrong,
    "numbers": numbers.wrong,
    "keys": keys.wrong,
    "tallies": tallies.wrong,
    "tables": tables.wrong,
    "outputs": batches.wrong_reply,
    "batches": batches.wrong,
    "replies": replies.wrong,
}


def wrong_by(planned: Any, check: str, entry: Excluded, times: float, seed: int) -> Make | None:
    """A deployment with the fault of an entry at `times` its size; None where none is known.

    planned: of the claim, whose seed is `seed`; a fault of one input among several is put into
    another one for each seed. The result makes a deployment whose noise the generator draws.
    """
    return _KINDS[planned.claim.kind.name](planned, check, entry, times, seed)
