"""Prio's aggregation by hand: two aggregators that hold a share of each party's values each.

As the draft of Prio3 has it (draft-irtf-cfrg-vdaf): a party draws the helper's share by an
extendable hash of a seed, and the leader gets the values less that share, modulo the prime
2^64 - 2^32 + 1. Each aggregator adds up its shares and its own discrete Laplace noise, modulo the
prime; the collector adds the two. The proofs that values are within bounds are left out. With the
word `half`, the helper adds no noise.
"""

import hashlib
import math
import secrets
import sys

from served import serve

PRIME = 2**64 - 2**32 + 1
SCALE, QUORUM = 2.0, 4
DRAWS = secrets.SystemRandom()


def elements(seed, size):
    """So many uniform elements of the field, of a seed, without words at or beyond the prime."""
    found, length = [], 8 * size + 64
    while len(found) < size:
        stream = hashlib.shake_128(seed).digest(length)
        words = (int.from_bytes(stream[k : k + 8], "little") for k in range(0, length, 8))
        found, length = [word for word in words if word < PRIME], 2 * length
    return found[:size]


def geometric():
    """How often a coin of 1 - e^(-1/scale) fails before it succeeds."""
    return math.floor(-SCALE * math.log(1.0 - DRAWS.random()))


class Aggregator:
    """Adds up shares and, where it is to, noise of its own."""

    def __init__(self, size, noisy):
        self.total = [geometric() - geometric() if noisy else 0 for _ in range(size)]

    def add(self, share):
        """Takes a party's share."""
        self.total = [(a + b) % PRIME for a, b in zip(self.total, share, strict=True)]


def one(held, leaves):
    """A round."""
    if sum(when not in (1, 2) for when in leaves) < QUORUM:
        raise ValueError("fewer than the quorum have sent")
    size = len(held[0])
    leader, helper = Aggregator(size, True), Aggregator(size, "half" not in sys.argv)
    sent = []
    for values, when in zip(held, leaves, strict=True):
        if when in (1, 2):
            sent.append(None)
            continue
        seed = secrets.token_bytes(32)
        share = elements(seed, size)
        sent.append([(int(v) - s) % PRIME for v, s in zip(values, share, strict=True)])
        leader.add(sent[-1])
        helper.add(share)
    tally = [(a + b) % PRIME for a, b in zip(leader.total, helper.total, strict=True)]
    return {"tally": tally, "sent": sent}


serve(lambda given, size: [one(*given) for _ in range(size)])
