"""How many draws each drawn pair gets: few at first, twice as many for the half that shows more."""

FIRST = 64
"""Replies by which it is decided what of them is looked at."""


def rounds(count: int, extent: int) -> list[tuple[int, int]]:
    """Of each round how many pairs are left, and how many draws each has had at its end.

    The last one left has `extent`, as each pair of the claim.
    """
    found, left = [], count
    draws = max(FIRST, extent >> max(0, (count - 1).bit_length()))
    while left > 1 and draws < extent:
        found.append((left, draws))
        left, draws = (left + 1) // 2, 2 * draws
    return [*found, (left, extent)] if count else []


def all_draws(count: int, extent: int) -> int:
    """Draws of all rounds together."""
    total, before = 0, 0
    for left, draws in rounds(count, extent):
        total, before = total + left * (draws - before), draws
    return total
