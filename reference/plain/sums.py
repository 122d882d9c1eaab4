"""Sums and their like with Laplace noise: of every prefix, above a threshold, over one another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def above_threshold(
    answers: Sequence[float], threshold: float, epsilon: float, rng: np.random.Generator
) -> int | None:
    """The place of the first answer that lies above the threshold, both with noise; None if none.

    The threshold's noise is drawn once, of scale 2 / epsilon, that of each answer anew, of scale
    4 / epsilon. answers: (n,), in the order of the queries, which one record moves by 1 at most
    each. Raises ValueError for an epsilon that is not above 0. Dwork and Roth 2014 (FnT 9, 3-4),
    Algorithm 1 and Theorem 3.23.
    """
    _check(epsilon)
    noisy_threshold = threshold + rng.laplace(0.0, 2.0 / epsilon)
    for place, answer in enumerate(answers):
        if answer + rng.laplace(0.0, 4.0 / epsilon) >= noisy_threshold:
            return place
    return None


def running_sums(
    values: Sequence[float], epsilon: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The sums (n,) of the first 1, 2, ... n values, each of at most log2(n) + 1 noisy nodes.

    The nodes of a binary tree are sums of 2^level values in a row, each with noise of its own. A
    value is in one of every level, so that noise is of scale levels / epsilon. values: (n,), of
    which a neighbour has one that differs by 1 at most. Raises ValueError for an epsilon that is
    not above 0. Chan, Shi and Song 2011 (ACM TISSEC 14, 3), the binary mechanism.
    """
    _check(epsilon)
    levels, noise = len(values).bit_length(), dict[tuple[int, int], float]()
    sums = np.cumsum(np.asarray(values, float))
    for end in range(1, len(values) + 1):
        start = 0
        while start < end:
            length = 1 << ((end - start).bit_length() - 1)
            if (start, length) not in noise:
                noise[start, length] = rng.laplace(0.0, levels / epsilon)
            sums[end - 1] += noise[start, length]
            start += length
    return sums


def ratio_of_sums(
    numerators: Sequence[float],
    denominators: Sequence[float],
    most: tuple[float, float],
    epsilon: float,
    rng: np.random.Generator,
) -> float:
    """The sum of one number of every record over the sum of another, both with Laplace noise.

    Each sum is at epsilon / 2: a record more or less moves it by its bound at most. numerators,
    denominators: (n,), in units of their own, clipped to +- most[0] and +- most[1]. The quotient is
    what comes out, also where the noisy denominator is small or negative. Raises ValueError for an
    epsilon that is not above 0. Dwork and Roth 2014, Theorem 3.16 (composition) and Proposition
    2.1 (what is done with both sums afterwards).
    """
    _check(epsilon)
    above, below = (
        np.clip(numbers, -bound, bound).sum() + rng.laplace(0.0, 2.0 * bound / epsilon)
        for numbers, bound in zip((numerators, denominators), most, strict=True)
    )
    return float(above / below)


def _check(epsilon: float) -> None:
    """Raises ValueError for an epsilon that is not above 0."""
    if not epsilon > 0.0:
        raise ValueError(f"epsilon = {epsilon:g}: expected a number above 0")
