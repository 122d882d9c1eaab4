"""What an audit of so many draws surely sees: outputs that tell their world by one number."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import betainc

from .learners import leaf_gains, log_leaf
from .process import shares_of
from .wagers import Guarantee

_FINE = 400  # shares that are tried


def share_told(
    guarantees: Sequence[Guarantee],
    draws: int,
    log_wanted: float,
    *,
    first: int,
    features: int,
    predicted: bool = False,
    misses: float = 0.01,
) -> float | None:
    """The least share of one world's outputs that, told by one number, `draws` draws show.

    The number is the same in all other outputs of both worlds, and larger in these, or smaller. It
    is one of `features` numbers at most, which are chosen by the `first` outputs, in which it must
    have changed. The evidence is averaged over the guarantees; log_wanted: what it must reach, with
    probability 1 - misses; predicted: whether log-odds are given too. None where no share shows.

    Where the number has changed, the first stage has it in a cell of its own, with one coin alone:
    the wager of that leaf is a part of the capital, and what is said of other cells keeps at least
    the part that is not wagered. So the evidence is at least that of the leaf, and all that is
    random is how many draws are told: a binomial number.
    """
    needed = draws + 1.0
    for guarantee in guarantees:
        for part, share in shares_of(guarantee, features, predicted=predicted):
            lost = math.log(len(guarantees)) - share + draws * part.log_price
            told = np.arange(1.0, draws + 1.0)
            enough = np.flatnonzero(log_leaf(leaf_gains(part), told) - lost >= log_wanted)
            needed = min(needed, float(told[enough[0]]) if enough.size else needed)
    if needed > draws:
        return None
    shares = np.linspace(0.0, 1.0, _FINE + 1)[1:]
    unseen = (1.0 - 0.5 * shares) ** first + 1.0 - betainc(needed, draws - needed + 1, 0.5 * shares)
    shown = shares[unseen <= misses]
    return float(shown[0]) if shown.size else None
