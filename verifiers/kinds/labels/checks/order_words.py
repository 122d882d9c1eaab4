"""The wagers of the check `order` in words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .....reference.arrays import Matrix
from ....evidence.in_order import AVOIDED, COPIED, SWITCHES


class Wager(NamedTuple):
    """One way in which labels may depend on the order of calls.

    log_odds: against the claim; says: in words; feature, law: their indices, if it is on a feature.
    """

    log_odds: float
    says: str
    feature: int | None = None
    law: int | None = None


class Ratios(NamedTuple):
    """Log-ratios of all wagers.

    conditional: (features, laws); switching: (switches, laws); copies: (earlier calls, wagers);
    scaled: of votes scaled up to the number of teachers.
    """

    conditional: Matrix
    switching: Matrix
    copies: Matrix
    scaled: float


class Names(NamedTuple):
    """The laws, features and earlier calls of `Ratios` in words."""

    laws: Sequence[str]
    features: Sequence[str]
    earlier: Sequence[str]


def heaviest(ratios: Ratios, names: Names) -> Wager:
    """The wager with most evidence."""
    found = [Wager(ratios.scaled, "labels fit votes scaled up to the number of teachers")]
    if ratios.conditional.size:
        feature, law = _largest(ratios.conditional)
        message = f"labels fit {names.laws[law]}, {names.features[feature]}"
        found.append(Wager(float(ratios.conditional[feature, law]), message, feature, law))
    switch, law = _largest(ratios.switching)
    calls = f"for about {1 / SWITCHES[switch]:.0f} calls at a time"
    message = f"labels fit {names.laws[law]} now and then, {calls}"
    found.append(Wager(float(ratios.switching[switch, law]), message))
    which, wager = _largest(ratios.copies)
    if wager < COPIED.size:
        message = f"with probability {COPIED[wager]:g} a label repeats that {names.earlier[which]}"
    else:
        rarer = 1.0 / (1.0 - AVOIDED[wager - COPIED.size])
        message = (
            f"a label equals that {names.earlier[which]}, {rarer:.0f} times more rarely than by "
            "chance"
        )
    found.append(Wager(float(ratios.copies[which, wager]), message))
    return max(found, key=lambda wager: wager.log_odds)


def _largest(ratios: Matrix) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    return int(row), int(column)


def told_power(calls: int, shown: Mapping[str, tuple[int, int]]) -> str:
    """In how many ways half the noise would have shown, of all; shown: both by family."""
    seen, of = (sum(column) for column in zip(*shown.values(), strict=True)) if shown else (0, 0)
    listed = ", ".join(f"{name} ({some} of {ways})" for name, (some, ways) in shown.items())
    return (
        f"in {calls:,} calls for one label, made one by one as in production, half the "
        "claimed noise would have been caught with probability 0.99 where it depends on what is "
        f"known before the call, in {seen} of {of} ways: {listed}"
    )
