"""Sums that nobody sees the parts of: secure aggregation as Bonawitz et al. 2017 run it.

A reference to try checks on, not a product: all parties run in one process, keys are not kept from
the memory of others, nothing takes constant time, and nobody has reviewed it as cryptography.
`protocol` has one round, of `party` and `server`; `masks` what hides a party's values, `neighbours`
with whom it shares them, `shamir` how secrets survive those who drop out.
"""

from .party import Party
from .protocol import Leaves, Round, SecureAggregation, Server, TooFewError

__all__ = ["Leaves", "Party", "Round", "SecureAggregation", "Server", "TooFewError"]
