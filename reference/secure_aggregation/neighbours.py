"""With whom a party has masks: all others, or some, so that a round of many parties costs less.

Bell, Bonawitz, Gascon, Lepoint and Raykova 2020, "Secure single-server aggregation with
(poly)logarithmic overhead", section 3: a graph in which each party has k neighbours, drawn anew for
each round, so that who colludes does not choose next to whom.
"""

import secrets
from collections.abc import Sequence


def neighbours_of(parties: Sequence[int], number: int | None) -> dict[int, frozenset[int]]:
    """Of each party those with whom it has masks, from a ring in a random order.

    number: of neighbours, even; the next half of them on either side. All others where None, or
    where there are no more.
    """
    if number is None or number >= len(parties) - 1:
        return {one: frozenset(parties) - {one} for one in parties}
    ring = list(parties)
    secrets.SystemRandom().shuffle(ring)
    steps = [step for half in range(1, number // 2 + 1) for step in (half, -half)]
    return {
        one: frozenset(ring[(place + step) % len(ring)] for step in steps)
        for place, one in enumerate(ring)
    }
