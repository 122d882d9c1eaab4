"""What one number gives away that moves by a known amount, exactly: epsilon at a delta.

A cost of one pair of neighbours, for the tests that look at this pair; what a release may be
charged for all neighbours is in `costs`.
"""

import math

from .additive import Additive


def move_epsilon(family: Additive, move: float, delta: float) -> float:
    """The least epsilon at which noise and noise moved by `move` are (epsilon, delta)-close.

    delta: 0 for noise that is told by a pure epsilon, as Laplace noise; more than 0 for Gaussian
    noise, which has none otherwise. Rounding and clamping only take away. Infinite where what only
    one of the two can give is likelier than delta. Raises ValueError for whole noise and a move
    that is not whole, and for a delta that the family does not take.
    """
    from scipy.optimize import brentq

    distance = abs(move)
    if family.whole and distance != math.floor(distance):
        raise ValueError(f"{family} on numbers that move by {move:g}: expected whole numbers")
    if family.pure:
        if delta:
            raise ValueError(f"delta {delta:g}: expected 0 for {family}")
        return family.pure_epsilon(distance)
    if not 0 < delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number between 0 and 1 for {family}")
    if distance == 0 or family.move_delta(distance, 0.0) <= delta:
        return 0.0
    if family.move_delta(distance, math.inf) > delta:
        return math.inf
    highest = 1.0
    while family.move_delta(distance, highest) > delta:
        highest *= 2.0
    found = brentq(lambda e: family.move_delta(distance, e) - delta, 0.0, highest, xtol=1e-12)
    return float(found)
